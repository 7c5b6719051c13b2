"""Tests of signing in and signing up through an OpenID Connect issuer."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import time_machine
from allauth.account.models import EmailAddress
from allauth.mfa.totp.internal.auth import TOTP, generate_totp_secret
from allauth.socialaccount.models import SocialAccount, SocialToken
from django.core.management import call_command
from django.test import Client

from accounts.identity.services.activation import create_invite
from accounts.identity.services.confirmations import confirmation_url
from accounts.identity.services.sign_up_blocks import block_network
from accounts.models import Account, AuditEntry, Role, Severity, User
from accounts.models.user import EVERYONE_ROLE_ID
from accounts.policies.staff import OPERATOR
from social.kernel import clock, redis
from social.runtime import doctor
from social.settings.issuers import read_issuers
from tests.factories.accounts import make_application, make_token, make_user
from tests.support.client import Api
from tests.support.issuer import (
    CLIENT,
    NEW,
    TestIssuer,
    asked_in,
    begin,
    come_back,
    is_signed_in,
    issuing,
    member,
    sign_in,
)

pytestmark = pytest.mark.django_db


def test_a_new_person_chooses_a_username_and_returns_to_the_application(
    issuer: TestIssuer, browser: Client, settings: Any
) -> None:
    issuer.person |= {"email_verified": True, "preferred_username": "ann.smith@org.example"}
    application = make_application()
    query = f"client_id={application.client_id}&redirect_uri={application.registered_redirect_uris[0]}"
    wanted = f"/oauth/authorize?{query}&response_type=code&scope=read"
    page = browser.get(browser.get(wanted).headers["Location"])
    assert "Continue with <bdi>The Organisation</bdi>" in page.content.decode()
    address = begin(browser, next=wanted)
    asked = asked_in(address)
    assert asked["scope"] == "openid profile email"
    assert (asked["response_type"], asked["client_id"], asked["code_challenge_method"]) == ("code", CLIENT, "S256")
    assert asked["redirect_uri"] == f"{settings.BASE_URL}/auth/with/org/callback"

    form = browser.get(come_back(browser, issuer, address).headers["Location"], follow=True)
    text = form.content.decode()
    assert 'value="ann_smith"' in text
    assert 'value="ann@org.example"' in text
    assert 'type="password"' not in text
    path = form.redirect_chain[-1][0]
    refused = browser.post(path, NEW | {"agreement": ""})
    assert "must be accepted" in refused.content.decode().lower()
    assert not User.objects.exists()
    made = browser.post(path, NEW)
    assert made.headers["Location"] == wanted

    user = User.objects.get()
    assert (user.email, user.account.username, user.has_usable_password()) == ("ann@org.example", "ann", False)
    assert EmailAddress.objects.get(user=user).verified
    assert is_signed_in(browser, user)
    identity = SocialAccount.objects.get()
    assert (identity.user, identity.provider, identity.uid) == (user, "org", "4711")
    assert identity.extra_data == {"name": "ann.smith@org.example"}
    assert not SocialToken.objects.exists()
    assert "access" not in json.dumps(dict(browser.session))

    other = Client()
    issuer.configured = {"token_endpoint_auth_methods_supported": ["client_secret_post"]}
    redis.client("cache").flushdb()
    assert sign_in(other, issuer, next=wanted).headers["Location"] == wanted
    assert is_signed_in(other, user)
    assert User.objects.count() == 1
    assert other.get(wanted).status_code == 200


def test_an_unconfirmed_address_is_confirmed_by_mail_first(issuer: TestIssuer, settings: Any) -> None:
    settings.CONFIRM_EMAIL, settings.ACCOUNT_EMAIL_VERIFICATION = True, "mandatory"
    # The issuer's confirmation applies only to the address in its claim, not to another address that the user enters.
    for number, (claim, typed) in enumerate(
        [(None, "ann@org.example"), ("true", "b@org.example"), (True, "c@x.example")]
    ):
        issuer.person |= {"email_verified": claim, "sub": f"s{number}", "email": "ann@org.example"}
        visitor = Client()
        sign_in(visitor, issuer)
        visitor.post("/auth/with", NEW | {"username": f"ann{number}", "email": typed})
        address = EmailAddress.objects.get(user__account__username=f"ann{number}")
        assert not address.verified
        assert not is_signed_in(visitor)
    visitor.get(confirmation_url(address))
    assert EmailAddress.objects.get(pk=address.pk).verified


def test_the_rules_of_sign_ups_apply_to_sign_ups_through_an_issuer_too(
    issuer: TestIssuer, browser: Client, settings: Any
) -> None:
    settings.REGISTRATIONS, settings.MINIMUM_AGE = "closed", 16
    assert sign_in(browser, issuer).status_code == 403
    settings.REGISTRATIONS = "approval"
    sign_in(browser, issuer)
    page = browser.get("/auth/with").content.decode()
    assert 'name="reason"' in page
    assert 'name="date_of_birth"' in page
    assert browser.post("/auth/with", NEW).status_code == 200
    form = NEW | {"reason": "I work here", "date_of_birth": "1990-01-01"}
    # Registrations may be closed between the issuer's response and the submission of the form.
    settings.REGISTRATIONS = "closed"
    assert browser.post("/auth/with", form).status_code == 403
    settings.REGISTRATIONS = "approval"
    block = block_network(by=OPERATOR, network="127.0.0.0/8", severity=Severity.SIGN_UP_BLOCK)
    assert browser.post("/auth/with", form).status_code == 403
    block.delete()
    assert not User.objects.exists()
    browser.post("/auth/with", form)
    assert not User.objects.get().approved

    settings.REGISTRATIONS, settings.MINIMUM_AGE = "closed", 0
    invite = create_invite(by=OPERATOR, max_uses=1)
    issuer.person |= {"sub": "invited", "email_verified": True, "email": "bob@org.example"}
    guest = Client()
    assert invite.code in guest.get(f"/auth/sign_up?invite_code={invite.code}").content.decode()
    sign_in(guest, issuer, invite_code=invite.code)
    guest.post("/auth/with", NEW | {"username": "bob", "email": "bob@org.example"})
    invited = User.objects.get(account__username="bob")
    assert (invited.invite, invited.approved) == (invite, True)
    issuer.person |= {"sub": "late"}
    assert sign_in(Client(), issuer, invite_code=invite.code).status_code == 403


def test_an_account_is_created_within_an_hour_of_the_sign_in_and_only_for_permitted_groups(
    issuer: TestIssuer, browser: Client, settings: Any
) -> None:
    sign_in(browser, issuer)
    with time_machine.travel(clock.now() + timedelta(hours=2), tick=False):
        assert browser.post("/auth/with", NEW).headers["Location"] == "/auth/sign_in"
    assert not User.objects.exists()
    settings.ISSUERS = (issuer.settings(required_claim="groups", required_values=("social", "board")),)
    user = member(issuer)
    for groups, status in ((None, 403), ("staff", 403), (["staff"], 403), ({"social": 1}, 403), (["x", "board"], 302)):
        issuer.person["groups"] = groups
        visitor = Client()
        assert sign_in(visitor, issuer).status_code == status, groups
        assert is_signed_in(visitor, user) == (status == 302)


def test_the_issuer_changes_only_roles_that_it_gave_and_never_the_owner_role(issuer: TestIssuer, settings: Any) -> None:
    roles = {"admins": "Admin", "mods": "Moderator", "none": "No such role", "lords": "Owner"}
    settings.ISSUERS = (issuer.settings(role_claim="groups", roles=roles),)
    user = member(issuer)

    def role_after(groups: Any) -> str:
        issuer.person["groups"] = groups
        sign_in(Client(), issuer)
        return User.objects.get(pk=user.pk).role.name

    assert role_after(["staff", "mods"]) == "Moderator"
    assert (AuditEntry.objects.latest("id").action, AuditEntry.objects.latest("id").account_name) == (
        "change_role",
        "issuer org",
    )
    assert role_after("admins") == "Admin"
    assert role_after(["none"]) == "Admin"
    assert role_after(["lords"]) == "Admin"
    assert role_after({"mods": 1}) == ""
    User.objects.filter(pk=user.pk).update(role=Role.objects.get(name="Owner"))
    assert role_after(["mods"]) == "Owner"
    found = [check for check in doctor.examine() if check.name == "sign-in org"]
    assert [check.state for check in found] == ["ok", "warning", "warning"]
    assert "No such role" in found[1].detail
    assert "Owner" in found[2].detail
    User.objects.filter(pk=user.pk).update(role_id=EVERYONE_ROLE_ID)
    settings.ISSUERS = (issuer.settings(),)
    assert role_after(["mods"]) == ""
    # A new user has the issuer's role immediately after the sign-up.
    settings.ISSUERS = (issuer.settings(role_claim="groups", roles={"mods": "Moderator"}),)
    issuer.person |= {"sub": "new", "groups": ["mods"], "email_verified": True}
    visitor = Client()
    sign_in(visitor, issuer)
    visitor.post("/auth/with", NEW)
    assert User.objects.get(account__username="ann").role.name == "Moderator"


def test_each_of_several_issuers_signs_in_its_own_users(issuer: TestIssuer, browser: Client, settings: Any) -> None:
    user = member(issuer)
    with issuing() as other:
        settings.ISSUERS = (issuer.settings(), other.settings(id="club", name="The Club"))
        page = browser.get("/auth/sign_in").content.decode()
        assert "Continue with <bdi>The Organisation</bdi>" in page
        assert "Continue with <bdi>The Club</bdi>" in page
        # The same subject at a different issuer is a different user.
        answer = come_back(browser, other, begin(browser, "/auth/with/club"))
        assert answer.headers["Location"].startswith("/auth/with")
        assert not is_signed_in(browser)
        sign_in(browser, issuer)
        assert is_signed_in(browser, user)
        # A response from one issuer is not accepted as a response from another (RFC 9207); each state is valid for one issuer
        # only.
        visitor = Client()
        state = asked_in(begin(visitor, "/auth/with/club"))["state"]
        assert visitor.get("/auth/with/org/callback", {"code": "x", "state": state}).status_code == 403
        state = asked_in(begin(visitor, "/auth/with/club"))["state"]
        query = {"code": "x", "state": state, "iss": issuer.url}
        assert visitor.get("/auth/with/club/callback", query).status_code == 403
        assert "/token" not in other.asked[-1:]


def test_the_issuer_can_be_the_only_way_to_sign_in_and_the_operator_links_existing_users(
    issuer: TestIssuer, browser: Client, settings: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    user = make_user("bob")
    user.set_password("correct horse")
    user.save()
    settings.ISSUERS_ONLY = True
    page = browser.get("/auth/sign_in").content.decode()
    assert 'type="password"' not in page
    assert "Continue with <bdi>The Organisation</bdi>" in page
    refused = browser.post("/auth/sign_in", {"login": user.email, "password": "correct horse"})
    assert refused.status_code == 403
    assert not is_signed_in(browser)
    form = {"username": "eve", "email": "eve@x.example", "password": "correct horse", "agreement": True}
    assert Api(make_token(None)).post("/api/v1/accounts", form).status_code == 403
    registrations = Api().get("/api/v2/instance").json()["registrations"]
    assert registrations["url"] == f"{settings.BASE_URL}/auth/sign_up"
    assert 'type="password"' not in browser.get("/auth/sign_up").content.decode()

    call_command("modify_account", "bob", "--sign-in-link")
    path = urlsplit(json.loads(capsys.readouterr().out)["sign_in_link"]).path
    assert AuditEntry.objects.latest("id").action == "make_sign_in_link"
    assert "@bob" in browser.get(path).content.decode()
    assert not is_signed_in(browser)
    with time_machine.travel(clock.now() + timedelta(minutes=16), tick=False):
        assert browser.post(path).status_code == 404
    browser.post(path)
    assert is_signed_in(browser, user)
    assert Client().post(path).status_code == 404
    assert Client().post(f"{path}x").status_code == 404
    assert "/auth/password" not in browser.get("/settings").content.decode()

    # A user who has an account without a linked identity is shown how to link it.
    visitor = Client()
    sign_in(visitor, issuer)
    assert "a link that signs you in" in visitor.get("/auth/with").content.decode()
    SocialAccount.objects.create(user=user, provider="org", uid=issuer.person["sub"])
    visitor = Client()
    sign_in(visitor, issuer)
    assert is_signed_in(visitor, user)


def test_second_factors_and_closed_accounts_are_checked_as_for_every_sign_in(
    issuer: TestIssuer, browser: Client
) -> None:
    user = member(issuer)
    TOTP.activate(user, generate_totp_secret())
    assert sign_in(browser, issuer).headers["Location"] == "/auth/second_factor/sign_in"
    assert not is_signed_in(browser)
    user.authenticator_set.all().delete()
    Account.objects.filter(pk=user.account_id).update(suspended_at=clock.now())
    sign_in(browser, issuer)
    assert browser.get("/settings/profile").status_code == 403
    Account.objects.filter(pk=user.account_id).update(suspended_at=None)
    User.objects.filter(pk=user.pk).update(disabled_at=user.created_at)
    visitor = Client()
    assert sign_in(visitor, issuer).headers["Location"] == "/auth/disabled"
    assert not is_signed_in(visitor)


def test_signing_out_ends_the_session_of_the_issuer_too(issuer: TestIssuer, browser: Client, settings: Any) -> None:
    member(issuer)
    sign_in(browser, issuer)
    address = urlsplit(begin(browser, "/auth/sign_out"))
    assert f"{address.scheme}://{address.netloc}{address.path}" == f"{issuer.url}/end"
    query = parse_qs(address.query)
    assert query["post_logout_redirect_uri"] == [f"{settings.BASE_URL}/auth/sign_in"]
    assert query["id_token_hint"][0].count(".") == 2
    assert not is_signed_in(browser)
    # An issuer without an address for signing out, or one that does not respond, does not prevent the sign-out.
    for configured in ({"end_session_endpoint": None}, {"issuer": "other"}):
        sign_in(browser, issuer)
        issuer.configured = configured
        redis.client("cache").flushdb()
        assert browser.post("/auth/sign_out").headers["Location"] == "/auth/sign_in"
        assert not is_signed_in(browser)


def test_an_invalid_file_of_issuers_is_refused_without_showing_its_secrets(tmp_path: Path) -> None:
    path = tmp_path / "issuers.json"
    good = {
        "id": "org",
        "name": "Org",
        "issuer": "https://login.example/realms/a",
        "client_id": "x",
        "client_secret": "s3cret",
    }
    more = {"role_claim": "groups", "roles": {"a": "Moderator"}, "required_claim": "groups", "required_values": ["b"]}
    path.write_text(json.dumps([good | {"scopes": ["groups"], "client_id": " x "} | more]))
    (found,) = read_issuers(str(path), loopback=False)
    assert (found.scopes, found.required_values, found.client_id) == (("openid", "groups"), ("b",), "x")
    assert found.discovery_url == "https://login.example/realms/a/.well-known/openid-configuration"
    assert read_issuers("", loopback=False) == ()
    for bad in (
        {},
        [good, good],
        [good | {"id": "A b"}],
        [good | {"issuer": "http://login.example"}],
        [good | {"issuer": "https://user@login.example"}],
        [good | {"colour": "red"}],
        [good | {"trusts_email": "yes"}],
        [good | {"role_claim": "groups"}],
        [good | {"required_claim": "groups"}],
        [good | {"scopes": [5]}],
        [{"id": "org"}],
        "text",
    ):
        path.write_text(json.dumps(bad))
        with pytest.raises(Exception, match="SIGN_IN_ISSUERS") as refusal:
            read_issuers(str(path), loopback=False)
        assert "s3cret" not in str(refusal.value)
