"""Tests of account pages in the admin: search, details, and actions."""

import re
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.core import mail
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Account, AuditEntry, Role, User
from accounts.models.user import Permission
from accounts.policies.staff import staff_of
from moderation.admin.audit_sentences import sentence
from moderation.models import Report, StaffNote, Strike
from moderation.services.acting import act_on_account, write_note
from tests.factories.accounts import make_remote, make_token, make_user
from tests.factories.statuses import make_status
from tests.support.client import Api, signed_in
from tests.support.work import work

pytestmark = pytest.mark.django_db
LIST = "/admin/accounts/account/"
USERS = "/admin/accounts/user/"


@pytest.fixture
def ann() -> User:
    return make_user("ann", display_name="Ann Example")


def page(client: Client, account: Account) -> str:
    return client.get(f"{LIST}{account.pk}/change/").content.decode()


def do(client: Client, account: Account, act: str, **sent: str) -> Any:
    """Open the confirmation page of an action (opening it changes nothing), confirm the action, and return the response."""
    path = f"{LIST}{account.pk}/{act}/"
    asked = client.get(path)
    assert asked.status_code == 200, act
    assert f"@{account.acct}" in asked.content.decode()
    return client.post(path, sent | {"confirmed": "yes"})


def said_after(client: Client, account: Account, act: str, **sent: str) -> str:
    """Confirm an action, and return the text of the next page, or of the form if it has errors."""
    answer = do(client, account, act, **sent)
    return str((client.get(answer["Location"]) if answer.status_code == 302 else answer).content.decode())


def found(client: Client, **query: str) -> set[str]:
    return {row.acct for row in client.get(LIST, query).context["cl"].result_list}


def test_a_page_shows_all_data_of_an_account_in_a_fixed_number_of_statements(boss: User, ann: User) -> None:
    client, by = signed_in(boss), staff_of(boss)
    User.objects.filter(id=ann.id).update(sign_up_ip="192.0.2.7", sign_up_reason="I like birds")
    make_status(ann.account, "for my followers", visibility="private")

    def grow(number: int) -> None:
        for _turn in range(number):
            make_status(ann.account, "in public")
            act_on_account(by=by, account=ann.account, action="none", text="Please stop")
            write_note(by=by, account=ann.account, text="Seen before")
            colleague = make_user()
            User.objects.filter(id=colleague.id).update(sign_up_ip="192.0.2.7")
            Report.objects.create(account=colleague.account, target_account=ann.account, comment="Rude")

    grow(2)
    page(client, ann.account)
    with CaptureQueriesContext(connection) as few:
        shown = page(client, ann.account)
    colleague = User.objects.exclude(account__username__in=["boss", "ann"]).first()
    assert colleague is not None
    for words in (
        "Ann Example",
        "ann@example.com",
        "I like birds",
        "in public",
        "Please stop",
        "Seen before",
        "Rude",
        "192.0.2.7",
        f"@{colleague.account.username}",
        "@boss warned @ann: Please stop",
    ):
        assert words in shown, words
    assert "for my followers" not in shown
    grow(2)
    # Cache the bodies of posts.
    page(client, ann.account)
    with CaptureQueriesContext(connection) as many:
        page(client, ann.account)
    assert len(many) == len(few) <= 24


def test_every_action_on_a_page_asks_for_confirmation_with_the_name_of_the_account(boss: User, ann: User) -> None:
    client, account = signed_in(boss), ann.account

    def state() -> Account:
        return Account.objects.get(pk=account.pk)

    do(client, account, "warn", text="Mind your words", notify="on")
    assert Strike.objects.get().text == "Mind your words"
    for act, end, column in (
        ("limit", "unlimit", "limited_at"),
        ("sensitize", "unsensitize", "sensitized_at"),
        ("suspend", "unsuspend", "suspended_at"),
    ):
        do(client, account, act, text="Spam")
        assert getattr(state(), column) is not None, act
        assert f"/{end}/" in page(client, account)
        assert f"/{act}/" not in page(client, account)
        do(client, account, end)
        assert getattr(state(), column) is None, end
    assert "/enable/" in said_after(client, account, "disable", text="")
    assert User.objects.get(pk=ann.pk).disabled_at is not None
    do(client, account, "enable")
    assert User.objects.get(pk=ann.pk).disabled_at is None
    moderator = Role.objects.get(name="Moderator")
    do(client, account, "change_role", role=str(moderator.pk))
    assert User.objects.get(pk=ann.pk).role_id == moderator.pk
    do(client, account, "change_role", role="")
    do(client, account, "change_email", email="New@Example.com")
    assert User.objects.get(pk=ann.pk).email == "new@example.com"
    do(client, account, "send_password")
    work()
    assert {tuple(letter.to) for letter in mail.outbox} >= {("ann@example.com",), ("new@example.com",)}
    do(client, account, "note", text="Ask Bob")
    note = StaffNote.objects.get()
    assert "Ask Bob" in page(client, account)
    do(client, account, f"notes/{note.pk}/remove")
    assert not StaffNote.objects.exists()
    do(client, account, "hold", reason="A court asks")
    assert "/release/" in page(client, account)
    do(client, account, "release")
    said_after(client, account, "erase")
    assert state().deleted_at is not None
    assert AuditEntry.objects.filter(action="suspend", details__reason="Spam").exists()
    said = {sentence(entry) for entry in AuditEntry.objects.all()}
    assert said >= {
        "@boss limited @ann: Spam",
        "@boss ended the limit of @ann",
        "@boss put @ann on hold: A court asks",
    }
    assert not {text for text in said if text.startswith("@boss: ")}, (
        "an action has no sentence of its own in the audit log"
    )


