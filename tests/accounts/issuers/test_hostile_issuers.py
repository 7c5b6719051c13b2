"""Tests that only users whom the issuer has authenticated are signed in, even under attack (security rows 27 and 28)."""

import json
from base64 import urlsafe_b64encode
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.socialaccount.models import SocialAccount
from django.test import Client
from jwcrypto.jwk import JWK
from jwcrypto.jwt import JWT

from accounts.issuers import services
from accounts.issuers.policies import ALGORITHMS
from accounts.models import User
from social.kernel import redis
from tests.factories.accounts import make_user
from tests.support.issuer import (
    CLIENT,
    NEW,
    SECRET,
    TestIssuer,
    asked_in,
    begin,
    is_signed_in,
    key,
    member,
    sign_in,
    way_back,
)

pytestmark = pytest.mark.django_db


def test_row_27_a_matching_email_address_does_not_open_another_users_account(
    issuer: TestIssuer, browser: Client
) -> None:
    victim = make_user("victim")
    EmailAddress.objects.filter(user=victim).update(verified=True)
    issuer.person |= {"email": victim.email, "email_verified": True, "preferred_username": "victim"}
    answer = sign_in(browser, issuer)
    assert answer.headers["Location"].startswith("/auth/with")
    assert not is_signed_in(browser)
    taken = browser.post("/auth/with", NEW | {"email": victim.email})
    assert "has already been taken" in taken.content.decode().lower()
    assert not SocialAccount.objects.exists()
    assert User.objects.count() == 1
    # The issuer's claims remain in the session, so that the user can correct the form.
    assert browser.post("/auth/with", NEW | {"email": "other@org.example"}).status_code == 303
    # A different subject at the issuer is a different user, even if all other claims are the same.
    issuer.person["sub"] = "another"
    visitor = Client()
    assert sign_in(visitor, issuer).headers["Location"].startswith("/auth/with")
    assert not is_signed_in(visitor)


def test_a_token_for_another_issuer_application_sign_in_or_time_signs_nobody_in(
    issuer: TestIssuer, browser: Client
) -> None:
    user = member(issuer)
    for changed in (
        {"iss": "https://evil.example"},
        {"iss": f"{issuer.url}/"},
        {"iss": None},
        {"aud": "another"},
        {"aud": None},
        {"aud": []},
        {"aud": [CLIENT, "another"]},
        {"aud": [CLIENT, "another"], "azp": "another"},
        {"azp": "another"},
        {"nonce": "another"},
        {"nonce": None},
        {"exp": 1},
        {"exp": None},
        {"exp": "tomorrow"},
        {"iat": None},
        {"sub": ""},
        {"sub": None},
        {"sub": "x" * 300},
        {"sub": "a\x00b"},
        {"sub": 5},
    ):
        issuer.changed = changed
        assert sign_in(browser, issuer).status_code == 403, changed
        assert not is_signed_in(browser)
    assert SocialAccount.objects.count() == 1
    issuer.changed = {"aud": [CLIENT]}
    sign_in(browser, issuer)
    assert is_signed_in(browser, user)


def _unsigned(claims: dict[str, Any]) -> str:
    parts = ({"alg": "none"}, claims)
    return ".".join(urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode() for part in parts) + "."


def test_a_token_without_the_issuers_signature_signs_nobody_in(issuer: TestIssuer, browser: Client) -> None:
    user = member(issuer)
    forged = JWK(**{**key("second").export(as_dict=True), "kid": "first"})

    def signed_by(signer: JWK, algorithm: str, **header: Any) -> Any:
        def sign(claims: dict[str, Any]) -> str:
            token = JWT(header={"alg": algorithm, "kid": "first", **header}, claims=claims)
            token.make_signed_token(signer)
            return str(token.serialize())

        return sign

    def secret(data: bytes) -> JWK:
        return JWK(kty="oct", k=urlsafe_b64encode(data).rstrip(b"=").decode())

    for sign in (
        _unsigned,
        signed_by(forged, "RS256"),
        signed_by(forged, "RS256", jwk=forged.export_public(as_dict=True)),
        signed_by(secret(issuer.key.export_to_pem()), "HS256"),
        signed_by(secret(SECRET.encode().ljust(32)), "HS256"),
        lambda claims: issuer.signed(claims).rpartition(".")[0] + ".",
        lambda _: "x",
        lambda _: None,
    ):
        issuer.sign = sign
        visitor = Client()
        assert sign_in(visitor, issuer).status_code == 403
        assert not is_signed_in(visitor)
    assert not {"none", "HS256"} & set(ALGORITHMS)
    # The issuer has changed its key: the new one is fetched when the cached keys have expired.
    issuer.sign, issuer.key = issuer.signed, key("second")
    assert sign_in(Client(), issuer).status_code == 403
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(services, "_KEYS_AGE", -1)
        assert sign_in(browser, issuer).status_code == 302
    assert is_signed_in(browser, user)


