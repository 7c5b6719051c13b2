"""Tests of known attacks over HTTP; each test's name has the number of its security row.

docs/coverage.md lists the tests of the other rows.
"""

import json
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from allauth.socialaccount.adapter import get_adapter as socialaccount_adapter
from django.conf import settings as django_settings
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Account
from social.api.routing import endpoints
from social.kernel import clock
from social.urls import urlpatterns
from statuses.models import Status
from tests.conformance.people import Person
from tests.factories.accounts import make_remote, make_token, make_user
from tests.factories.statuses import make_media, make_remote_status
from tests.support.client import Api
from tests.support.federation_server import needs_federation

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.django_db
UPDATE = "/api/v1/accounts/update_credentials"
ACTIVITY = {"Accept": "application/activity+json"}
HOSTILE = '<script>alert(1)</script><img src=x onerror=alert(1)>"><svg/onload=alert(1)> javascript:alert(1)'


def test_row_6_activitypub_documents_cannot_be_uploaded_as_media(alice: Person) -> None:
    document = json.dumps({"id": f"{django_settings.BASE_URL}/users/alice", "type": "Person"})
    encoded = quote(document)
    answer = alice.api.post("/api/v2/media", {"file": f"data:application/activity+json,{encoded}"})
    assert answer.status_code in (400, 422)
    uploaded = alice.api.upload("POST", "/api/v2/media", file=document)
    assert uploaded.status_code in (400, 422)


def test_row_15_a_remote_post_whose_page_is_on_another_host_is_shown(alice: Person) -> None:
    remote = make_remote("zoe", "bridge.example", url="https://social-network.example/zoe")
    status = make_remote_status(remote, url="https://social-network.example/zoe/1")
    body = alice.read(f"statuses/{status.id}")
    assert (body["url"], body["account"]["url"]) == (status.url, remote.url)
    assert body["uri"].startswith("https://bridge.example/")


def test_row_27_and_28_no_sign_in_by_e_mail_address_or_ldap_exists() -> None:
    # Signing in through an issuer (tests/accounts/issuers) depends on identities, not on e-mail addresses.
    assert socialaccount_adapter().authenticate_by_email(None) is None
    assert all(
        name.startswith(("django.", "allauth.account.", "accounts."))
        for name in django_settings.AUTHENTICATION_BACKENDS
    )
    assert "ldap" not in (ROOT / "requirements" / "runtime.txt").read_text().lower()


@pytest.mark.parametrize("name", ["gone", "GONE", "Gone"])
def test_row_18_the_name_of_a_suspended_account_stays_taken(name: str) -> None:
    user = make_user("gone")
    Account.objects.filter(id=user.account_id).update(suspended_at=clock.now())
    form = {"username": name, "email": "new@example.com", "password": "correct horse", "agreement": True}
    answer = Api(make_token(None)).post("/api/v1/accounts", form)
    assert answer.status_code == 422
    assert answer.json()["details"]["username"][0]["error"] == "ERR_TAKEN"


def test_rows_19_and_20_objects_of_others_look_like_missing_ones(alice: Person, bob: Person) -> None:
    """A stranger requests private objects of another user, through every endpoint with a single id in its path. The test
    compares queries instead of response times, which vary.
    """
    private = alice.post("secret", visibility="private")
    direct = alice.post("secret", visibility="direct")
    bob.post("@alice hi")
    notified = alice.ids("notifications")[0]
    media = str(make_media(alice.account).id)
    things = {"statuses": [private["id"], direct["id"]], "notifications": [notified], "media": [media]}
    stranger = Person("stranger")
    stranger.read("timelines/home")  # The token is cached after this request.
    asked = 0
    for pattern in endpoints(urlpatterns):
        parts = pattern.path.split("/")
        if "<id>" not in parts or parts[0] != "api" or parts[2] not in things:
            continue
        for method in pattern.actions:
            for number in things[parts[2]]:
                answers, work = [], []
                for each in (number, "1"):
                    with CaptureQueriesContext(connection) as queries:
                        path = "/" + pattern.path.replace("<id>", each)
                        answers.append(stranger.api.request(method.upper(), path, {}))
                    work.append([re.sub(r"'[^']*'|\d+", "?", query["sql"]) for query in queries.captured_queries])
                foreign, unknown = answers
                assert foreign.status_code == 404, f"{method} {pattern.path}"
                assert foreign.content == unknown.content, f"{method} {pattern.path}"
                assert work[0] == work[1], f"different queries reveal {method} {pattern.path}"
                asked += 1
    assert asked >= 20
    assert alice.read(f"statuses/{private['id']}")["id"] == private["id"]
    assert alice.ids("notifications") == [notified]


