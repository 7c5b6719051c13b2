"""A client program for tests, whose requests pass through all middleware."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson
from django.contrib import auth
from django.test import Client

from social.api import admission
from social.kernel import redis

if TYPE_CHECKING:
    from accounts.models import User


def forget_identities() -> None:
    """Clear the tokens that this process has cached."""
    admission._local.clear()
    admission._decoded.clear()


class Api:
    """`Api(token).get("/api/v1/...")`; responses have `.status_code`, `.json()` and headers by `["Link"]`."""

    def __init__(self, token: str | None = None) -> None:
        self.token = token
        self.client = Client(raise_request_exception=False)

    def _headers(self, headers: dict[str, str] | None) -> dict[str, str]:
        sent = dict(headers or {})
        if self.token is not None:
            sent.setdefault("Authorization", f"Bearer {self.token}")
        return sent

    def remember_token(self) -> None:
        """Cache the token in Redis, so that counted requests do not query the database for it.

        A process caches the token itself for a second, and does not store it in Redis during this time.
        """
        redis.client("cache").delete(redis.key("cache", "token", admission.checksum_of(self.token or "")))
        forget_identities()
        assert self.get("/api/v1/apps/verify_credentials").status_code == 200

    def request(
        self,
        method: str,
        path: str,
        data: Any = None,
        *,
        form: str | None = None,
        headers: dict[str, str] | None = None,
    ) -> Any:
        """Send a request; `data` is sent as JSON, `form` as an urlencoded body."""
        body, content_type = b"", "application/octet-stream"
        if form is not None:
            body, content_type = form.encode(), "application/x-www-form-urlencoded"
        elif data is not None:
            body, content_type = orjson.dumps(data), "application/json"
        return self.client.generic(method, path, body, content_type, headers=self._headers(headers))

    def get(self, path: str, data: dict[str, Any] | None = None, **options: Any) -> Any:
        """Send a GET request, with `data` in the query."""
        return self.client.get(path, data or {}, headers=self._headers(options.get("headers")))

    def post(self, path: str, data: Any = None, **options: Any) -> Any:
        return self.request("POST", path, data, **options)

    def put(self, path: str, data: Any = None, **options: Any) -> Any:
        return self.request("PUT", path, data, **options)

    def patch(self, path: str, data: Any = None, **options: Any) -> Any:
        return self.request("PATCH", path, data, **options)

    def delete(self, path: str, data: Any = None, **options: Any) -> Any:
        return self.request("DELETE", path, data, **options)

    def upload(self, method: str, path: str, **fields: Any) -> Any:
        from django.test.client import BOUNDARY, MULTIPART_CONTENT, encode_multipart

        body = encode_multipart(BOUNDARY, fields)
        return self.client.generic(method, path, body, MULTIPART_CONTENT, headers=self._headers(None))


def signed_in(user: User, **environment: Any) -> Client:
    """Return a browser in which the user has signed in, with a second factor if they have one."""
    browser = Client(**environment)
    browser.force_login(user)
    return browser


def is_signed_in(browser: Client) -> bool:
    """Return whether a user is signed in with the browser; asking a page would take longer."""
    return bool(auth.get_user(browser).is_authenticated)
