"""Tests that an identity at an issuer belongs to the account whose user has linked it."""

import time
from typing import Any

import pytest
from allauth.socialaccount.models import SocialAccount
from django.contrib.auth.hashers import make_password
from django.test import Client

from accounts.models import User
from accounts.services.erasing import delete_user, erase_account
from accounts.transfers.services.archive_files import ArchiveWriter
from accounts.transfers.services.archives import _write_identities
from tests.factories.accounts import make_user
from tests.support.issuer import TestIssuer, asked_in, begin, come_back, is_signed_in, member, sign_in

pytestmark = pytest.mark.django_db
LINK, AGAIN = "/auth/identities/link/org", "/auth/identities/again/org"


def without_password(user: User) -> User:
    User.objects.filter(pk=user.pk).update(password=make_password(None))
    return User.objects.get(pk=user.pk)


def test_only_its_owner_links_and_unlinks_an_identity(issuer: TestIssuer, browser: Client) -> None:
    user = make_user("ann")
    user.set_password("correct horse")
    user.save()
    browser.post("/auth/sign_in", {"login": user.email, "password": "correct horse"})
    page = browser.get("/auth/identities").content.decode()
    assert "Sign in with <bdi>The Organisation</bdi> as well" in page
    assert '<a href="/auth/identities" aria-current="page">' in page
    assert 'href="/auth/identities"' in browser.get("/settings").content.decode()
    # An attacker who finds a signed-in browser cannot link an identity without confirming the password.
    detour = browser.post(LINK)
    assert detour.headers["Location"].startswith("/auth/reauthenticate")
    browser.post("/auth/reauthenticate", {"password": "correct horse", "next": "/auth/identities"})
    # Only the session that began the linking can complete it.
    address = begin(browser, LINK)
    assert come_back(browser, issuer, address).headers["Location"] == "/auth/identities"
    identity = SocialAccount.objects.get()
    assert identity.user == user

    other = Client()
    sign_in(other, issuer)
    assert is_signed_in(other, user)
    # Another user cannot link the same identity to a second account.
    thief = make_user("thief")
    thief.set_password("correct horse")
    thief.save()
    visitor = Client()
    visitor.post("/auth/sign_in", {"login": thief.email, "password": "correct horse"})
    visitor.post("/auth/reauthenticate", {"password": "correct horse"})
    begun = begin(visitor, LINK)
    taken = come_back(visitor, issuer, begun)
    assert taken.headers["Location"] == "/auth/identities"
    assert "belongs to another account here" in visitor.get("/auth/identities").content.decode()
    assert SocialAccount.objects.get().user == user
    assert visitor.post(f"/auth/identities/{identity.pk}/unlink").status_code == 404
    assert SocialAccount.objects.exists()
    assert browser.post(f"/auth/identities/{identity.pk}/unlink").status_code == 303
    assert not SocialAccount.objects.exists()
    # If the user has signed out meanwhile, the issuer's response links nothing.
    address = begin(browser, LINK)
    browser.logout()
    assert come_back(browser, issuer, address).status_code == 403
    assert not SocialAccount.objects.exists()


def test_a_user_without_a_password_reauthenticates_with_the_issuer(
    issuer: TestIssuer, browser: Client, settings: Any
) -> None:
    user = without_password(member(issuer))
    sign_in(browser, issuer)
    identity = SocialAccount.objects.get()
    # A session alone is not sufficient, because anybody who finds a signed-in browser could then open these pages.
    for method, path in (
        ("get", "/settings/delete"),
        ("get", "/settings/migration"),
        ("get", "/auth/password/set"),
        ("get", "/auth/email"),
        ("get", "/auth/second_factor/app/activate"),
        ("post", LINK),
        ("post", f"/auth/identities/{identity.pk}/unlink"),
    ):
        answer = getattr(browser, method)(path)
        assert answer.headers["Location"].startswith("/auth/identities/again?next="), path
    page = browser.get(answer.headers["Location"]).content.decode()
    assert f'action="{AGAIN}"' in page
    # The issuer must authenticate the user again, and a different subject is refused.
    address = begin(browser, AGAIN, next="/settings/delete")
    assert asked_in(address)["max_age"] == "300"
    issuer.changed = {"auth_time": int(time.time()) - 3600}
    assert come_back(browser, issuer, address).status_code == 403
    issuer.changed, issuer.person = {}, issuer.person | {"sub": "another"}
    assert come_back(browser, issuer, begin(browser, AGAIN)).status_code == 403
    assert browser.get("/settings/delete").status_code == 302
    issuer.person = issuer.person | {"sub": identity.uid}

    # The form that was sent before the confirmation is processed now.
    begun = begin(browser, AGAIN, next=f"/auth/identities/{identity.pk}/unlink")
    done = browser.get(come_back(browser, issuer, begun).headers["Location"])
    assert done.headers["Location"] == "/auth/identities"
    assert "the only way" in browser.get("/auth/identities").content.decode()
    assert SocialAccount.objects.exists()
    assert is_signed_in(browser, user)
    settings.ISSUERS_ONLY = True
    form = browser.get("/settings/delete").content.decode()
    assert 'type="password"' not in form
    settings.ISSUERS_ONLY = False
    chosen = browser.post("/auth/password/set", {"password1": "correct horse battery"})
    assert chosen.headers["Location"] == "/auth/sign_in"
    assert User.objects.get(pk=user.pk).check_password("correct horse battery")


def test_identities_are_in_the_owners_archive_and_erased_with_the_account(issuer: TestIssuer, tmp_path: Any) -> None:
    user = member(issuer)
    writer = ArchiveWriter(tmp_path, {})
    written: dict[str, bytes] = {}
    writer.add_document = written.__setitem__  # type: ignore[method-assign]  # keeps what is written
    _write_identities(user.account, 0, writer)
    assert b'"subject": "4711"' in written["identities.json"]
    delete_user(user=user)
    while not erase_account(user.account_id):
        pass
    assert not SocialAccount.objects.exists()


def test_without_issuers_there_is_no_page_of_identities(settings: Any) -> None:
    settings.ISSUERS = ()
    browser = Client()
    browser.force_login(make_user("ann"), backend="allauth.account.auth_backends.AuthenticationBackend")
    assert browser.get("/auth/identities").status_code == 404
    assert "/auth/identities" not in browser.get("/settings").content.decode()
    assert "Continue with" not in Client().get("/auth/sign_in").content.decode()
