"""Tests of the admin pages for sign-up blocks: creating blocks, with clear errors, and searching and deleting them."""

import re
from datetime import timedelta
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.identity.policies.sign_up import email_digest
from accounts.identity.services import sign_up_blocks as service
from accounts.models import AuditEntry, CanonicalEmailBlock, EmailDomainBlock, IpBlock, UsernameBlock
from accounts.policies.staff import OPERATOR
from moderation.admin.audit_sentences import sentence
from social.kernel import clock
from tests.factories.accounts import make_user
from tests.support.block_files import chosen, confirmed, exported, statements_of

pytestmark = pytest.mark.django_db
DOMAINS, ADDRESSES, NETWORKS, NAMES = (
    f"/admin/accounts/{name}/" for name in ("emaildomainblock", "canonicalemailblock", "ipblock", "usernameblock")
)


def signed_in(name: str, role: str | None) -> Client:
    client = Client(REMOTE_ADDR="198.51.100.9")
    client.force_login(make_user(name, role=role), backend="allauth.account.auth_backends.AuthenticationBackend")
    return client


@pytest.fixture
def boss(settings: Any) -> Client:
    settings.STAFF_SECOND_FACTOR = False
    return signed_in("boss", "Owner")


def errors(answer: Any) -> str:
    assert answer.status_code == 200
    return str(answer.context["adminform"].form.errors)


def test_every_kind_of_block_is_added_found_and_removed_in_bulk(boss: Client) -> None:
    sent: list[tuple[str, Any, dict[str, str], str, str]] = [
        (DOMAINS, EmailDomainBlock, {"domain": " Spam.Example. "}, "spam.example", "spam"),
        (ADDRESSES, CanonicalEmailBlock, {"address": "A.nn+x@Mail.example"}, "", "ann@mail.example"),
        (NETWORKS, IpBlock, {"network": "203.0.113.7/24", "severity": "no_access"}, "203.0.113.0/24", "203.0.113.9"),
        (NAMES, UsernameBlock, {"username": "@Adm1nistrat0r"}, "Adm1nistrat0r", "administrator"),
    ]
    for path, model, values, stored, looked_for in sent:
        made = boss.post(f"{path}add/", values)
        assert made.status_code == 302, errors(made)
        row = model.objects.get()
        assert str(row) == (stored or email_digest("ann@mail.example"))
        assert f"/{row.pk}/change/" in boss.get(path, {"q": looked_for}).content.decode(), path
        assert f"/{row.pk}/change/" not in boss.get(path, {"q": "192.0.2.1"}).content.decode(), path
        assert boss.get(f"{path}{row.pk}/change/").status_code == 200
        assert "already" in errors(boss.post(f"{path}add/", values)), "the same block already exists"
        asked = boss.post(path, {"action": "remove", "_selected_action": [row.pk]})
        assert asked.status_code == 200
        assert model.objects.exists()
        yes = {asked.context["confirmed"]: "yes", "action": "remove", "_selected_action": [row.pk]}
        assert boss.post(path, yes).status_code == 302
        assert not model.objects.exists()
    acts = [sentence(entry) for entry in AuditEntry.objects.order_by("id")]
    assert len(acts) == 8
    assert acts[0] == "@boss created the e-mail domain block spam.example"
    assert acts[5].endswith("removed the network block 203.0.113.0/24"), acts[5]


@pytest.mark.parametrize(
    ("path", "values", "said"),
    [
        (DOMAINS, {"domain": "no domain"}, "not a domain"),
        (DOMAINS, {"domain": "x" * 300}, "not a domain"),
        (DOMAINS, {"domain": ""}, "required"),
        (ADDRESSES, {"address": "nobody"}, "neither"),
        (ADDRESSES, {"address": "a" * 400 + "@b.example"}, "at most"),
        (NETWORKS, {"network": "1.2.3", "severity": "no_access"}, "neither"),
        (NETWORKS, {"network": "1.2.3.4", "severity": "sometimes"}, "valid choice"),
        (NETWORKS, {"network": "1.2.3.4", "severity": "no_access", "comment": "x" * 10_001}, "at most"),
        (NETWORKS, {"network": "1.2.3.4", "severity": "no_access", "lasts": "-1"}, "valid choice"),
        (NAMES, {"username": " @ "}, "not a name"),
        (NAMES, {"username": "x" * 256}, "too long"),
        (NAMES, {"username": "-1"}, "only the letters"),
        (NAMES, {"username": "spam king"}, "only the letters"),
    ],
)
def test_errors_are_shown_beside_their_fields_which_keep_their_values(
    boss: Client, path: str, values: Any, said: str
) -> None:
    answer = boss.post(f"{path}add/", values)
    assert said in errors(answer).replace("at most 10000", "at most")
    assert all(value[:200] in answer.content.decode() for value in values.values() if value.strip(" @") != "sometimes")
    assert not AuditEntry.objects.exists()


