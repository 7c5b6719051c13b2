"""An issuer of OpenID Connect on this machine, which signs in the user that a test names.

The issuer has its own keys. Helpers follow a browser's redirects to it and back.
"""

import re
import time
from base64 import b64decode, urlsafe_b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from hashlib import sha256
from html import unescape
from http.server import BaseHTTPRequestHandler
from secrets import token_urlsafe
from typing import Any
from urllib.parse import parse_qs, unquote, urlencode, urlsplit

import orjson
from allauth.socialaccount.models import SocialAccount
from django.test import Client
from jwcrypto.jwk import JWK
from jwcrypto.jwt import JWT

from accounts.models import User
from social.settings.issuers import Issuer
from tests.factories.accounts import make_user
from tests.support.site import answering, listening

CLIENT = "social"
SECRET = "a secret of the client"  # a secret for tests only
#: The form values of a new user.
NEW = {"username": "ann", "email": "ann@org.example", "agreement": "on"}


@cache
def key(name: str) -> JWK:
    """Return a key pair, cached because generating it is slow."""
    return JWK.generate(kty="RSA", size=2048, kid=name, use="sig")


class TestIssuer:
    """The issuer, with settings that make it misbehave.

    `person` contains the claims about the user who signs in; `changed` contains wrong claims for the ID token, with None for a
    claim to leave out; `sign` creates a token from claims. `broken` maps the path of an endpoint to the kind of wrong response
    that the endpoint gives: "slow", "huge", "redirect" or "text".
    """

    __test__ = False

    def __init__(self, path: str = "") -> None:
        self.key = key("first")
        self.person: dict[str, Any] = {"sub": "4711", "preferred_username": "ann", "email": "ann@org.example"}
        self.changed: dict[str, Any] = {}
        self.configured: dict[str, Any] = {}
        self.info: dict[str, Any] = {}
        self.asked: list[str] = []
        self.broken: dict[str, str] = {}
        self.codes: dict[str, dict[str, str]] = {}
        self.sign = self.signed
        issuer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                parts = urlsplit(self.path)
                issuer.asked.append(parts.path)
                if parts.path == f"{path}/authorize":
                    self.send_response(302)
                    self.send_header("Location", issuer.consent(dict(_flat(parts.query))))
                    self.end_headers()
                    return
                self.respond(200, issuer.document(parts.path.removeprefix(path), self.headers))

            def do_POST(self) -> None:
                issuer.asked.append(self.path)
                sent = dict(_flat(self.rfile.read(int(self.headers["Content-Length"])).decode()))
                kind, _space, pair = self.headers.get("Authorization", "").partition(" ")
                if kind == "Basic":
                    names = map(unquote, b64decode(pair).decode().split(":"))
                    sent |= dict(zip(("client_id", "client_secret"), names, strict=True))
                found = issuer.exchange(sent)
                self.respond(200 if found else 400, found or {"error": "invalid_grant"})

            def respond(self, status: int, body: Any) -> None:
                broken = issuer.broken.get(urlsplit(self.path).path)
                data = {"text": b"[1]", "huge": b" " * 600_000}.get(broken or "", orjson.dumps(body))
                if broken == "slow":
                    time.sleep(1)
                self.send_response(307 if broken == "redirect" else status)
                self.send_header("Location", f"{issuer.url}/elsewhere")
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: Any) -> None:
                pass

        self.http = listening(Handler)
        self.url = f"http://127.0.0.1:{self.http.server_port}{path}"

    def settings(self, **changed: Any) -> Issuer:
        """Return the issuer as this server's settings configure it."""
        values = {"id": "org", "name": "The Organisation", "issuer": self.url, "client_id": CLIENT}
        return Issuer(**values | {"client_secret": SECRET} | changed)

    def consent(self, asked: dict[str, str]) -> str:
        """Return the address, with a code, to which the issuer redirects a browser after the sign-in."""
        code = token_urlsafe(8)
        self.codes[code] = asked
        return f"{asked['redirect_uri']}?{urlencode({'code': code, 'state': asked['state']})}"

    def exchange(self, sent: dict[str, str]) -> dict[str, Any] | None:
        """Return the tokens for a code. A code works once, and only for the client and the browser to which it was given."""
        asked = self.codes.pop(sent.get("code", ""), None)
        challenge = urlsafe_b64encode(sha256(sent.get("code_verifier", "").encode()).digest()).rstrip(b"=").decode()
        if asked is None or (sent.get("client_id"), sent.get("client_secret")) != (CLIENT, SECRET):
            return None
        if challenge != asked["code_challenge"] or sent["redirect_uri"] != asked["redirect_uri"]:
            return None
        now = int(time.time())
        claims = {"iss": self.url, "aud": CLIENT, "nonce": asked["nonce"], "iat": now, "exp": now + 300, **self.person}
        claims = {name: value for name, value in {**claims, **self.changed}.items() if value is not None}
        return {"access_token": "access", "token_type": "Bearer", "id_token": self.sign(claims)}

    def signed(self, claims: dict[str, Any], **header: Any) -> str:
        """Return a token with the issuer's signature."""
        token = JWT(header={"alg": "RS256", "kid": self.key.get("kid"), **header}, claims=claims)
        token.make_signed_token(self.key)
        return str(token.serialize())

    def document(self, path: str, headers: Any) -> Any:
        if path == "/.well-known/openid-configuration":
            names = {"authorization_endpoint": "authorize", "token_endpoint": "token", "jwks_uri": "keys"}
            names |= {"userinfo_endpoint": "userinfo", "end_session_endpoint": "end"}
            found = {name: f"{self.url}/{place}" for name, place in names.items()}
            return {"issuer": self.url, **found, **self.configured}
        if path == "/keys":
            return {"keys": [self.key.export_public(as_dict=True)]}
        if path == "/userinfo" and headers["Authorization"] == "Bearer access":
            return self.person | self.info
        return {"page": "of the issuer"}


