"""Staff work in Django's admin: through the site's sign-in, by role, reading only, acting through services."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from accounts.models import User
from statuses.models import Status
from statuses.services.composing import StatusDraft
from statuses.services.publishing import publish_status
from tests.factories.accounts import make_user

pytestmark = pytest.mark.django_db


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user, backend="allauth.account.auth_backends.AuthenticationBackend")
    return client


@pytest.fixture(autouse=True)
def _no_second_factor(settings: Any) -> None:
    settings.STAFF_SECOND_FACTOR = False


def test_the_admin_has_no_sign_in_of_its_own() -> None:
    answer = Client().get("/admin/")
    answer = Client().get(answer["Location"]) if answer["Location"].startswith("/admin") else answer
    assert answer.status_code == 302
    assert answer["Location"].startswith("/auth/sign_in?next=/admin/")


def test_people_without_a_role_are_refused() -> None:
    client = signed_in(make_user("nobody"))
    answer = client.get("/admin/", follow=True)
    assert answer.status_code == 403


def test_staff_without_a_second_factor_are_sent_to_add_one(settings: Any) -> None:
    settings.STAFF_SECOND_FACTOR = True
    answer = signed_in(make_user("boss", role="Owner")).get("/admin/", follow=True)
    assert "/2fa/" in answer.redirect_chain[-1][0] or "/auth/" in answer.redirect_chain[-1][0]


@pytest.mark.parametrize("path", ["", "accounts/user/", "accounts/account/", "statuses/status/", "social/outboxrow/"])
def test_every_list_opens_for_the_owner(path: str) -> None:
    owner = make_user("boss", role="Owner")
    publish_status(author=owner.account, draft=StatusDraft(text="hello"))
    assert signed_in(owner).get(f"/admin/{path}").status_code == 200


def test_a_row_is_shown_and_cannot_be_edited() -> None:
    owner = make_user("boss", role="Owner")
    client = signed_in(owner)
    shown = client.get(f"/admin/accounts/user/{owner.id}/change/")
    assert shown.status_code == 200
    assert owner.password not in shown.content.decode()
    assert client.post(f"/admin/accounts/user/{owner.id}/change/", {"email": "x@example.com"}).status_code == 403
    assert client.get("/admin/accounts/user/add/").status_code == 403


def test_a_moderator_disables_somebody_and_not_somebody_above() -> None:
    moderator, person, owner = make_user("mod", role="Moderator"), make_user("person"), make_user("boss", role="Owner")
    client = signed_in(moderator)
    chosen = {"action": "disable", "_selected_action": [person.id, owner.id]}
    assert client.post("/admin/accounts/user/", chosen, follow=True).status_code == 200
    person.refresh_from_db()
    owner.refresh_from_db()
    assert person.disabled_at is not None
    assert owner.disabled_at is None


def test_a_moderator_does_not_see_the_outbox() -> None:
    assert signed_in(make_user("mod", role="Moderator")).get("/admin/social/outboxrow/").status_code == 403


def test_private_and_direct_posts_are_not_listed_and_public_ones_can_be_deleted() -> None:
    owner = make_user("boss", role="Owner")
    open_one = publish_status(author=owner.account, draft=StatusDraft(text="everybody may read"))
    publish_status(author=owner.account, draft=StatusDraft(text="only followers may", visibility="private"))
    client = signed_in(owner)
    page = client.get("/admin/statuses/status/").content.decode()
    assert "everybody may read" in page
    assert "only followers may" not in page
    client.post("/admin/statuses/status/", {"action": "remove", "_selected_action": [open_one.id]}, follow=True)
    assert Status.objects.get(id=open_one.id).deleted_at is not None
