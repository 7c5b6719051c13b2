"""Tests of responses: content type, caching, CORS, language, ids and logs (contract, behaviours section 1)."""

import ipaddress
import json
import logging
from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings as django_settings
from django.contrib.sessions.middleware import SessionMiddleware
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory
from django.utils import translation
from django.utils.translation import gettext_lazy

from social.api import addresses
from social.api.middleware import RequestMiddleware
from social.api.responses import render
from social.kernel import errors
from tests.api.conftest import Tokens

PUBLIC = "/api/v1/access/public"
AccessLog = Callable[[], list[dict[str, Any]]]


@pytest.mark.usefixtures("callers")
@pytest.mark.parametrize("accept", ["*/*", "text/html", "application/activity+json", "image/png;q=1", "nonsense"])
@pytest.mark.parametrize("suffix", ["", "/"])
def test_the_answer_is_json_whatever_the_client_accepts(accept: str, suffix: str) -> None:
    """clients.md, trap 15. A trailing slash is accepted without a redirect."""
    response = Client().get(PUBLIC + suffix, headers={"Accept": accept})
    assert response.status_code == 200
    assert response.headers["Content-Type"] == "application/json; charset=utf-8"
    assert Client().post(PUBLIC + suffix, headers={"Accept": accept}).status_code == 200


def test_answers_to_requests_with_a_token_are_never_cached(callers: Tokens, get: Any) -> None:
    assert get(PUBLIC, token=callers.user_token()).headers["Cache-Control"] == "private, no-store"
    assert get(PUBLIC, token="wrong").headers["Cache-Control"] == "private, no-store"
    assert get(PUBLIC, access_token=callers.user_token()).headers["Cache-Control"] == "private, no-store"
    assert get("/api/v1/access/optional", token=callers.user_token()).headers["Vary"] == "Authorization, origin"


def test_public_answers_may_be_cached_briefly(callers: Tokens, get: Any) -> None:
    response = get(PUBLIC)
    assert response.headers["Cache-Control"] == "public, max-age=15"
    assert response.headers["Vary"] == "Authorization, origin"
    assert get("/api/v1/access/documented").headers["Cache-Control"] == "public, max-age=300"
    assert get("/api/v1/failures/created").headers["Cache-Control"] == "public, max-age=5"


def test_errors_and_answers_to_writes_are_never_cached(callers: Tokens, get: Any) -> None:
    for response in (get("/api/v1/access/person"), get("/api/v1/nothing"), Client().post(PUBLIC)):
        assert response.headers["Cache-Control"] == "private, no-store"


def test_other_sites_may_read_answers_and_their_headers(callers: Tokens, get: Any) -> None:
    """clients.md, trap 8."""
    exposed = {
        "Link",
        "X-RateLimit-Limit",
        "X-RateLimit-Remaining",
        "X-RateLimit-Reset",
        "X-Request-Id",
        "Mastodon-Async-Refresh",
    }
    for path in (PUBLIC, "/api/v1/access/person", "/api/v1/nothing"):
        response = Client().get(path, headers={"Origin": "https://elk.zone"})
        assert response.headers["Access-Control-Allow-Origin"] == "*"
        assert set(response.headers["Access-Control-Expose-Headers"].split(", ")) == exposed
        assert "Access-Control-Allow-Credentials" not in response.headers
        assert "origin" in response.headers["Vary"], (
            "caches must not serve a response without these headers to other sites"
        )


@pytest.mark.parametrize(
    "path", ["/api/v1/access/person", "/api/v1/nothing", "/oauth/token", "/oauth/revoke", "/.well-known/nodeinfo"]
)
def test_preflights_are_answered_without_authentication(callers: Tokens, path: str) -> None:
    response = Client().options(
        path,
        headers={
            "Origin": "https://elk.zone",
            "Access-Control-Request-Method": "POST",
            "Access-Control-Request-Headers": "authorization, idempotency-key",
        },
    )
    assert (response.status_code, response.content, response.get("Content-Type")) == (200, b"", None)
    assert response.headers["Access-Control-Allow-Origin"] == "*"
    assert response.headers["Access-Control-Allow-Methods"] == "GET, POST, PUT, PATCH, DELETE, OPTIONS"
    allowed = response.headers["Access-Control-Allow-Headers"].lower().split(", ")
    assert {"authorization", "content-type", "idempotency-key"} <= set(allowed)
    assert callers.asked == []