def test_row_20_users_cannot_delete_public_posts_of_others(alice: Person, bob: Person) -> None:
    post = alice.post()
    assert bob.api.delete(f"/api/v1/statuses/{post['id']}").status_code == 404
    assert bob.read(f"statuses/{post['id']}")["id"] == post["id"]


def test_row_21_files_of_others_cannot_be_attached(alice: Person, bob: Person) -> None:
    media = str(make_media(alice.account).id)
    foreign = bob.api.post("/api/v1/statuses", {"status": "x", "media_ids": [media]})
    unknown = bob.api.post("/api/v1/statuses", {"status": "x", "media_ids": ["1"]})
    assert foreign.status_code == unknown.status_code == 422
    assert foreign.json()["error"].replace(media, "1") == unknown.json()["error"]
    assert not Status.objects.exists()


def test_row_22_only_its_recipients_read_a_direct_post(alice: Person, bob: Person) -> None:
    carol = Person("carol")
    carol.do(f"accounts/{alice.id}/follow")
    post = alice.post("@bob psst carol@social.localhost", visibility="direct")
    assert bob.read(f"statuses/{post['id']}")["id"] == post["id"]
    assert carol.api.get(f"/api/v1/statuses/{post['id']}").status_code == 404
    assert carol.read("notifications") == carol.read("timelines/home") == []


@pytest.mark.parametrize("spelling", ["{path}/", "{path}.json", "{path}/?x=1"])
def test_row_25_another_spelling_of_an_address_shares_its_limit(alice: Person, settings: Any, spelling: str) -> None:
    settings.RATE_LIMITS = True
    path = "/api/v1/timelines/public"
    first = Api().get(path)
    again = Api().get(
        spelling.format(path=path), headers={"X-Forwarded-For": "203.0.113.9", "X-Real-IP": "203.0.113.9"}
    )
    if again.status_code == 200:
        assert int(again["X-RateLimit-Remaining"]) == int(first["X-RateLimit-Remaining"]) - 1
    else:
        assert again.status_code == 404


def test_row_31_html_in_profiles_and_posts_is_escaped_everywhere(alice: Person, bob: Person) -> None:
    fields = [{"name": HOSTILE[:200], "value": HOSTILE[:200]}]
    sent = {"display_name": "<b>x</b>", "note": HOSTILE, "fields_attributes": fields}
    assert alice.api.patch(UPDATE, sent).status_code == 200
    post = alice.post(HOSTILE + " #<script>", spoiler_text="<i>")
    shown = [
        bob.read(f"accounts/{alice.id}"),
        bob.read(f"statuses/{post['id']}"),
        Api().get("/users/alice", headers=ACTIVITY).json(),
        Api().get(f"/users/alice/statuses/{post['id']}", headers=ACTIVITY).json(),
    ]
    for body in shown:
        for name, html in _html_of(body):
            low = html.lower()
            assert "<script" not in low, name
            assert "<img" not in low, name
            assert "<svg" not in low, name
            assert 'href="javascript' not in low, name
    assert shown[0]["display_name"] == "<b>x</b>", "clients escape plain text themselves"


def _html_of(body: dict[str, Any]) -> list[tuple[str, str]]:
    found = [(name, body[name]) for name in ("note", "content", "summary") if isinstance(body.get(name), str)]
    rows = [*body.get("fields", []), *body.get("attachment", [])]
    return found + [("value", row["value"]) for row in rows if "value" in row]


@pytest.mark.parametrize(
    "domain",
    [
        "x" * 3000 + ".example",
        "a b.example",
        "localhost",
        "a.example/x",
        "a.example:80",
        "1.2.3.4",
        "0x7f.1",
        "[::1]",
    ],
)
def test_row_37_attribution_domains_must_be_domains(alice: Person, domain: str) -> None:
    answer = alice.api.patch(UPDATE, {"attribution_domains": ["good.example", domain]})
    assert answer.status_code == 422
    assert answer.json()["details"]["attribution_domains"][0]["error"] == "ERR_INVALID_DOMAIN_ON_LINE"


@pytest.mark.parametrize(
    "resource",
    [
        "http://[",
        "acct:\x00@x",
        "acct:@",
        "https://",
        "acct:" + "a" * 2000,
        "acct:alice@xn--",
        "//social.localhost",
        "alice@[::1",
    ],
)
def test_row_14_an_invalid_webfinger_resource_causes_no_server_error(alice: Person, resource: str) -> None:
    answer = Api().get("/.well-known/webfinger", {"resource": resource})
    assert answer.status_code in (400, 404)


