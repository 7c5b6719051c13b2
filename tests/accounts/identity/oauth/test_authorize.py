"""Tests of `/oauth/authorize` (contract, parameters section 1; clients.md traps 3 to 5; security rows 30, 45, 46)."""

from urllib.parse import urlencode

import pytest
from allauth.account.models import EmailAddress
from django.test import Client

from accounts.identity.services.tokens import issue_token, register_application
from accounts.models import Account, Application, Grant, Role, User
from social.kernel import clock
from tests.accounts.identity.oauth.conftest import CALLBACK, answer, ask, exchange
from tests.factories.accounts import make_user
from tests.support.client import signed_in

pytestmark = pytest.mark.django_db
AUTHORIZE = "/oauth/authorize"


def test_after_signing_in_the_authorization_request_continues_with_all_parameters(
    client: Client, application: Application, person: User
) -> None:
    asked = client.get(AUTHORIZE, ask(application, state="s t/a+te", lang="de"))
    assert asked.status_code == 302
    assert asked["Location"].startswith("/auth/sign_in?")
    page = client.get(asked["Location"])
    assert page.status_code == 200
    assert b"Test app" in page.content
    back = client.post(asked["Location"], {"login": person.email, "password": "correct horse"})
    assert back.status_code == 303
    consent = client.get(back["Location"])
    assert consent.status_code == 200
    done = client.post(AUTHORIZE, ask(application, state="s t/a+te", decision="allow"))
    assert answer(done)["state"] == "s t/a+te"
    assert exchange(application, answer(done)["code"]).status_code == 200


def test_the_consent_page_names_the_application_the_user_and_the_scopes(
    browser: Client, application: Application
) -> None:
    page = browser.get(AUTHORIZE, ask(application, scope="read:statuses write:media push")).content.decode()
    assert "Test app" in page
    assert "@ada@social.localhost" in page
    assert "See all posts that you can see" in page
    assert "Upload pictures" in page
    assert "Send you push notifications" in page
    assert "app.example" in page
    assert "Use another account" in page


def test_allowing_sends_the_code_and_keeps_the_registered_address(browser: Client, application: Application) -> None:
    done = browser.post(AUTHORIZE, ask(application, decision="allow"))
    assert done["Location"].startswith(f"{CALLBACK}&code=")
    assert "state" not in answer(done)


@pytest.mark.parametrize("how", ["button", "method", "delete"])
def test_denying_sends_access_denied(browser: Client, application: Application, how: str) -> None:
    sent = ask(application, state="x")
    if how == "delete":
        refused = browser.delete(f"{AUTHORIZE}?{urlencode(sent)}")
    else:
        refused = browser.post(
            AUTHORIZE, {**sent, **({"decision": "deny"} if how == "button" else {"_method": "delete"})}
        )
    assert answer(refused)["error"] == "access_denied"
    assert answer(refused)["state"] == "x"
    assert not Grant.objects.exists()


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"response_type": "token"}, "unsupported_response_type"),
        ({"response_type": None}, "invalid_request"),
        ({"response_type": "code token"}, "unsupported_response_type"),
        ({"response_type": "none"}, "unsupported_response_type"),
        ({"code_challenge": "x" * 43, "code_challenge_method": "plain"}, "invalid_code_challenge_method"),
        ({"code_challenge": "x" * 43}, "invalid_request"),
        ({"code_challenge": "short", "code_challenge_method": "S256"}, "invalid_request"),
        ({"response_mode": "smoke"}, "invalid_request"),
    ],
)
def test_errors_of_the_authorization_request_are_shown_to_the_user(
    browser: Client, application: Application, change: dict[str, str | None], error: str
) -> None:
    for response in (
        browser.get(AUTHORIZE, ask(application, state="S", **change)),
        browser.post(AUTHORIZE, ask(application, state="S", decision="allow", **change)),
    ):
        assert (response.status_code, "Location" in response) == (400, False)
        assert error in response.content.decode()
    assert not Grant.objects.exists()