def test_other_sites_cannot_read_pages() -> None:
    response = Client().get("/pages/form", headers={"Origin": "https://elk.zone"})
    assert "Access-Control-Allow-Origin" not in response.headers


def test_head_works_for_every_get_and_options_only_for_preflights(callers: Tokens) -> None:
    assert Client().head(PUBLIC).status_code == 200
    assert Client().head(PUBLIC).content == b""
    assert Client().head("/api/v1/access/person").status_code == 401
    assert Client().options("/api/v1/tags/1").json() == {"error": "Not Found"}


def test_answers_have_a_content_length(callers: Tokens) -> None:
    """Without a Content-Length header, servers send the response in chunks."""
    body = Client().get(PUBLIC)
    assert body.headers["Content-Length"] == str(len(body.content))
    assert Client().get("/api/v1/nothing").headers["Content-Length"] == str(len(b'{"error":"Not Found"}'))
    assert Client().head(PUBLIC).headers["Content-Length"] == body.headers["Content-Length"]


def test_an_action_may_return_the_response_class_of_drf(callers: Tokens, get: Any) -> None:
    response = get("/api/v1/failures/drf")
    assert (response.status_code, response.json()) == (202, {"ok": True})
    assert response.headers["Content-Type"] == "application/json; charset=utf-8"


def test_statuses_and_headers_of_the_action_are_kept(callers: Tokens, get: Any) -> None:
    response = get("/api/v1/failures/created")
    assert (response.status_code, response.headers["Deprecation"]) == (201, "@1")


@pytest.mark.parametrize("sent", ["abcdef-12345", "0" * 64])
def test_a_valid_request_id_of_the_client_is_used(callers: Tokens, get: Any, sent: str) -> None:
    assert Client().get(PUBLIC, headers={"X-Request-Id": sent}).headers["X-Request-Id"] == sent


@pytest.mark.parametrize("sent", ["", "short", "x" * 65, "with space 12345", 'quote"12345', "ключ-123456"])
def test_any_other_request_id_is_replaced(callers: Tokens, sent: str) -> None:
    made = Client().get(PUBLIC, headers={"X-Request-Id": sent}).headers["X-Request-Id"]
    assert made != sent
    assert len(made) == 16


