"""Tests of commands for operators that create and change accounts, with immediate effect."""

import getpass
import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from accounts.identity.policies.sign_up import SignUpDraft
from accounts.identity.services.staff import create_user
from accounts.models import AuditEntry, Invite, User
from accounts.policies.staff import staff_of
from social.kernel.errors import Forbidden
from social.kernel.outbox import OutboxRow
from tests.factories.accounts import make_user
from tests.support.client import Api

pytestmark = pytest.mark.django_db


def run(*arguments: str, said: io.StringIO | None = None) -> dict[str, Any]:
    out = io.StringIO()
    call_command(*arguments, stdout=out, stderr=said)
    answer: dict[str, Any] = json.loads(out.getvalue())
    return answer


def create(name: str = "alice", *more: str, said: io.StringIO | None = None) -> dict[str, Any]:
    return run("create_account", name, "--email", f"{name}@example.com", *more, said=said)


def test_an_account_is_created_with_a_generated_password_and_a_working_token() -> None:
    made = create("alice", "--confirmed", "--token", "read write follow push")
    assert set(made) == {"id", "acct", "password", "access_token"}
    me = Api(made["access_token"]).get("/api/v1/accounts/verify_credentials").json()
    assert (me["id"], me["acct"]) == (made["id"], "alice")
    assert User.objects.get().check_password(made["password"])
    acts = AuditEntry.objects.order_by("id").values_list("account_name", "action", "target_name")
    assert list(acts) == [("operator", "create", "@alice"), ("operator", "issue_token", "@alice")]


def test_creating_accounts_for_others_requires_managing_users() -> None:
    draft = SignUpDraft(username="alice", email="a@example.com", password="correct horse", agreement=True)
    with pytest.raises(Forbidden):
        create_user(by=staff_of(make_user("mod")), draft=draft)
    assert not AuditEntry.objects.exists()


def test_creating_an_account_again_changes_nothing_and_prints_the_same_token() -> None:
    first = create("alice", "--confirmed", "--token", "read")
    said = io.StringIO()
    again = create("alice", "--confirmed", "--token", "read", said=said)
    assert again == {key: value for key, value in first.items() if key != "password"}
    assert said.getvalue() == "@alice exists already; only role, confirmation and token were applied.\n"
    assert User.objects.count() == 1


def test_a_given_password_is_not_printed() -> None:
    assert "password" not in create("alice", "--password", "correct horse")


def test_creating_an_existing_user_with_another_address_is_an_error() -> None:
    create("alice")
    with pytest.raises(CommandError, match="another e-mail address"):
        run("create_account", "alice", "--email", "other@example.com")


@pytest.mark.parametrize(
    "wrong",
    [
        ("not a name", "--email", "a@example.com"),
        ("alice", "--email", "nonsense"),
        ("alice", "--email", "a@example.com", "--password", "short"),
        ("alice", "--email", "a@example.com", "--role", "Emperor"),
        ("alice", "--email", "a@example.com", "--token", "read everything"),
    ],
)
def test_bad_input_gets_one_clear_sentence_and_creates_nothing(wrong: tuple[str, ...]) -> None:
    with pytest.raises(CommandError):
        run("create_account", *wrong)
    assert not User.objects.exists()


def test_a_role_is_given_and_taken() -> None:
    create("alice", "--role", "Owner", "--confirmed", "--token", "read")
    assert User.objects.get().is_staff
    for refused in (("--role", "none"), ("--role", "Moderator"), ("--disable",)):
        with pytest.raises(CommandError, match="the last person with all permissions"):
            run("modify_account", "alice", *refused)
    create("bob", "--role", "Owner")
    assert run("modify_account", "alice", "--role", "none")["role"] == ""
    assert not User.objects.get(account__username="alice").is_staff


@pytest.mark.django_db(transaction=True)
def test_disabling_and_enabling_takes_effect_with_the_next_request() -> None:
    api = Api(create("alice", "--confirmed", "--token", "read")["access_token"])
    assert api.get("/api/v1/accounts/verify_credentials").status_code == 200
    assert run("modify_account", "alice", "--disable")["disabled"] is True
    refused = api.get("/api/v1/accounts/verify_credentials")
    assert (refused.status_code, refused.json()) == (403, {"error": "Your login is currently disabled"})
    run("modify_account", "alice", "--enable")
    assert api.get("/api/v1/accounts/verify_credentials").status_code == 200