def test_an_authorization_request_without_an_application_is_refused(browser: Client, application: Application) -> None:
    for sent in (None, ""):
        response = browser.get(AUTHORIZE, ask(application, client_id=sent))
        assert response.status_code == 400
        assert b"invalid_request" in response.content


@pytest.mark.parametrize("scope", ["read admin:write", "crypto", "read nonsense"])
def test_an_unregistered_scope_is_reported_to_the_application_with_its_state(
    browser: Client, application: Application, scope: str
) -> None:
    for response in (
        browser.get(AUTHORIZE, ask(application, state="S", scope=scope)),
        browser.post(AUTHORIZE, ask(application, state="S", scope=scope, decision="allow")),
    ):
        assert answer(response)["error"] == "invalid_scope"
        assert answer(response)["state"] == "S"
    assert not Grant.objects.exists()


@pytest.mark.parametrize(
    "change",
    [{"response_type": "token"}, {"scope": "nonsense"}, {"client_id": "x"}, {"redirect_uri": "https://x.example/"}],
)
def test_before_signing_in_there_is_no_redirect_to_the_application_and_no_error(
    client: Client, application: Application, change: dict[str, str]
) -> None:
    for response in (
        client.get(AUTHORIZE, ask(application, **change)),
        client.post(AUTHORIZE, ask(application, decision="deny", **change)),
    ):
        assert response["Location"].startswith("/auth/sign_in")


@pytest.mark.parametrize(
    "uri",
    [
        "https://evil.example/",
        "https://app.example/callback",
        f"{CALLBACK}&more=1",
        CALLBACK.upper(),
        f"{CALLBACK}/../x",
        "https://app.example.evil.example/callback?keep=1",
        "",
        "//app.example/callback?keep=1",
    ],
)
def test_an_unregistered_redirect_uri_gets_no_code(browser: Client, application: Application, uri: str) -> None:
    for response in (
        browser.get(AUTHORIZE, ask(application, redirect_uri=uri)),
        browser.post(AUTHORIZE, ask(application, redirect_uri=uri, decision="allow")),
    ):
        assert response.status_code == 400
        assert "Location" not in response
    assert not Grant.objects.exists()


@pytest.mark.parametrize("client_id", ["unknown", "a\0b", "https://client.example/metadata.json"])
def test_an_unknown_application_gets_a_page_with_401(browser: Client, application: Application, client_id: str) -> None:
    response = browser.get(AUTHORIZE, ask(application, client_id=client_id))
    assert response.status_code == 401
    assert b"invalid_client" in response.content


def test_an_application_may_request_some_of_its_scopes_or_their_children(
    browser: Client, application: Application
) -> None:
    code = answer(browser.post(AUTHORIZE, ask(application, scope="read:statuses write:media", decision="allow")))[
        "code"
    ]
    assert exchange(application, code).json()["scope"] == "read:statuses write:media"


def test_no_scope_means_read(browser: Client, application: Application) -> None:
    code = answer(browser.post(AUTHORIZE, ask(application, scope=None, decision="allow")))["code"]
    assert exchange(application, code).json()["scope"] == "read"


@pytest.mark.parametrize(("staff", "expected"), [(False, "read"), (True, "read admin:read admin:write:reports")])
def test_row_45_scopes_of_the_staff_are_dropped_for_everybody_else(staff: bool, expected: str) -> None:
    application = register_application(name="Mod", redirect_uris=CALLBACK, scopes="read admin:read admin:write")
    user = make_user()
    if staff:
        role = Role.objects.create(name="Reports", permissions=0x10)
        User.objects.filter(pk=user.pk).update(role=role)
    browser = signed_in(user)
    asked = ask(application, scope="read admin:read admin:write:reports")
    page = browser.get(AUTHORIZE, asked).content.decode()
    assert ("You do not have them" in page) is not staff
    code = answer(browser.post(AUTHORIZE, {**asked, "decision": "allow"}))["code"]
    assert exchange(application, code).json()["scope"] == expected