def test_messages_are_in_the_language_of_the_caller(callers: Tokens, get: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The order is: `?lang=`, the user's own language, Accept-Language, the server's language."""
    seen: list[str | None] = []

    class Explained(errors.NotFound):
        def __init__(self) -> None:
            seen.append(translation.get_language())
            super().__init__()

    monkeypatch.setattr(errors, "NotFound", Explained)
    german = callers.user_token(locale="de")

    def language(query: str = "", token: str | None = german, accept: str = "ar, en;q=0.5") -> str:
        headers = {"Accept-Language": accept} | ({"Authorization": f"Bearer {token}"} if token else {})
        Client().get(f"/api/v1/tags/none{query}", headers=headers)
        return str(seen[-1])

    assert language() == "de"
    assert language("?lang=ar") == "ar"
    assert language("?lang=xx") == "de"
    assert language(token=callers.user_token()) == "ar"
    assert language(token=callers.user_token(locale="tlh")) == "ar"
    assert language(token=callers.user_token(), accept="fr;q=0.9, de-AT;q=0.8") == "de"
    assert language(token=callers.user_token(), accept="") == django_settings.LANGUAGE_CODE
    assert translation.get_language() == django_settings.LANGUAGE_CODE, "the language of the thread is reset"


@pytest.mark.parametrize(
    ("body", "content_type"),
    [('{"lang": "ar"}', "application/json"), ("lang=ar", "application/x-www-form-urlencoded")],
)
def test_lang_is_read_from_the_body_too(
    callers: Tokens, monkeypatch: pytest.MonkeyPatch, body: str, content_type: str
) -> None:
    """Query and body are merged for every parameter (contract, parameters section 0); the query takes precedence."""
    seen: list[str | None] = []

    def noted(name: str) -> errors.BadRequest:
        seen.append(translation.get_language())
        return errors.BadRequest(name)

    monkeypatch.setattr(errors.BadRequest, "missing", noted)
    headers = {"Authorization": f"Bearer {callers.user_token(locale='de')}"}
    for query in ("", "?lang=en", "?lang=xx"):
        Client().post(f"/api/v1/tags{query}", body, content_type=content_type, headers=headers)
    assert seen == ["ar", "en", "de"]


@pytest.fixture
def access_log(settings: Any, caplog: pytest.LogCaptureFixture) -> AccessLog:
    settings.ACCESS_LOG = True
    caplog.set_level(logging.INFO, "social.access")
    return lambda: [record.__dict__ for record in caplog.records if record.name == "social.access"]


def test_the_access_log_names_the_request_and_no_secret(access_log: AccessLog, callers: Tokens, get: Any) -> None:
    """Security row 48."""
    token = callers.user_token()
    secret_path = "/accounts/password/reset/key/3-" + "c" * 40
    response = get("/api/v1/access/person", token=token)
    get("/api/v1/access/person", access_token=token)
    Client().post(f"/oauth/token?code={token}", {"access_token": token}, headers={"Cookie": f"session={token}"})
    get(secret_path)
    lines = access_log()
    assert len(lines) == 4
    assert {name: lines[0][name] for name in ("method", "path", "status", "address", "request_id")} == {
        "method": "GET",
        "path": "/api/v1/access/person",
        "status": 200,
        "address": "127.0.0.1",
        "request_id": response.headers["X-Request-Id"],
    }
    everything = json.dumps([str(line) for line in lines])
    assert token not in everything
    assert "c" * 40 not in everything


def test_a_path_cannot_send_control_characters_to_the_terminal_in_which_the_log_is_read(access_log: AccessLog) -> None:
    for path in ("/api/v1/%1b[2J", "/api/v1/x%0a2026 forged", "/api/v1/%00", "/api/v1/caf%C3%A9"):
        Client().get(path)
    paths = [line["path"] for line in access_log()]
    assert paths == ["/api/v1/\\x1b[2J", "/api/v1/x\\n2026 forged", "/api/v1/\\x00", "/api/v1/café"]


def test_requests_are_logged_only_if_the_operator_enables_it_and_health_checks_never(
    access_log: AccessLog, get: Any, settings: Any
) -> None:
    get("/health")
    assert access_log() == []
    get(PUBLIC)
    settings.ACCESS_LOG = False
    get(PUBLIC)
    assert [line["path"] for line in access_log()] == [PUBLIC]


@pytest.mark.parametrize(
    ("remote", "forwarded", "trusted", "expected"),
    [
        ("203.0.113.5", "198.51.100.1", (), "203.0.113.5"),
        ("10.0.0.1", "198.51.100.1", ("10.0.0.0/8",), "198.51.100.1"),
        ("10.0.0.1", "1.2.3.4, 198.51.100.1, 10.0.0.9", ("10.0.0.0/8",), "198.51.100.1"),
        ("10.0.0.1", "1.2.3.4, nonsense, 10.0.0.9", ("10.0.0.0/8",), "10.0.0.9"),
        ("203.0.113.5", "198.51.100.1", ("10.0.0.0/8",), "203.0.113.5"),
        ("", "198.51.100.1", ("10.0.0.0/8",), "198.51.100.1"),
        ("", "198.51.100.1", (), "0.0.0.0"),
        ("::1", "[2001:db8::1]:443", ("::1/128",), "2001:db8::1"),
        ("::ffff:10.0.0.1", "198.51.100.1:5000", ("10.0.0.0/8",), "198.51.100.1"),
        ("10.0.0.1", "", ("10.0.0.0/8",), "10.0.0.1"),
        # Proxies that hide the client's address send this value.
        ("10.0.0.1", "0.0.0.0", ("10.0.0.0/8",), "0.0.0.0"),
        ("10.0.0.1", "unknown", ("10.0.0.0/8",), "10.0.0.1"),
    ],
)
def test_only_trusted_proxies_set_the_clients_address(
    settings: Any, remote: str, forwarded: str, trusted: tuple[str, ...], expected: str
) -> None:
    """Security row 25."""
    settings.TRUSTED_PROXIES = tuple(ipaddress.ip_network(item) for item in trusted)
    assert addresses.find({"REMOTE_ADDR": remote, "HTTP_X_FORWARDED_FOR": forwarded}) == expected


def test_ipv4_addresses_are_counted_singly_and_ipv6_addresses_by_their_64_bit_prefix() -> None:
    assert addresses.rate_key("203.0.113.5") == "203.0.113.5"
    assert addresses.rate_key("2001:db8:1:2:3:4:5:6") == "2001:db8:1:2::/64"
    assert addresses.rate_key("::ffff:203.0.113.5") == "203.0.113.5"


def test_actions_see_the_address_and_an_anonymous_caller(callers: Tokens, get: Any) -> None:
    assert get(PUBLIC).json() == {"user": None, "address": "127.0.0.1", "authenticated": False}
    assert get(PUBLIC, token=callers.app_token()).json()["authenticated"] is False
    assert get(PUBLIC, token=callers.user_token()).json()["authenticated"] is True


@pytest.mark.parametrize("written", ["https", "HTTPS", "https,http", "https, https"])
def test_the_scheme_of_a_request_is_taken_only_from_a_trusted_proxy(settings: Any, written: str) -> None:
    seen: list[str | None] = []

    def view(request: HttpRequest) -> HttpResponse:
        seen.append(request.scheme)
        return HttpResponse()

    for trusted in ((), (ipaddress.ip_network("127.0.0.0/8"),)):
        settings.TRUSTED_PROXIES = trusted
        RequestMiddleware(view)(RequestFactory().get("/pages/form", headers={"X-Forwarded-Proto": written}))
    assert seen == ["http", "https"]


def test_the_api_does_not_use_sessions_and_pages_do(callers: Tokens, get: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[str] = []
    process = SessionMiddleware.process_request

    def noted(self: SessionMiddleware, request: HttpRequest) -> None:
        opened.append(request.path)
        process(self, request)

    monkeypatch.setattr(SessionMiddleware, "process_request", noted)
    get(PUBLIC)
    get("/pages/form")
    assert opened == ["/pages/form"]


def test_lazy_texts_and_plain_collections_can_be_encoded() -> None:
    assert (
        render({"a": gettext_lazy("English"), "b": (1, 2), "c": {"y", "x"}})
        == b'{"a":"English","b":[1,2],"c":["x","y"]}'
    )
    with pytest.raises(TypeError):
        render({"a": object()})


@pytest.mark.parametrize("proto", [None, "https", "https, http", "http", "http, https"])
def test_browsers_stay_with_https_where_the_server_uses_it(settings: Any, proto: str | None) -> None:
    settings.STRICT_TRANSPORT_SECURITY = "max-age=63072000"
    headers = {"X-Forwarded-Proto": proto} if proto else {}
    for path in (PUBLIC, "/nowhere"):
        found = Client().get(path, headers=headers).headers.get("Strict-Transport-Security")
        assert found == (None if (proto or "").startswith("http,") or proto == "http" else "max-age=63072000"), path
    settings.STRICT_TRANSPORT_SECURITY = ""
    assert "Strict-Transport-Security" not in Client().get(PUBLIC).headers