@pytest.mark.parametrize(
    ("act", "sent", "error"),
    [
        ("change_email", {"email": "boss@example.com"}, "has already been taken"),
        ("change_email", {"email": "nobody"}, "Enter a valid email address"),
        ("note", {"text": " "}, "This field is required"),
        ("note", {"text": "x" * 2001}, "at most 2000 characters"),
        ("change_role", {"role": "12345"}, "Select a valid choice"),
        ("notes/77/remove", {}, "Record not found"),
    ],
)
def test_a_refused_action_shows_the_reason_and_changes_nothing(
    boss: User, ann: User, act: str, sent: dict[str, str], error: str
) -> None:
    before = User.objects.filter(pk=ann.pk).values().get()
    assert error in said_after(signed_in(boss), ann.account, act, **sent)
    assert User.objects.filter(pk=ann.pk).values().get() == before
    assert not AuditEntry.objects.exists()


def test_actions_require_the_permission_and_a_higher_rank(boss: User, ann: User) -> None:
    moderator = make_user("mod", role="Moderator")
    client = signed_in(moderator)
    assert "They have a role that you do not outrank." in said_after(client, boss.account, "suspend", text="")
    assert not Account.objects.get(pk=boss.account_id).suspended
    shown = page(client, ann.account)
    assert "/suspend/" in shown
    for act in ("erase", "change_role", "change_email", "hold"):
        assert f"/{act}/" not in shown
        assert client.post(f"{LIST}{ann.account_id}/{act}/", {"confirmed": "yes"}).status_code == 403, act
    assert client.get(f"{LIST}77/warn/").status_code == 404


def test_actions_that_the_rank_forbids_are_not_offered(boss: User, ann: User) -> None:
    moderator, zoe = make_user("mod", role="Moderator"), make_remote("zoe")
    client = signed_in(moderator)

    def offered(account: Account) -> set[str]:
        return set(re.findall(rf'"{LIST}{account.pk}/(\w+)/"', page(client, account))) - {"change", "history"}

    assert {"warn", "suspend", "note"} <= offered(ann.account) & offered(zoe)
    assert offered(boss.account) == offered(moderator.account) == {"note", "suppress_suggestions"}
    Role.objects.filter(pk=moderator.role_id).update(permissions=moderator.role.permissions | Permission.MANAGE_ROLES)
    asked = signed_in(moderator).get(f"{LIST}{ann.account_id}/change_role/").content.decode()
    assert re.findall(r"<option[^>]*>\s*([^<]*?)\s*</option>", asked) == ["No role"]
    asked = signed_in(boss).get(f"{LIST}{ann.account_id}/change_role/").content.decode()
    assert {"Moderator", "Admin"} < set(re.findall(r"<option[^>]*>\s*([^<]*?)\s*</option>", asked))


def test_confirming_an_address_is_offered_only_while_it_is_unconfirmed(boss: User, ann: User) -> None:
    client, newcomer = signed_in(boss), make_user("newcomer", confirmed=False)
    assert "/confirm/" in page(client, newcomer.account)
    assert "The address is confirmed." in said_after(client, newcomer.account, "confirm")
    for account in (newcomer.account, ann.account):
        assert "/confirm/" not in page(client, account), account


def test_removing_second_factors_is_offered_only_if_there_are_some(boss: User, ann: User) -> None:
    client = signed_in(boss)
    assert "/reset_factor/" not in page(client, ann.account)
    Authenticator.objects.create(user=ann, type=Authenticator.Type.TOTP, data={})
    assert "/reset_factor/" in page(client, ann.account)
    assert "The second factors are removed" in said_after(client, ann.account, "reset_factor")
    assert "/reset_factor/" not in page(client, ann.account)