def test_row_45_a_request_for_staff_scopes_alone_is_an_invalid_scope(browser: Client) -> None:
    application = register_application(name="Mod", redirect_uris=CALLBACK, scopes="admin:read")
    assert answer(browser.get(AUTHORIZE, ask(application, scope="admin:read")))["error"] == "invalid_scope"


def test_consent_is_not_asked_for_again_unless_force_login_is_sent(
    browser: Client, application: Application, person: User
) -> None:
    issue_token(application=application, user=person, scopes=["write", "read"])
    assert "code" in answer(browser.get(AUTHORIZE, ask(application)))
    assert browser.get(AUTHORIZE, ask(application, force_login="true")).status_code == 200
    assert browser.get(AUTHORIZE, ask(application, force_login="false")).status_code == 302
    assert browser.get(AUTHORIZE, ask(application, scope="read write follow")).status_code == 200


def test_trap_3_out_of_band_shows_the_code_on_a_page(browser: Client, application: Application) -> None:
    oob = "urn:ietf:wg:oauth:2.0:oob"
    done = browser.post(AUTHORIZE, ask(application, redirect_uri=oob, decision="allow"))
    assert done["Location"].startswith("/oauth/authorize/native?code=")
    code = answer(done)["code"]
    page = browser.get(done["Location"])
    assert page.status_code == 200
    assert code in page.content.decode()
    assert exchange(application, code, redirect_uri=oob).status_code == 200
    refused = browser.post(AUTHORIZE, ask(application, redirect_uri=oob, decision="deny"))
    assert refused.status_code == 400


def test_the_code_page_refuses_values_that_cannot_be_codes(client: Client) -> None:
    for bad in ("", "<script>alert(1)</script>", "a b", "x" * 129):
        assert client.get("/oauth/authorize/native", {"code": bad}).status_code == 400


@pytest.mark.parametrize(
    ("uri", "start"),
    [
        ("com.tapbots.Ivory.10217:/request_token", "com.tapbots.Ivory.10217:/request_token?code="),
        ("icecubesapp://", "icecubesapp://?code="),
        ("https://elk.example/api/a%2Fb/cb", "https://elk.example/api/a%2Fb/cb?code="),
        ("https://ü.example/ä", "https://%C3%BC.example/%C3%A4?code="),
    ],
)
def test_trap_3_every_kind_of_redirect_uri_gets_its_code(browser: Client, uri: str, start: str) -> None:
    application = register_application(name="x", redirect_uris=uri, scopes="read")
    done = browser.post(AUTHORIZE, ask(application, redirect_uri=uri, scope="read", decision="allow"))
    assert done["Location"].startswith(start)


def test_response_modes_of_the_metadata_work(browser: Client, application: Application) -> None:
    fragment = browser.post(AUTHORIZE, ask(application, response_mode="fragment", decision="allow"))
    assert fragment["Location"].startswith(f"{CALLBACK}#code=")
    page = browser.post(AUTHORIZE, ask(application, response_mode="form_post", state="<x>", decision="allow"))
    assert page.status_code == 200
    assert 'action="https://app.example/callback?keep=1"' in page.content.decode()
    assert 'value="&lt;x&gt;"' in page.content.decode()
    assert "form-action 'self' https://app.example;" in page["Content-Security-Policy"]


@pytest.mark.parametrize(
    ("uri", "source"),
    [
        (CALLBACK, "https://app.example"),
        ("com.example.app:/path", "com.example.app:"),
        ("http://localhost:8080/cb", "http://localhost:8080"),
        ("http://[::1]:8080/cb", "http:"),
        ("urn:ietf:wg:oauth:2.0:oob", None),
    ],
)
def test_row_46_forms_may_redirect_only_to_the_redirect_uri_of_the_application(
    person: User, uri: str, source: str | None
) -> None:
    application = register_application(name="x", redirect_uris=[uri, "https://other.example/"], scopes="read")
    asked = ask(application, redirect_uri=uri, scope="read")
    stranger, browser = Client(), Client()
    browser.force_login(person)
    sign_in = stranger.get(stranger.get(AUTHORIZE, asked)["Location"])
    for page in (browser.get(AUTHORIZE, asked), sign_in):
        policy = dict(part.split(" ", 1) for part in page["Content-Security-Policy"].split("; "))
        assert policy["form-action"] == ("'self'" if source is None else f"'self' {source}")