def test_all_errors_of_a_network_are_shown_together(boss: Client) -> None:
    said = errors(boss.post(f"{NETWORKS}add/", {"network": "1.2.3"}))
    assert ("neither" in said, "required" in said) == (True, True)


def test_fields_with_a_list_of_choices_show_an_arrow(boss: Client) -> None:
    page = boss.get(f"{NETWORKS}add/").content.decode()
    for name in ("severity", "lasts"):
        assert re.search(rf'<select name="{name}"[^§]*?</select>\s*<span[^>]*>expand_more', page), name


def test_a_block_of_ones_own_network_must_be_confirmed(boss: Client) -> None:
    wide = {"network": "198.51.100.0/24", "severity": "no_access"}
    asked = boss.post(f"{NETWORKS}add/", wide)
    assert "Your own address is 198.51.100.9" in errors(asked)
    assert not IpBlock.objects.exists()
    assert boss.post(f"{NETWORKS}add/", wide | {"severity": "sign_up_block"}).status_code == 302
    block = IpBlock.objects.get()
    page = f"{NETWORKS}{block.pk}/change/"
    assert "Your own address" in errors(boss.post(page, wide))
    assert boss.post(page, wide | {"meant": "on"}).status_code == 302
    block.refresh_from_db()
    assert block.severity == "no_access"


@pytest.mark.parametrize(
    ("network", "severity", "is_asked"),
    [
        ("::/0", "no_access", True),
        ("2000::/3", "sign_up_block", True),
        ("0.0.0.0/1", "sign_up_requires_approval", True),
        ("11.0.0.0/8", "no_access", False),
        ("2001:db8::/32", "no_access", False),
    ],
)
def test_a_block_of_a_very_large_network_must_be_confirmed(
    boss: Client, network: str, severity: str, is_asked: bool
) -> None:
    sent = {"network": network, "severity": severity}
    answer = boss.post(f"{NETWORKS}add/", sent)
    assert (answer.status_code != 302) is is_asked
    if is_asked:
        assert "large part of all addresses" in errors(answer)
        assert not IpBlock.objects.exists()
        shown = chosen(boss, NETWORKS, f"ip,severity\n{network},{severity}\n192.0.2.1,\n".encode())
        assert "1 new, 0 changed, 0 unchanged, 1 refused" in confirmed(boss, NETWORKS, shown)
        assert boss.post(f"{NETWORKS}add/", sent | {"meant": "on"}).status_code == 302
    assert IpBlock.objects.filter(network=network).exists()


def test_a_block_of_an_address_of_proxies_must_be_confirmed(boss: Client) -> None:
    sent = {"network": "172.18.0.1", "severity": "no_access"}
    assert "Reverse proxies use such addresses" in errors(boss.post(f"{NETWORKS}add/", sent))
    shown = chosen(boss, NETWORKS, b"ip,severity\n172.18.0.1,no_access\n192.0.2.1,\n")
    assert "1 new, 0 changed, 0 unchanged, 1 refused" in confirmed(boss, NETWORKS, shown)
    assert boss.post(f"{NETWORKS}add/", sent | {"meant": "on"}).status_code == 302


