"""Tests of Django's admin: sign-in on the site's own page, access by role, read-only pages, and actions that call services."""

from typing import Any

import pytest
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from social.api import staff, staff_site
from social.kernel.outbox import OutboxRow
from statuses.models import Status
from statuses.services.composing import Draft
from statuses.services.publishing import publish_status
from tests.factories.accounts import make_remote, make_user
from tests.factories.statuses import make_media, make_remote_status, make_status
from tests.support.client import signed_in

pytestmark = pytest.mark.django_db
PASSWORD = "correct horse"


def act(client: Client, path: str, action: str, *ids: object, confirmed: bool = True) -> Any:
    chosen = {"action": action, "_selected_action": list(ids)} | ({"confirmed": "yes"} if confirmed else {})
    return client.post(path, chosen, follow=True)


def listed(client: Client, path: str, **query: str) -> set[str]:
    """Return the ids of the rows of a list."""
    return {str(row.pk) for row in client.get(path, query).context["cl"].result_list}


@pytest.fixture
def owner() -> User:
    return make_user("boss", role="Owner")


@pytest.fixture
def moderator() -> User:
    return make_user("mod", role="Moderator")


def test_the_admin_uses_the_sign_in_page_of_the_site_which_leads_back_to_the_requested_page(moderator: User) -> None:
    client = Client()
    asked = client.get("/admin/accounts/user/?state=waiting", follow=True)
    assert asked.redirect_chain[-1][0].startswith("/auth/sign_in?next=/admin/accounts/user/")
    answer = client.post(
        "/auth/sign_in",
        {"login": moderator.email, "password": PASSWORD, "next": "/admin/accounts/user/?state=waiting"},
        follow=True,
    )
    assert (answer.status_code, answer.request["PATH_INFO"]) == (200, "/admin/accounts/user/")
    assert client.get("/admin/login/?next=/admin/", follow=True).request["PATH_INFO"] == "/admin/"


@pytest.mark.parametrize("elsewhere", ["//evil.example/", "https://evil.example/admin/", "/admin/login/?next=/admin/"])
def test_the_sign_in_of_the_admin_never_redirects_outside_of_the_admin(moderator: User, elsewhere: str) -> None:
    assert signed_in(moderator).get("/admin/login/", {"next": elsewhere})["Location"] == "/admin/"


def test_the_admin_is_found_without_the_trailing_slash() -> None:
    assert Client().get("/admin")["Location"] == "/admin/"


def test_users_without_a_role_cannot_open_the_admin() -> None:
    client = signed_in(make_user("nobody"))
    answer = client.get("/admin/", follow=True)
    assert answer.status_code == 403
    assert "You may not see or do this." in answer.content.decode()


def test_staff_without_a_second_factor_are_sent_to_add_one(settings: Any, owner: User) -> None:
    settings.STAFF_SECOND_FACTOR = True
    answer = signed_in(owner).get("/admin/", follow=True)
    assert answer.redirect_chain[-1][0].startswith("/auth/")


def test_signing_out_of_the_admin_ends_the_session(owner: User) -> None:
    client = signed_in(owner)
    assert client.post("/admin/logout/", follow=True).request["PATH_INFO"] == "/auth/sign_in"
    assert client.get("/admin/").status_code == 302


def test_a_password_is_changed_on_the_sites_own_page_which_ends_sessions_and_tokens(owner: User) -> None:
    client = signed_in(owner)
    for answer in (
        client.get("/admin/password_change/"),
        client.post("/admin/password_change/", {"old_password": "x"}),
    ):
        assert answer["Location"] == "/auth/password"


@pytest.mark.parametrize("path", ["", "accounts/user/", "accounts/account/", "accounts/role/", "statuses/status/"])
def test_every_list_opens_for_the_owner(owner: User, path: str) -> None:
    publish_status(author=owner.account, draft=Draft(text="hello"))
    assert signed_in(owner).get(f"/admin/{path}").status_code == 200


def test_every_row_opens_and_shows_no_secret(owner: User) -> None:
    client = signed_in(owner)
    post = make_status(owner.account, "hello", media=[make_media(owner.account, description="A violet square")])
    row = OutboxRow.objects.create(queue="default", key="status:1", subscriber="s", event="e", payload={"status_id": 1})
    for path in (
        f"accounts/user/{owner.id}",
        f"accounts/account/{owner.account_id}",
        f"accounts/role/{owner.role_id}",
        f"statuses/status/{post.id}",
        f"social/outboxrow/{row.pk}",
    ):
        answer = client.get(f"/admin/{path}/change/")
        assert answer.status_code == 200, path
        page = answer.content.decode()
        assert owner.password not in page
        assert "PRIVATE KEY" not in page
        assert 'type="text"' not in page, f"{path} has a field to type in"


