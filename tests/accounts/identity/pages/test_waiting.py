"""Tests of the pages for users waiting for approval: they can only read that they are waiting, or withdraw the request."""

import pytest
from django.urls import reverse

from accounts.models import User
from accounts.pages.settings import GROUPS
from tests.factories.accounts import make_user
from tests.support.client import signed_in

pytestmark = pytest.mark.django_db
SENTENCE = "A person reviews every request to join."
#: Paths of pages that the navigation of the settings does not list.
OTHERS = (
    "/settings",
    "/settings/exports/following_accounts.csv",
    "/settings/export/archives/1",
    "/settings/imports/1/failures.csv",
    "/settings/old_posts",
    "/severed_relationships/1/following.csv",
    "/auth/second_factor/app/activate",
    "/auth/second_factor/codes",
    "/auth/passkeys/add",
    "/authorize_interaction?uri=x",
    "/share?text=x",
)


def test_a_user_waiting_for_approval_sees_only_that_state() -> None:
    user = make_user("ann")
    User.objects.filter(pk=user.pk).update(approved=False)
    browser = signed_in(user)
    settings = [reverse(entry.url_name) for group in GROUPS for entry in group.entries]
    for path in {*settings, *OTHERS} - {"/settings/delete"}:
        answer = browser.get(path)
        assert (answer.status_code, SENTENCE in answer.content.decode()) == (403, True), path
    deletion = browser.get("/settings/delete").content.decode()
    for path in ("/settings/profile", "/settings/export"):
        assert path not in deletion, "no link leads to pages that are not open yet"
    assert browser.post("/settings/export/archives").status_code == 403
    User.objects.filter(pk=user.pk).update(approved=True)
    assert browser.get("/settings/export").status_code == 200
    assert 'first. <a href="/settings/export">' in " ".join(browser.get("/settings/delete").content.decode().split())