def test_changing_a_network_block_keeps_its_end_unless_another_is_chosen(boss: Client) -> None:
    ends = clock.now() + timedelta(days=3)
    block = service.block_network(by=OPERATOR, network="203.0.113.0/24", severity="no_access", expires_at=ends)  # type: ignore[arg-type]  # the word of the API
    page = f"{NETWORKS}{block.pk}/change/"
    values = {"network": "203.0.113.0/25", "severity": "sign_up_requires_approval", "comment": "quieter"}
    assert boss.post(page, values | {"lasts": "stays"}).status_code == 302
    block.refresh_from_db()
    assert (block.network, block.last, block.comment, block.expires_at) == (
        "203.0.113.0/25", "203.0.113.127", "quieter", ends,
    )  # fmt: skip
    assert boss.post(page, values | {"lasts": ""}).status_code == 302
    block.refresh_from_db()
    assert block.expires_at is None
    service.block_network(by=OPERATOR, network="192.0.2.0/24", severity="no_access")  # type: ignore[arg-type]  # the word of the API
    assert "already" in errors(boss.post(page, values | {"network": "192.0.2.9/24"}))
    IpBlock.objects.filter(pk=block.pk).update(expires_at=clock.now() - timedelta(days=1))
    assert "203.0.113.0/25" in boss.get(NETWORKS, {"state": "expired"}).content.decode()
    assert "203.0.113.0/25" not in boss.get(NETWORKS, {"state": "counts"}).content.decode()


def test_an_address_is_tested_without_being_stored(boss: Client) -> None:
    service.block_canonical_email(by=OPERATOR, email="ann@mail.example")
    asked = boss.get(f"{ADDRESSES}test/")
    yes = {asked.context["confirmed"]: "yes"}
    blocked = boss.post(f"{ADDRESSES}test/", yes | {"email": "a.nn+spam@MAIL.example"}, follow=True)
    assert "is blocked." in blocked.content.decode()
    free = boss.post(f"{ADDRESSES}test/", yes | {"email": "bob@mail.example"}, follow=True)
    assert "is not blocked." in free.content.decode()
    assert CanonicalEmailBlock.objects.count() == 1


def test_domain_and_network_blocks_are_imported_and_exported_as_files(boss: Client) -> None:
    service.block_email_domain(by=OPERATOR, domain="known.example")
    shown = chosen(boss, DOMAINS, b"Spam.example\nknown.example\n@pics.example\nno domain\n")
    assert "it is blocked already" in shown.content.decode()
    assert EmailDomainBlock.objects.count() == 1
    assert "2 new, 0 changed, 1 unchanged, 1 refused" in confirmed(boss, DOMAINS, shown)
    assert exported(boss, DOMAINS).splitlines()[1:] == [
        "known.example,false",
        "pics.example,false",
        "spam.example,false",
    ]
    file = (
        b"#ip,#severity,#comment,#expires_at\n203.0.113.0/24,no_access,scrapers,\n198.51.100.0/24,no_access,,\n"
        b"192.0.2.7,sign_up_block,,2020-01-01\n192.0.2.8,,,2199-01-01T00:00:00Z\n192.0.2.9,never,,\n1.2.3,,,\n"
    )
    shown = chosen(boss, NETWORKS, file)
    page = shown.content.decode()
    for reason in (
        "your own address, 198.51.100.9, is in it",
        "it has expired",
        "never is not a severity",
        "1.2.3 is neither",
    ):
        assert reason in page
    assert "2 new, 0 changed, 0 unchanged, 4 refused" in confirmed(boss, NETWORKS, shown)
    assert exported(boss, NETWORKS).splitlines() == [
        "#ip,#severity,#comment,#expires_at",
        "192.0.2.8/32,sign_up_block,,2199-01-01T00:00:00+00:00",
        "203.0.113.0/24,no_access,scrapers,",
    ]
    again = chosen(boss, NETWORKS, exported(boss, NETWORKS).encode()).content.decode()
    assert "0 new, 0 changed, 2 unchanged" in again
    milder = b"ip,severity\n203.0.113.0/24,sign_up_block\n192.0.2.8,no_access\n"
    assert "0 new, 1 changed, 1 unchanged" in chosen(boss, NETWORKS, milder).content.decode(), (
        "without the option blocks only become stricter"
    )
    confirmed(boss, NETWORKS, chosen(boss, NETWORKS, milder, replace="on"))
    block = IpBlock.objects.get(network="203.0.113.0/24")
    assert (block.severity, block.comment) == ("sign_up_block", "scrapers"), (
        "values that the file does not contain stay unchanged"
    )