@pytest.mark.django_db(transaction=True)
def test_a_new_password_ends_every_token() -> None:
    api = Api(create("alice", "--confirmed", "--token", "read")["access_token"])
    assert api.get("/api/v1/accounts/verify_credentials").status_code == 200
    made = run("modify_account", "alice", "--reset-password")["password"]
    assert api.get("/api/v1/accounts/verify_credentials").status_code == 401
    assert User.objects.get().check_password(made)


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("name", ["alice", "@Alice", "alice@example.com", "Alice@example.com"])
def test_a_password_changed_with_djangos_command_ends_every_token(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    api = Api(create("alice", "--confirmed", "--token", "read")["access_token"])
    assert api.get("/api/v1/accounts/verify_credentials").status_code == 200
    monkeypatch.setattr("getpass.getpass", lambda prompt: "a new horse")
    call_command("changepassword", name, stdout=io.StringIO())
    assert api.get("/api/v1/accounts/verify_credentials").status_code == 401
    assert User.objects.get().check_password("a new horse")


@pytest.mark.parametrize(("typed", "said"), [(["first horse", "other horse"], "differ"), (["short"] * 2, "too short")])
def test_a_password_mistyped_or_too_short_changes_nothing(
    typed: list[str], said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    create("alice", "--password", "correct horse")
    answers = iter(typed)
    monkeypatch.setattr("getpass.getpass", lambda prompt: next(answers))
    with pytest.raises(CommandError, match=said):
        call_command("changepassword", "alice")
    assert User.objects.get().check_password("correct horse")


def test_an_existing_account_keeps_its_password_and_the_command_says_so() -> None:
    create("alice", "--password", "correct horse")
    with pytest.raises(CommandError, match=r"another password.*changepassword alice"):
        create("alice", "--password", "another horse")
    assert User.objects.get().check_password("correct horse")
    assert "password" not in create("alice", "--password", "correct horse")


@pytest.mark.parametrize("refusal", [EOFError, getpass.GetPassWarning])
def test_a_password_cannot_be_changed_without_a_terminal(
    refusal: type[Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    create("alice", "--password", "correct horse")

    def ask(prompt: str) -> str:
        raise refusal

    monkeypatch.setattr("getpass.getpass", ask)
    with pytest.raises(CommandError, match=r"in a terminal.*modify_account alice --reset-password"):
        call_command("changepassword", "alice")


def test_createsuperuser_names_the_command_that_makes_an_owner() -> None:
    with pytest.raises(CommandError, match=r"create_account .*--role Owner"):
        call_command("createsuperuser", "--noinput", "--email", "a@example.com")
    assert not User.objects.exists()


def test_operators_can_create_users_with_addresses_at_localhost() -> None:
    run("create_account", "alice", "--email", "alice@localhost")
    assert User.objects.get().email == "alice@localhost"


def test_pending_and_unconfirmed_users_are_approved_and_confirmed_by_command() -> None:
    user = make_user("bob", confirmed=False)
    User.objects.filter(id=user.id).update(approved=False)
    assert run("modify_account", "bob", "--approve", "--confirm")["approved"] is True
    assert Api().get("/api/v1/accounts/lookup", {"acct": "bob"}).status_code == 200


def test_an_unknown_account_is_named() -> None:
    with pytest.raises(CommandError, match="@nobody"):
        run("modify_account", "nobody", "--disable")


def said(*arguments: str) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def test_an_invitation_is_made_with_its_link() -> None:
    make_user("ada")
    made = run("create_invite", "--inviter", "@ada", "--max-uses", "2", "--days", "3", "--autofollow")
    invite = Invite.objects.get()
    assert made == {"code": invite.code, "url": f"http://social.localhost/invite/{invite.code}"}
    assert (invite.max_uses, invite.autofollow, invite.inviter) == (2, True, User.objects.get())


@pytest.mark.parametrize(
    "wrong", [("--inviter", "nobody"), ("--max-uses", "0"), ("--days", "0"), ("--days", "9" * 12), ("--autofollow",)]
)
def test_an_invalid_invitation_is_refused_in_one_line(wrong: tuple[str, ...]) -> None:
    with pytest.raises(CommandError):
        run("create_invite", *wrong)


def test_pending_users_are_listed_and_approved() -> None:
    for name in ("ada", "bob", "cat"):
        User.objects.filter(pk=make_user(name).pk).update(approved=False, sign_up_reason=f"I am {name}")
    assert "@bob <bob@example.com> 'I am bob'" in said("approve_account")
    said("approve_account", "--all", "--dry-run")
    assert User.objects.filter(approved=True).count() == 0
    said("approve_account", "ada")
    assert [user.account.username for user in User.objects.filter(approved=True)] == ["ada"]
    assert said("approve_account", "--all") == "1/2 @bob\n2/2 @cat\n"
    assert said("approve_account", "--all") == said("approve_account") == "nobody\n"
    assert not User.objects.filter(approved=False).exists()


@pytest.mark.parametrize(
    "words",
    [
        ("manage_emojis", "list"),
        ("manage_emojis", "remove", "--category", "none"),
        ("remove_unconfirmed", "--dry-run"),
        ("refresh_accounts", "--all", "--dry-run"),
        ("rotate_keys", "--all"),
    ],
)
def test_a_command_that_finds_nothing_says_so(words: tuple[str, ...]) -> None:
    assert said(*words)


def test_an_export_says_how_many_lines_the_new_file_has(tmp_path: Path) -> None:
    file = tmp_path / "domains.csv"
    said("block_sign_ups", "email_domain", "spam.example")
    assert said("block_sign_ups", "email_domain", "--export", "--output", str(file)) == f"2 lines in {file}\n"
    assert len(file.read_text().splitlines()) == 2


@pytest.mark.parametrize(
    ("kind", "value", "shown"),
    [
        ("email_domain", "Example.com", "EmailDomainBlock example.com"),
        ("email", "Ada@example.com", "CanonicalEmailBlock "),
        ("network", "192.0.2.7/24", "IpBlock 192.0.2.0/24"),
        ("username", "spam", "UsernameBlock spam"),
    ],
)
def test_sign_up_blocks_are_added_listed_and_removed(kind: str, value: str, shown: str) -> None:
    assert said("block_sign_ups", kind, value, "--dry-run").startswith(kind)
    assert said("block_sign_ups") == "There are no blocks.\n"
    assert said("block_sign_ups", kind, value).endswith(": blocked.\n")
    assert said("block_sign_ups", kind, value, "--remove", "--dry-run").endswith(": would be removed.\n")
    assert said("block_sign_ups").startswith(shown)
    with pytest.raises(CommandError, match="already been taken"):
        said("block_sign_ups", kind, value)
    assert said("block_sign_ups", kind, value, "--remove").startswith(shown)
    assert said("block_sign_ups") == "There are no blocks.\n"
    with pytest.raises(CommandError, match="no such block"):
        said("block_sign_ups", kind, value, "--remove")


def test_blocking_a_network_with_most_addresses_requires_an_explicit_option() -> None:  # security row 79
    for severity in ("no_access", "sign_up_block"):
        with pytest.raises(CommandError, match=r"large part of all addresses.*--yes"):
            said("block_sign_ups", "network", "0.0.0.0/0", "--severity", severity)
    assert said("block_sign_ups") == "There are no blocks.\n"
    said("block_sign_ups", "network", "0.0.0.0/0", "--yes")
    assert said("block_sign_ups").startswith("IpBlock 0.0.0.0/0")


@pytest.mark.parametrize("network", ["127.0.0.1", "::1", "172.18.0.1", "192.168.0.0/16", "100.64.3.0/24", "fd00::1"])
def test_blocking_an_address_that_proxies_have_requires_an_explicit_option(network: str) -> None:  # security row 79
    """Behind a proxy that is not configured, all users have the proxy's address, so staff see this address for every
    spammer.
    """
    with pytest.raises(CommandError, match=r"Reverse proxies use such addresses.*--yes"):
        said("block_sign_ups", "network", network, "--severity", "no_access")
    said("block_sign_ups", "network", network, "--yes")
    assert said("block_sign_ups").startswith("IpBlock")


def test_ipv4_addresses_written_as_ipv6_are_the_same_network() -> None:
    with pytest.raises(CommandError, match="large part of all addresses"):
        said("block_sign_ups", "network", "::ffff:0:0/96")
    said("block_sign_ups", "network", "::ffff:192.0.2.0/120")
    assert said("block_sign_ups").startswith("IpBlock 192.0.2.0/24")


def test_a_dry_run_shows_the_result_of_a_change_and_changes_nothing() -> None:
    token = create("alice", "--confirmed", "--token", "read")["access_token"]
    before = (User.objects.values().get(), AuditEntry.objects.count(), OutboxRow.objects.count())
    wanted = ("--role", "Moderator", "--disable", "--reset-second-factor", "--reset-password")
    shown = run("modify_account", "alice", *wanted, "--dry-run")
    assert (shown["role"], shown["disabled"], "password" in shown) == ("Moderator", True, False)
    assert (User.objects.values().get(), AuditEntry.objects.count(), OutboxRow.objects.count()) == before
    assert Api(token).get("/api/v1/accounts/verify_credentials").status_code == 200