STATES = {
    "unconfirmed": "Confirm your address first",
    "unapproved": "Your account is waiting",
    "suspended": "Account suspended",
    "moved": "This account has moved",
}


@pytest.mark.parametrize("state", [*STATES])
def test_a_user_whose_account_cannot_be_used_sees_why_and_gets_no_code(
    browser: Client, application: Application, person: User, state: str
) -> None:
    match state:
        case "unconfirmed":
            EmailAddress.objects.filter(user=person).update(verified=False)
        case "unapproved":
            User.objects.filter(pk=person.pk).update(approved=False)
        case "suspended":
            Account.objects.filter(pk=person.account_id).update(suspended_at=clock.now())
        case "moved":
            Account.objects.filter(pk=person.account_id).update(moved_to=make_user().account)
    for response in (
        browser.get(AUTHORIZE, ask(application)),
        browser.post(AUTHORIZE, ask(application, decision="allow")),
    ):
        assert response.status_code == 403
        assert STATES[state] in response.content.decode()
    assert not Grant.objects.exists()


def test_disabling_a_user_ends_their_sessions(browser: Client, application: Application, person: User) -> None:
    User.objects.filter(pk=person.pk).update(disabled_at=clock.now())
    assert browser.get(AUTHORIZE, ask(application))["Location"].startswith("/auth/sign_in")


def test_another_site_cannot_make_a_browser_consent(application: Application, person: User) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(person)
    assert browser.post(AUTHORIZE, ask(application, decision="allow")).status_code == 403
    assert browser.delete(AUTHORIZE).status_code == 403
    assert not Grant.objects.exists()


def test_a_put_request_gets_no_authorization_code(browser: Client, application: Application, person: User) -> None:
    issue_token(application=application, user=person, scopes=["read", "write"])
    assert browser.put(f"{AUTHORIZE}?{urlencode(ask(application))}").status_code == 405


def test_the_page_is_in_the_language_asked_for(browser: Client, application: Application) -> None:
    page = browser.get(AUTHORIZE, ask(application, lang="ar")).content.decode()
    assert '<html lang="ar" dir="rtl">' in page
    assert 'action="/oauth/authorize?lang=ar"' in page


@pytest.mark.parametrize(
    ("uri", "place"),
    [
        ("https://\u0430pple.example/callback", "xn--pple-43d.example (\u0430pple.example)"),
        ("https://bank.example@thief.example/", "thief.example"),
        ("https://m\u00fcnchen.example:8443/x", "xn--mnchen-3ya.example:8443 (m\u00fcnchen.example:8443)"),
        ("https://app.example/callback", "app.example"),
    ],
)
def test_row_62_the_consent_page_shows_the_real_host_of_the_redirect_uri_first(
    browser: Client, uri: str, place: str
) -> None:
    application = register_application(
        name="\u202eknaB\u202c \u200bof\ufeff Nowhere", redirect_uris=uri, scopes="read", website=uri
    )
    text = browser.get("/oauth/authorize", ask(application, redirect_uri=uri, scope="read")).content.decode()
    assert f'You will be sent to <strong><bdi dir="ltr">{place}</bdi></strong>.' in text
    assert "Let <bdi>knaB of Nowhere</bdi> use your account?" in text
    assert text.index(place) < text.index("@ada@social.localhost") < text.rindex(place)
    sign_in = Client().get("/oauth/authorize", ask(application, redirect_uri=uri, scope="read"), follow=True)
    assert "<bdi>knaB of Nowhere</bdi>" in sign_in.content.decode()