def test_rows_cannot_be_added_changed_or_deleted_by_generic_admin_forms(owner: User) -> None:
    client = signed_in(owner)
    post = make_status(owner.account, "hello")
    rows: dict[str, object] = {"accounts/user": owner.id, "accounts/account": owner.account_id}
    rows["statuses/status"] = post.id
    for path, key in rows.items():
        assert client.get(f"/admin/{path}/add/").status_code == 403
        assert client.post(f"/admin/{path}/add/", {"email": "x@example.com"}).status_code == 403
        assert client.post(f"/admin/{path}/{key}/change/", {"email": "x@example.com"}).status_code == 403
        assert client.post(f"/admin/{path}/{key}/delete/", {"post": "yes"}).status_code == 403
        act(client, f"/admin/{path}/", "delete_selected", key)
    owner.refresh_from_db()
    assert owner.email == "boss@example.com"
    assert Status.objects.filter(id=post.id, deleted_at=None).exists()


def test_only_tables_that_this_server_registers_are_shown() -> None:
    apps_shown = {model_admin.__class__.__module__.partition(".")[0] for model_admin in admin.site._registry.values()}
    assert apps_shown <= set(staff_site.APPS)


def test_a_moderator_sees_accounts_and_posts_but_no_technical_tables(moderator: User) -> None:
    client = signed_in(moderator)
    assert {app["app_label"] for app in client.get("/admin/").context["app_list"]} == {
        "accounts",
        "statuses",
        "timelines",
        "moderation",
    }
    assert client.get("/admin/social/outboxrow/").status_code == 403


@pytest.mark.parametrize("path", ["accounts/user/", "accounts/account/", "statuses/status/", "social/outboxrow/"])
def test_a_long_list_costs_as_many_queries_as_a_short_one(owner: User, path: str) -> None:
    def grow(number: int) -> None:
        for _ in range(number):
            user = make_user()
            make_status(user.account, "hello", media=[make_media(user.account)])
            make_remote_status(make_remote())
            OutboxRow.objects.create(queue="q", key="k", subscriber="s", event="e", payload={})

    def cost() -> int:
        with CaptureQueriesContext(
            connection,
        ) as queries:
            assert client.get(f"/admin/{path}").status_code == 200
        return len(queries)

    client = signed_in(owner)
    grow(2)
    client.get(f"/admin/{path}")
    few = cost()
    grow(10)
    assert cost() == few <= 12


def test_disabling_a_user_asks_for_confirmation_and_is_audited(moderator: User) -> None:
    client, person = signed_in(moderator), make_user("person")
    asked = act(client, "/admin/accounts/user/", "disable", person.id, confirmed=False).content.decode()
    person.refresh_from_db()
    assert person.disabled_at is None
    assert "@person (person@example.com)" in asked
    assert "They are signed out everywhere" in asked
    done = act(client, "/admin/accounts/user/", "disable", person.id)
    person.refresh_from_db()
    assert person.disabled_at is not None
    assert "1 user was disabled." in done.content.decode()
    assert LogEntry.objects.get().change_message == "disable"


def test_staff_cannot_act_on_somebody_of_their_own_rank(moderator: User, owner: User) -> None:
    person, colleague = make_user("person"), make_user("colleague", role="Moderator")
    page = act(
        signed_in(moderator), "/admin/accounts/user/", "disable", person.id, owner.id, colleague.id, moderator.id
    )
    disabled = User.objects.filter(disabled_at__isnull=False)
    assert [user.account.username for user in disabled] == ["person"]
    assert page.content.decode().count("They have a role that you do not outrank.") == 3
    assert "1 user was disabled." in page.content.decode()


def test_pending_users_are_found_and_approved_without_confirmation(moderator: User) -> None:
    client, waiting = signed_in(moderator), make_user("newcomer")
    User.objects.filter(id=waiting.id).update(approved=False)
    assert listed(client, "/admin/accounts/user/", state="waiting") == {str(waiting.id)}
    page = act(client, "/admin/accounts/user/", "approve", waiting.id, confirmed=False)
    waiting.refresh_from_db()
    assert waiting.approved
    assert "1 sign-up was approved." in page.content.decode()


def test_only_a_waiting_user_can_be_approved_or_rejected_from_their_page(moderator: User) -> None:
    client = signed_in(moderator)
    people = [make_user("ada"), make_user("bill"), make_user("member")]
    User.objects.filter(id__in=[user.id for user in people[:2]]).update(approved=False)
    ada, bill, member = (f"/admin/accounts/user/{user.id}/" for user in people)
    for page, offered in ((f"{ada}change/", True), (f"{member}change/", False)):
        words = client.get(page).content.decode()
        assert ("/approve/" in words, "/reject/" in words) == (offered, offered), page
    assert "Approve this sign-up?" in client.get(f"{ada}approve/").content.decode()
    client.post(f"{ada}approve/", {"confirmed": "yes"})
    client.post(f"{bill}reject/", {"confirmed": "yes"})
    client.post(f"{member}reject/", {"confirmed": "yes"})
    present = User.objects.filter(account__deleted_at=None, approved=True)
    assert {user.account.username for user in present} == {"ada", "member", moderator.account.username}


