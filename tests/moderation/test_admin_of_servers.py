"""Tests of the admin for rules about servers: creating, changing, removing, and importing a file after a preview."""

import html
from typing import Any

import idna
import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import AuditEntry, Domain
from accounts.policies.staff import OPERATOR
from accounts.services.block_files import import_file, plan_file, read_file
from moderation.models import DomainAllow, DomainRule
from moderation.policies.domain_rules import DomainRuleDraft
from moderation.services.domain_files import AllowFile, RuleFile
from moderation.services.domain_rules import allow_domain, create_rule
from social.kernel.outbox import OutboxRow
from tests.factories.accounts import make_account, make_remote, make_user
from tests.factories.statuses import follow
from tests.support.block_files import chosen, confirmed, exported, statements_of
from tests.support.client import signed_in

pytestmark = pytest.mark.django_db
RULES = "/admin/moderation/domainrule/"
ALLOWED = "/admin/moderation/domainallow/"
FILE = b"#domain,#severity\nbad.example,suspend\nnot a domain,silence\n"


@pytest.fixture
def client() -> Client:
    return signed_in(make_user("boss", role="Owner"))


def test_creating_changing_and_removing_a_rule_is_audited(client: Client) -> None:
    client.post(f"{RULES}add/", {"domain": "Bad.Example", "severity": "silence", "public_comment": "Spam"})
    rule = DomainRule.objects.get(domain="bad.example", severity="silence", public_comment="Spam")
    client.post(f"{RULES}{rule.pk}/change/", {"severity": "suspend", "public_comment": ""})
    rule.refresh_from_db()
    assert (rule.domain, rule.severity) == ("bad.example", "suspend")
    client.post(f"{RULES}{rule.pk}/delete/", {"post": "yes"})
    assert not DomainRule.objects.exists()
    acts = AuditEntry.objects.filter(target_type="DomainRule").order_by("id").values_list("action", flat=True)
    assert list(acts) == ["create", "update", "destroy"]


def test_a_file_is_previewed_before_it_is_imported(client: Client) -> None:
    Domain.objects.get_or_create(name="bad.example")
    follow(make_account("anna"), make_remote("zoe", "bad.example"))
    shown = chosen(client, RULES, FILE)
    page = shown.content.decode()
    assert "1 new, 0 changed, 0 unchanged, 1 refused" in page
    assert ("1 follow ends" in page, "@anna → @zoe@bad.example" in page) == (True, True)
    assert "not the domain of another server" in page
    assert not DomainRule.objects.exists()
    assert "1 new, 0 changed, 0 unchanged, 1 refused" in confirmed(client, RULES, shown)
    assert list(DomainRule.objects.values_list("domain", "severity")) == [("bad.example", "suspend")]
    assert AuditEntry.objects.get(target_type="DomainRule").account_name == "@boss"
    again = chosen(client, RULES, FILE).content.decode()
    assert ("it has this rule already" in again, "Import 1 line" in again) == (True, False)
    assert exported(client, RULES).splitlines() == [
        "#domain,#severity,#reject_media,#reject_reports,#public_comment,#obfuscate",
        "bad.example,suspend,false,false,,false",
    ]


def test_a_file_weakens_rules_only_if_that_option_is_chosen(client: Client) -> None:
    DomainRule.objects.create(domain="bad.example", severity="suspend")
    milder = b'#domain,#severity,#public_comment\nbad.example,silence,"a ""quoted""\n<b>line"\n'
    assert "it has a different rule: suspended" in chosen(client, RULES, milder).content.decode()
    assert "0 new, 1 changed" in confirmed(client, RULES, chosen(client, RULES, milder, replace="on"))
    rule = DomainRule.objects.get()
    assert (rule.severity, rule.public_comment) == ("silence", 'a "quoted"\n<b>line')


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "empty"),
        (b"\xff\xfe", "not a CSV file"),
        (b"#domain\n", "has no entries"),
        (
            b"a.example\n" * 1001,
            "more than 1000 lines. The operator can import it with manage.py manage_domain_rules import",
        ),
        (
            b"#domain,#public_comment\na.example," + b"x" * 600_000,
            "larger than 512 kB. The operator can import it with manage.py",
        ),
    ],
)
def test_an_invalid_file_is_refused_in_the_form(client: Client, data: bytes, said: str) -> None:
    answer = chosen(client, RULES, data)
    assert answer.status_code == 422
    assert said in html.unescape(answer.content.decode())
    confirming = client.post(f"{RULES}import_file/", {"lines": data.decode(errors="replace")[:20_000]}, follow=True)
    assert confirming.status_code == 200
    assert DomainRule.objects.count() <= 1