@needs_federation
def test_row_39_documents_for_signed_readers_are_not_cached(alice: Person) -> None:
    private = alice.post("secret", visibility="private")
    public = alice.post("hello")
    shown = Api().get(f"/users/alice/statuses/{public['id']}", headers=ACTIVITY)
    assert "Signature" in shown["Vary"]
    hidden = Api().get(f"/users/alice/statuses/{private['id']}", headers=ACTIVITY)
    assert hidden.status_code == 404
    assert "secret" not in hidden.content.decode()
    assert "public" not in hidden.headers.get("Cache-Control", "")
    assert alice.api.get(f"/api/v1/statuses/{private['id']}")["Cache-Control"] == "private, no-store"


def test_row_40_documents_do_not_show_what_the_api_hides(alice: Person, bob: Person) -> None:
    secrets = [alice.post(f"secret {name}", visibility=name) for name in ("private", "direct")]
    shown = [
        Api().get("/users/alice/outbox?page=true", headers=ACTIVITY),
        Api().get("/users/alice/collections/featured", headers=ACTIVITY),
        Api().get("/api/v1/timelines/public"),
        Api().get(f"/api/v1/accounts/{alice.id}/statuses"),
        Api().get("/"),
    ]
    for post in secrets:
        for name in ("", "/activity", "/replies", "/likes", "/shares"):
            answer = Api().get(f"/users/alice/statuses/{post['id']}{name}", headers=ACTIVITY)
            assert answer.status_code == 404, name
            shown.append(answer)
        shown.append(Api().get(f"/@alice/{post['id']}"))
    for answer in shown:
        assert "secret" not in answer.content.decode()


def test_row_42_no_list_returns_more_than_a_page(alice: Person) -> None:
    author = alice.account
    for number in range(42):
        make_remote_status(make_remote(), f"<p>{number}</p>", tags=[])
        if number < 3:
            alice.post(str(number))
    for limit in ("1000000000", "99999999999999999999", "-1000"):
        assert len(Api().get("/api/v1/timelines/public", {"limit": limit}).json()) == 40, limit
        assert len(Api().get(f"/api/v1/accounts/{author.id}/statuses", {"limit": limit}).json()) == 3
    assert len(Api().get("/api/v1/timelines/public").json()) == 20


@pytest.mark.parametrize("path", ["/inbox", "/users/alice/inbox", "/actor/inbox"])
def test_row_43_inboxes_are_no_public_collections(alice: Person, path: str) -> None:
    answer = Api().get(path, headers=ACTIVITY)
    assert answer.status_code in (404, 405)
    assert "orderedItems" not in answer.content.decode()
    assert "totalItems" not in answer.content.decode()


@pytest.mark.parametrize("scope", ["admin:read", "admin:write:accounts", "crypto", "unheard:of", "read unheard:of"])
def test_row_45_an_application_has_only_scopes_that_exist(scope: str) -> None:
    sent = {"client_name": "x", "redirect_uris": "urn:ietf:wg:oauth:2.0:oob", "scopes": scope}
    answer = Api().post("/api/v1/apps", sent)
    assert answer.status_code == (422 if "unheard" in scope else 200)


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        "data:text/html,x",
        "vbscript:x",
        "https://app.example/#fragment",
        "/relative",
        "app.example/callback",
    ],
)
def test_row_45_redirect_uris_with_dangerous_or_useless_schemes_are_refused(address: str) -> None:
    answer = Api().post("/api/v1/apps", {"client_name": "x", "redirect_uris": address})
    assert answer.status_code == 422


def test_rows_29_and_38_unconfirmed_users_cannot_use_the_api(bob: Person) -> None:
    user = make_user("dora", confirmed=False)
    api = Api(make_token(user))
    public = bob.post()
    for method, path in (
        ("POST", "statuses"),
        ("POST", f"accounts/{bob.id}/follow"),
        ("POST", f"statuses/{public['id']}/favourite"),
        ("GET", "timelines/home"),
        ("POST", "media"),
        ("GET", "accounts/verify_credentials"),
        ("PATCH", "accounts/update_credentials"),
    ):
        answer = api.request(method, f"/api/v1/{path}", {"status": "hello"})
        assert (answer.status_code, answer.json()) == (
            403,
            {"error": "Your login is missing a confirmed e-mail address"},
        ), path


@pytest.mark.parametrize(
    "word", ["password", "private_key", '"otp', "otp_", "secret", "sign_up_ip", "encrypted", "@example.com"]
)
def test_row_40_private_data_of_users_is_not_shown_to_others(alice: Person, bob: Person, word: str) -> None:
    alice.post()
    for path in (f"accounts/{alice.id}", "timelines/public", "accounts/lookup?acct=alice", "accounts/search?q=alice"):
        assert word not in json.dumps(bob.read(path)).lower(), path
    assert word not in Api().get("/users/alice", headers=ACTIVITY).content.decode().lower()