def test_staff_can_mark_an_address_as_confirmed_after_a_confirmation_page(moderator: User) -> None:
    client, newcomer = signed_in(moderator), make_user("newcomer", confirmed=False)
    assert listed(client, "/admin/accounts/user/", state="unconfirmed") == {str(newcomer.id)}
    act(client, "/admin/accounts/user/", "confirm", newcomer.id, confirmed=False)
    assert listed(client, "/admin/accounts/user/", state="unconfirmed") == {str(newcomer.id)}
    act(client, "/admin/accounts/user/", "confirm", newcomer.id)
    assert listed(client, "/admin/accounts/user/", state="unconfirmed") == set()


def test_an_action_on_too_many_rows_is_refused(moderator: User, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(staff, "ROWS_LIMIT", 2)
    people = [make_user() for _ in range(3)]
    page = act(signed_in(moderator), "/admin/accounts/user/", "disable", *(person.id for person in people))
    assert not User.objects.filter(disabled_at__isnull=False).exists()
    assert "nothing was done" in page.content.decode()


@pytest.mark.parametrize(
    ("term", "found"),
    [
        ("@anna", {"anna", "anna@there.example"}),
        ("anna@there.example", {"anna@there.example"}),
        ("there.example", {"anna@there.example"}),
        ("@anna@localhost:8000", {"anna"}),
        ("@nobody", set()),
    ],
)
def test_accounts_are_found_by_address(settings: Any, owner: User, term: str, found: set[str]) -> None:
    settings.LOCAL_DOMAIN = "localhost:8000"
    make_user("anna")
    make_remote("anna", "there.example")
    rows = signed_in(owner).get("/admin/accounts/account/", {"q": term}).context["cl"].result_list
    assert {account.acct for account in rows} == found


def test_users_are_found_by_name_and_by_mail(owner: User) -> None:
    client, anna = signed_in(owner), make_user("anna")
    for term in ("@anna", "anna@example.com", "ann"):
        assert listed(client, "/admin/accounts/user/", q=term) == {str(anna.id)}


def test_private_and_direct_posts_are_not_listed_found_or_opened(owner: User) -> None:
    make_status(owner.account, "everybody may read")
    hidden = make_status(owner.account, "only followers may", visibility="private")
    client = signed_in(owner)
    page = client.get("/admin/statuses/status/").content.decode()
    assert "everybody may read" in page
    assert "only followers may" not in page
    assert listed(client, "/admin/statuses/status/", q=str(hidden.id)) == set()
    assert client.get(f"/admin/statuses/status/{hidden.id}/change/").status_code == 302


def test_local_and_remote_posts_are_found_by_words_author_and_address(owner: User) -> None:
    client = signed_in(owner)
    here = make_status(owner.account, "about gardens")
    there = make_remote_status(
        make_remote("zoe", "there.example"), "<p>about <b>rivers</b></p>", url="https://there.example/@zoe/7"
    )
    path = "/admin/statuses/status/"
    for term in ("gardens", "@boss", str(here.id), f"http://localhost/@boss/{here.id}"):
        assert listed(client, path, q=term) == {str(here.id)}, term
    for term in ("rivers", "@zoe@there.example", "https://there.example/@zoe/7"):
        assert listed(client, path, q=term) == {str(there.id)}, term
    assert "about rivers" in client.get(path).content.decode()
    assert listed(client, path, home="here") == {str(here.id)}


def test_a_post_is_deleted_after_a_confirmation_page(moderator: User) -> None:
    client, post = signed_in(moderator), make_status(make_user("anna").account, "buy this")
    asked = act(client, "/admin/statuses/status/", "remove", post.id, confirmed=False).content.decode()
    assert "@anna: buy this" in asked
    assert Status.objects.filter(id=post.id, deleted_at=None).exists()
    act(client, "/admin/statuses/status/", "remove", post.id)
    assert Status.objects.get(id=post.id).deleted_at is not None


def test_texts_by_users_are_escaped_in_the_admin(owner: User) -> None:
    make_remote_status(make_remote("zoe", display_name="<script>alert(1)</script>"), "<p>&lt;img src=x&gt;</p>")
    client = signed_in(owner)
    for path in ("accounts/account/", "statuses/status/"):
        page = client.get(f"/admin/{path}").content.decode()
        assert "<script>alert" not in page
        assert "<img src=x" not in page


def test_the_admin_is_in_the_language_of_its_reader(owner: User) -> None:
    User.objects.filter(id=owner.id).update(locale="de")
    client = signed_in(owner)
    assert "Beiträge" in client.get("/admin/").content.decode()
    page = client.get("/admin/accounts/user/").content.decode()
    assert "E-Mail-Adresse" in page
    assert "Waiting for approval" not in page