def begin(browser: Client, path: str = "/auth/with/org", **form: Any) -> str:
    """Start a sign-in, and return the address of the issuer to which it leads."""
    page = browser.post(path, form)
    assert page.status_code == 200, page.content
    (address,) = re.findall(r'http-equiv="refresh" content="0;url=([^"]+)"', page.content.decode())
    return unescape(address)


def come_back(browser: Client, issuer: TestIssuer, address: str) -> Any:
    """Sign in at the issuer, follow its redirect, and return the response."""
    return browser.get(way_back(issuer, address))


def way_back(issuer: TestIssuer, address: str) -> str:
    """Return the local address to which the issuer redirects after the request `address`, with a code."""
    back = urlsplit(issuer.consent(asked_in(address)))
    return f"{back.path}?{back.query}"


def asked_in(address: str) -> dict[str, str]:
    """Return the parameters of an authorization request."""
    return dict(_flat(urlsplit(address).query))


def sign_in(browser: Client, issuer: TestIssuer, **form: Any) -> Any:
    return come_back(browser, issuer, begin(browser, **form))


def is_signed_in(browser: Client, user: User | None = None) -> bool:
    number = browser.session.get("_auth_user_id")
    return number is not None and (user is None or number == str(user.pk))


def member(issuer: TestIssuer, **values: Any) -> User:
    """Create a user who signs in through the issuer."""
    user = make_user(**values)
    SocialAccount.objects.create(user=user, provider="org", uid=issuer.person["sub"], extra_data={"name": "ann"})
    return user


def _flat(query: str) -> Iterator[tuple[str, str]]:
    return ((name, values[0]) for name, values in parse_qs(query).items())


@contextmanager
def issuing() -> Iterator[TestIssuer]:
    """Run an issuer during the block."""
    issuer = TestIssuer()
    with answering(issuer.http):
        yield issuer