def test_reports_about_staff_of_a_higher_rank_can_only_be_resolved(boss: User, ann: User) -> None:
    client = signed_in(make_user("mod", role="Moderator"))
    offered = {}
    for user in (ann, boss):
        post = make_status(user.account)
        report = Report.objects.create(account=make_remote(user.account.username), target_account=user.account)
        Report.objects.filter(pk=report.pk).update(status_ids=[post.id])
        case = client.get(f"/admin/moderation/report/inbox/{user.account_id}/").content.decode()
        alone = client.get(f"/admin/moderation/report/{report.pk}/change/").content.decode()
        offered[user] = set(re.findall(r'name="acts" value="(\w+)"', case)), "Delete the reported posts" in alone
    assert {"warn", "suspend", "resolve"} < offered[ann][0]
    assert offered == {ann: (offered[ann][0], True), boss: ({"resolve", "assign"}, False)}


def test_accounts_are_found_by_name_mail_address_network_role_and_server(boss: User, ann: User) -> None:
    client = signed_in(boss)
    make_remote("zoe", "there.example", display_name="Zoe")
    User.objects.filter(id=ann.id).update(sign_up_ip="192.0.2.7", email="ann@birds.example")
    assert found(client, q="Ann Exam") == found(client, q="ann@birds") == found(client, q="@ann") == {"ann"}
    assert found(client, ip="192.0.2.0/24") == found(client, ip="192.0.2.7") == {"ann"}
    assert found(client, ip="no address") == set()
    User.objects.filter(id=ann.id).update(approved=False)
    assert "Waiting for approval" in client.get(LIST, {"q": "@ann"}).content.decode()
    assert found(client, state="pending") == {"ann"}
    assert found(client, mail_domain="birds.example") == {"ann"}
    assert found(client, server="there.example") == {"zoe@there.example"}
    assert found(client, user__role__id__exact=str(boss.role_id)) == {"boss"}
    assert client.get(LIST, {"user__email__startswith": "a"}).status_code == 400


def test_many_accounts_are_suspended_after_one_confirmation_that_names_them(boss: User, ann: User) -> None:
    client, zoe = signed_in(boss), make_remote("zoe", "there.example")
    chosen = {"action": "suspend", "_selected_action": [ann.account_id, zoe.pk]}
    asked = client.post(LIST, chosen).content.decode()
    assert "Ann Example @ann" in asked
    assert "@zoe@there.example" in asked
    done = client.post(LIST, chosen | {"confirmed": "yes", "text": "A wave"}, follow=True).content.decode()
    assert "2 accounts were suspended." in done
    assert Strike.objects.filter(text="A wave", action="suspend").count() == 2


def test_a_rejected_user_is_no_longer_listed(boss: User) -> None:
    waiting = make_user("waiting")
    User.objects.filter(pk=waiting.pk).update(approved=False, sign_up_reason="I want in")
    client = signed_in(boss)
    assert "I want in" in client.get(USERS, {"state": "waiting"}).content.decode()
    answer = client.post(f"{USERS}{waiting.pk}/reject/", {"confirmed": "yes"}, follow=True)
    assert User.objects.filter(pk=waiting.pk).exists(), "the data is erased in the background"
    assert answer.redirect_chain[-1][0].startswith(USERS)
    assert "I want in" not in client.get(USERS, {"state": "waiting"}).content.decode()
    tasks = {task["title"]: task["count"] for task in client.get("/admin/").context["tasks"]}
    assert tasks["Sign-ups"] == "0"
    assert "@waiting" not in client.get(LIST, {"state": "pending"}).content.decode()
    listed = Api(make_token(boss, scopes="admin:read")).get("/api/v2/admin/accounts", {"status": "pending"})
    assert listed.json() == []


def test_many_sign_ups_are_approved_or_rejected_together_with_their_reasons_visible(boss: User) -> None:
    client, people = signed_in(boss), [make_user(f"new{number}") for number in range(3)]
    User.objects.filter(id__in=[user.id for user in people]).update(approved=False, sign_up_reason="I sell watches")
    assert "I sell watches" in client.get(USERS, {"state": "waiting"}).content.decode()
    chosen = {"action": "reject", "_selected_action": [user.id for user in people[:2]]}
    assert client.post(USERS, chosen).content.decode().count("I sell watches") == 2
    done = client.post(USERS, chosen | {"confirmed": "yes"}, follow=True).content.decode()
    assert "2 sign-ups were rejected." in done
    assert Account.objects.filter(username__startswith="new", deleted_at=None).count() == 1