@pytest.mark.parametrize("path", [RULES, ALLOWED, "/admin/accounts/emaildomainblock/"])
def test_row_78_domains_of_a_file_are_normalised_once_and_not_at_all_if_too_many(
    client: Client, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    normalised: list[str] = []
    encode = idna.encode
    monkeypatch.setattr(idna, "encode", lambda host, **options: normalised.append(host) or encode(host, **options))
    monkeypatch.setattr("accounts.admin.block_lists.LINES_LIMIT", 3)
    lines = [f"bücher{number}.example" for number in range(4)]
    assert chosen(client, path, "\n".join(lines).encode()).status_code == 422
    client.post(f"{path}import_file/", {"lines": "\n".join(lines)})
    assert normalised == []
    assert chosen(client, path, "\n".join(lines[:3]).encode()).status_code == 200
    assert [host for host in normalised if not host.isascii()] == lines[:3]


def test_allowed_servers_are_imported_and_exported_as_a_file(client: Client) -> None:
    DomainAllow.objects.create(domain="good.example")
    shown = chosen(client, ALLOWED, b"#domain\nGood.example\nnew.example\nsocial.localhost\n")
    assert "it is allowed already" in shown.content.decode()
    assert "1 new, 0 changed, 1 unchanged, 1 refused" in confirmed(client, ALLOWED, shown)
    assert exported(client, ALLOWED) == "#domain\ngood.example\nnew.example\n"


def test_pages_take_a_fixed_number_of_statements(client: Client) -> None:
    def asked(count: int) -> list[int]:
        file = "\n".join(f"{name}.example" for name in [f"n{count}x{number}" for number in range(count)]).encode()
        counts = []
        for call in (lambda: client.get(RULES), lambda: client.get(ALLOWED), lambda: chosen(client, RULES, file)):
            with CaptureQueriesContext(connection) as queries:
                assert call().status_code == 200
            counts.append(len(queries))
        for number in range(count):
            DomainRule.objects.create(domain=f"r{count}x{number}.example")
            DomainAllow.objects.create(domain=f"a{count}x{number}.example")
        return counts

    asked(2)
    few = asked(3)
    assert asked(20) == few
    assert max(few) <= 20


@pytest.mark.parametrize("path", [RULES, ALLOWED])
def test_importing_a_long_file_takes_as_many_statements_as_a_short_one(client: Client, path: str) -> None:
    def taken_in(names: range, severity: str, **sent: str) -> int:
        file = "#domain,#severity\n" + "".join(f"n{number}.example,{severity}\n" for number in names)
        shown = chosen(client, path, file.encode(), **sent)
        return statements_of(lambda: confirmed(client, path, shown))

    confirmed(client, path, chosen(client, path, b"first.example"))
    few = taken_in(range(2), "silence")
    assert taken_in(range(2, 22), "silence") == few
    assert few <= 40
    if path == RULES:
        assert taken_in(range(10), "noop", replace="on") == taken_in(range(10, 12), "noop", replace="on")
        taken_in(range(2), "suspend")
        counts = {name: DomainRule.objects.filter(severity=name).count() for name in ("noop", "silence", "suspend")}
        assert counts == {"noop": 10, "silence": 10, "suspend": 3}
        acts = (
            AuditEntry.objects.filter(target_name="n0.example")
            .order_by("id")
            .values_list("action", "details__after__severity")
        )
        assert list(acts) == [("create", "silence"), ("update", "noop"), ("update", "suspend")]
    else:
        assert DomainAllow.objects.count() == AuditEntry.objects.filter(target_type="DomainAllow").count() == 23


def test_an_imported_rule_weaker_than_the_rule_of_a_parent_domain_is_left_out(client: Client) -> None:
    file = b"#domain,#severity\nsub.bad.example,noop\nbad.example,suspend\nother.bad.example,silence\n"
    assert "2 new, 0 changed, 1 unchanged" in confirmed(client, RULES, chosen(client, RULES, file))
    assert set(DomainRule.objects.values_list("domain", flat=True)) == {"bad.example", "sub.bad.example"}
    assert OutboxRow.objects.filter(event="DomainRuleChanged").count() == 2


def test_a_colleagues_concurrent_change_is_kept(client: Client) -> None:
    kind, allowed = RuleFile(), AllowFile()
    planned = plan_file(kind, read_file(kind, b"#domain,#severity\nbad.example,suspend\nnew.example,suspend"))
    let_in = plan_file(allowed, read_file(allowed, b"good.example\nnew.example"))
    create_rule(by=OPERATOR, domain="bad.example", draft=DomainRuleDraft(severity="silence"))
    allow_domain(by=OPERATOR, domain="good.example")
    assert [done.action for done in import_file(kind, by=OPERATOR, planned=planned)] == ["keep", "add"]
    assert [done.action for done in import_file(allowed, by=OPERATOR, planned=let_in)] == ["add", "add"]
    assert set(DomainRule.objects.values_list("domain", "severity")) == {
        ("bad.example", "silence"),
        ("new.example", "suspend"),
    }
    assert AuditEntry.objects.filter(target_type="DomainAllow").count() == 2


def test_follows_that_a_rule_would_end_are_shown_before_it_is_created(client: Client) -> None:
    Domain.objects.get_or_create(name="sub.bad.example")
    follow(make_account("anna"), make_remote("zoe", "sub.bad.example"))
    values = {"domain": "bad.example", "severity": "suspend"}
    asked = client.post(f"{RULES}add/", values)
    assert "These follows would end: \u2066@anna → @zoe@sub.bad.example\u2069" in str(
        asked.context["adminform"].form.errors
    )
    assert not DomainRule.objects.exists()
    assert client.post(f"{RULES}add/", values | {"severity": "silence"}).status_code == 302
    page = f"{RULES}{DomainRule.objects.get().pk}/change/"
    assert client.post(page, values).status_code == 200
    assert client.post(page, values | {"end_follows": "on"}).status_code == 302
    assert client.post(page, values | {"public_comment": "spam"}).status_code == 302, "the follows have ended already"
    assert DomainRule.objects.get().severity == "suspend"


def test_rules_and_allowed_servers_are_removed_many_at_once(client: Client) -> None:
    for path, model in ((RULES, DomainRule), (ALLOWED, DomainAllow)):
        keys = [model.objects.create(domain=f"{name}.example").pk for name in "abc"]
        sent: dict[str, Any] = {"action": "remove", "_selected_action": keys[:2]}
        asked = client.post(path, sent)
        assert "a.example" in asked.content.decode()
        client.post(path, sent | {asked.context["confirmed"]: "yes"})
        assert [row.domain for row in model.objects.all()] == ["c.example"]


@pytest.mark.parametrize("domain", ["not a domain", "", "social.localhost", "x" * 300])
def test_a_domain_rule_for_an_invalid_or_own_domain_is_refused_with_the_reason(client: Client, domain: str) -> None:
    for path in (RULES, ALLOWED):
        answer = client.post(f"{path}add/", {"domain": domain, "severity": "suspend"}, follow=True)
        assert "error" in answer.content.decode()
    assert not DomainRule.objects.exists()
    assert not DomainAllow.objects.exists()


def test_a_server_is_allowed_and_disallowed_again(client: Client) -> None:
    client.post(f"{ALLOWED}add/", {"domain": "good.example"})
    allowed = DomainAllow.objects.get(domain="good.example")
    client.post(f"{ALLOWED}{allowed.pk}/delete/", {"post": "yes"})
    assert not DomainAllow.objects.exists()


def test_pages_of_domain_rules_require_the_permission() -> None:
    moderator = signed_in(make_user("moderator", role=None))
    for path in (RULES, f"{ALLOWED}import_file/", f"{RULES}import_file/", f"{RULES}export_file/", ALLOWED):
        assert moderator.get(path).status_code in (302, 403)