def test_a_response_of_the_issuer_works_once_and_only_in_the_browser_that_began_the_sign_in(
    issuer: TestIssuer, browser: Client
) -> None:
    member(issuer)
    address = begin(browser)
    path = way_back(issuer, address)
    stranger = Client()
    assert stranger.get(path).status_code == 403
    assert not is_signed_in(stranger)
    assert browser.get(path).status_code == 302
    assert is_signed_in(browser)
    again = Client()
    again.cookies = browser.cookies
    assert again.get(path).status_code == 403
    # The code of another user's sign-in is refused, because its verifier and nonce belong to another session.
    victim = Client()
    stolen = asked_in(way_back(issuer, address))["code"]
    state = asked_in(begin(victim))["state"]
    assert victim.get("/auth/with/org/callback", {"code": stolen, "state": state}).status_code == 403
    assert not is_signed_in(victim)


def test_query_parameters_cannot_change_the_request_to_the_issuer_or_redirect_to_another_site(
    issuer: TestIssuer, browser: Client
) -> None:
    evil = (
        "/auth/with/org?scope=admin&auth_params=redirect_uri%3Dhttps%3A%2F%2Fevil.example%26nonce%3Dx&process=connect"
    )
    asked = asked_in(begin(browser, evil, next="https://evil.example/"))
    assert asked["redirect_uri"].endswith("/auth/with/org/callback")
    assert asked["scope"] == "openid profile email"
    assert "evil.example" not in json.dumps(dict(browser.session))
    assert browser.get("/auth/with/org").status_code == 405
    assert browser.post("/auth/with/other").status_code == 404
    for elsewhere in ("//evil.example", "/\\evil.example", "https:evil.example", "javascript:alert(1)"):
        visitor = Client()
        assert sign_in(visitor, issuer, next=elsewhere).headers["Location"] == "/auth/with"
        assert "evil" not in visitor.get("/auth/with", {"next": elsewhere}).headers.get("Location", "")
    member(issuer)
    assert sign_in(visitor, issuer, next="//evil.example").headers["Location"] == "/"


def test_a_configuration_of_another_issuer_or_with_other_addresses_is_not_used(
    issuer: TestIssuer, browser: Client
) -> None:
    for configured in (
        {"issuer": "https://evil.example"},
        {"issuer": None},
        {"token_endpoint": "ftp://evil.example"},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"authorization_endpoint": ["x"]},
        {"jwks_uri": None},
    ):
        issuer.configured = configured
        answer = browser.post("/auth/with/org")
        assert answer.status_code == 503, configured
        assert "The Organisation is not working at the moment" in answer.content.decode()


def test_an_issuer_with_slow_endless_or_redirected_responses_signs_nobody_in(
    issuer: TestIssuer, browser: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    member(issuer)
    monkeypatch.setattr(services, "_DEADLINE_SECONDS", 0.5)
    for place in ("/.well-known/openid-configuration", "/token", "/keys", "/userinfo"):
        for how in ("slow", "huge", "redirect", "text"):
            redis.client("cache").flushdb()
            issuer.broken = {}
            address = begin(browser)
            redis.client("cache").flushdb()
            issuer.broken = {place: how}
            assert browser.get(way_back(issuer, address)).status_code in (403, 503), (place, how)
            assert not is_signed_in(browser), (place, how)
    assert "/elsewhere" not in issuer.asked


def test_private_addresses_are_requested_only_if_the_operator_allows_it(
    issuer: TestIssuer, browser: Client, settings: Any
) -> None:
    issuer.configured = {"token_endpoint": "http://10.0.0.1/token"}
    assert browser.get(way_back(issuer, begin(browser))).status_code == 503
    redis.client("cache").flushdb()
    settings.ISSUERS_LOOPBACK = False
    issuer.asked.clear()
    assert browser.post("/auth/with/org").status_code == 503
    assert issuer.asked == []


def test_user_info_about_somebody_else_is_refused(issuer: TestIssuer, browser: Client) -> None:
    member(issuer)
    issuer.info = {"sub": "another"}
    assert sign_in(browser, issuer).status_code == 403
    # Signed claims take precedence over claims from the userinfo endpoint.
    issuer.changed, issuer.info = {"preferred_username": "signed"}, {"preferred_username": "said"}
    assert sign_in(browser, issuer).status_code == 302
    assert SocialAccount.objects.get().extra_data == {"name": "signed"}


def test_a_cancelled_or_failed_sign_in_at_the_issuer_signs_nobody_in(issuer: TestIssuer, browser: Client) -> None:
    state = asked_in(begin(browser))["state"]
    left = browser.get("/auth/with/org/callback", {"error": "access_denied", "state": state})
    assert left.headers["Location"] == "/auth/sign_in"
    state = asked_in(begin(browser))["state"]
    assert browser.get("/auth/with/org/callback", {"error": "server_error", "state": state}).status_code == 403
    assert browser.get("/auth/with/org/callback").status_code == 403