@pytest.mark.parametrize(("path", "line"), [(DOMAINS, "mail{}.example,{}"), (NETWORKS, "203.0.113.{},{}")])
def test_importing_a_long_file_takes_as_many_statements_as_a_short_one(boss: Client, path: str, line: str) -> None:
    header, milder, stricter = (
        ("#domain,#allow_with_approval", "true", "false")
        if path == DOMAINS
        else ("#ip,#severity", "sign_up_block", "no_access")
    )

    def taken_in(numbers: range, word: str) -> int:
        file = "\n".join([header, *(line.format(number, word) for number in numbers)])
        shown = chosen(boss, path, file.encode())
        return statements_of(lambda: confirmed(boss, path, shown))

    taken_in(range(1), milder)
    few = taken_in(range(1, 3), milder)
    assert taken_in(range(3, 23), milder) == few <= 40
    if path == NETWORKS:
        assert taken_in(range(10), stricter) == taken_in(range(10, 12), stricter)
        changed = AuditEntry.objects.filter(action="update", details__before__severity=milder)
        assert IpBlock.objects.filter(severity=stricter).count() == changed.count() == 12
    assert AuditEntry.objects.filter(action="create").count() == 23


def test_the_command_imports_files_longer_than_the_page_accepts(tmp_path: Path) -> None:
    def run(*arguments: str) -> str:
        out = StringIO()
        call_command("block_sign_ups", *arguments, stdout=out, stderr=StringIO())
        return out.getvalue()

    file = tmp_path / "domains.csv"
    file.write_text("\n".join(f"mail{number}.example" for number in range(1001)))
    assert run("email_domain", "--import", str(file), "--dry-run").endswith("add 1001, change 0, keep 0, refuse 0\n")
    assert not EmailDomainBlock.objects.exists()
    file.write_text("203.0.113.7\n192.0.2.0/24\n")
    assert "line 2 192.0.2.0/24: add cannot sign up" in run("network", "--import", str(file))
    assert run("network", "--export").splitlines()[1:] == [
        "192.0.2.0/24,sign_up_block,,",
        "203.0.113.7/32,sign_up_block,,",
    ]
    with pytest.raises(CommandError, match="e-mail domains and networks"):
        run("username", "--export")


def test_a_refusal_of_the_service_is_shown_above_the_form_which_keeps_its_values(
    boss: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another moderator blocks the same name after the form was validated and before the block is stored."""
    monkeypatch.setattr("accounts.identity.admin.sign_up_blocks.UsernameForm.clean_username", lambda form: "root")
    service.block_username(by=OPERATOR, username="root")
    answer = boss.post(f"{NAMES}add/", {"username": "root"})
    assert "already been taken" in errors(answer)
    assert 'value="root"' in answer.content.decode()


def test_lists_take_a_fixed_number_of_statements(boss: Client) -> None:
    def fill(count: int) -> None:
        for number in range(count):
            suspended = make_user(f"s{count}x{number}").account
            service.block_email_domain(by=OPERATOR, domain=f"m{count}x{number}.example")
            email = service.block_canonical_email(by=OPERATOR, email=f"{count}{number}@mail.example")
            CanonicalEmailBlock.objects.filter(pk=email.pk).update(account=suspended)
            service.block_network(by=OPERATOR, network=f"203.0.{count}.{number + 1}", severity="no_access")  # type: ignore[arg-type]  # the word of the API
            service.block_username(by=OPERATOR, username=f"name{count}x{chr(97 + number)}")

    def asked() -> list[int]:
        counts = []
        for path in (DOMAINS, ADDRESSES, NETWORKS, NAMES):
            with CaptureQueriesContext(connection) as queries:
                assert boss.get(path).status_code == 200
            counts.append(len(queries))
        return counts

    boss.get(DOMAINS)
    fill(2)
    few = asked()
    fill(5)
    assert asked() == few
    assert max(few) <= 20


def test_staff_without_the_permission_for_blocks_see_no_blocks(boss: Client) -> None:
    block = service.block_email_domain(by=OPERATOR, domain="spam.example")
    plain = signed_in("ann", None)
    for path in (
        DOMAINS,
        ADDRESSES,
        NETWORKS,
        NAMES,
        f"{DOMAINS}{block.pk}/change/",
        f"{ADDRESSES}test/",
        f"{NETWORKS}import_file/",
    ):
        assert plain.get(path).status_code in (302, 403), path
