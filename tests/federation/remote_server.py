"""A remote server for tests: it serves documents on a loopback port, has users with keys, and signs its requests."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from email.utils import format_datetime
from functools import lru_cache
from http.server import BaseHTTPRequestHandler
from typing import Any
from urllib.parse import parse_qs, urlsplit

from django.test import Client

from federation.signatures import keys
from social.kernel import clock, crypto
from tests.support.site import answering, listening

ACTIVITY = "application/activity+json"


@lru_cache(maxsize=3)
def pair(number: int = 1) -> tuple[str, str]:
    """Return a key pair (private, public), cached by number because generating one is slow."""
    return crypto.new_rsa_pair()


@dataclass
class Answer:
    """The response to a request for a path."""

    body: bytes
    content_type: str = ACTIVITY
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)


@dataclass
class Asked:
    """A request that the server received."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    def activity(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.body)
        return found


class RemoteServer:
    """A server that serves `pages` by path, and collects the requests in `asked`. Other paths return 404; `posts` contains the
    responses to POST requests.
    """

    def __init__(self) -> None:
        self.pages: dict[str, Answer] = {}
        self.posts: dict[str, Answer] = {}
        self.fingers: dict[str, dict[str, Any]] = {}
        self.asked: list[Asked] = []
        self.inbox_status = 202
        self.judge: Callable[[Asked], int] = lambda _asked: self.inbox_status
        self.before_answer: Callable[[], object] = lambda: None
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                server.asked.append(
                    Asked("GET", self.path, {name.lower(): value for name, value in self.headers.items()}, b"")
                )
                server.before_answer()
                self.answer(server.find(self.path))

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", "0")))
                headers = {name.lower(): value for name, value in self.headers.items()}
                server.asked.append(Asked("POST", self.path, headers, body))
                server.before_answer()
                found = server.posts.get(self.path)
                self.answer(found or Answer(b"", status=server.judge(server.asked[-1])))

            def answer(self, answer: Answer) -> None:
                self.send_response(answer.status)
                for name, value in answer.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Type", answer.content_type)
                self.send_header("Content-Length", str(len(answer.body)))
                self.end_headers()
                self.wfile.write(answer.body)

            def log_message(self, *arguments: Any) -> None:
                """Write no log."""

        self.http = listening(Handler)
        self.domain = f"localhost:{self.http.server_port}"
        self.url = f"http://{self.domain}"

    @contextmanager
    def running(self) -> Iterator[RemoteServer]:
        """Listen on the port during the block."""
        with answering(self.http):
            yield self

    def find(self, path: str) -> Answer:
        parts = urlsplit(path)
        if parts.path == "/.well-known/webfinger":
            found = self.fingers.get(parse_qs(parts.query).get("resource", [""])[0])
            if found is not None:
                return Answer(json.dumps(found).encode(), "application/jrd+json")
        return self.pages.get(parts.path, Answer(b"{}", status=404))

    def serve(self, document: Mapping[str, Any], path: str | None = None, **options: Any) -> Mapping[str, Any]:
        """Serve a document at the address in its id, or at `path` if given, and return the document."""
        where = path or urlsplit(str(document["id"])).path
        self.pages[where] = Answer(json.dumps(document).encode(), **options)
        return document

    def gets(self) -> list[str]:
        """Return the paths that were fetched."""
        return [asked.path for asked in self.asked if asked.method == "GET"]

    def delivered(self, *kinds: str) -> list[dict[str, Any]]:
        """Return the delivered activities; if types are given, only the activities of these types."""
        activities = [asked.activity() for asked in self.asked if asked.method == "POST"]
        return [activity for activity in activities if not kinds or activity["type"] in kinds]

    def uri(self, path: str) -> str:
        return f"{self.url}/{path}"

    def person(self, name: str, /, *, key: int = 1, **changes: Any) -> RemotePerson:
        """Create a remote user with an actor document and a WebFinger entry."""
        someone = RemotePerson(self, name, key)
        self.serve(someone.document() | changes)
        self.finger(name, someone.uri)
        return someone

    def rebuild(self, name: str) -> RemotePerson:
        """Return the user of this name after the server was set up from scratch: the id differs, and the old documents are
        gone.
        """
        new = RemotePerson(self, name, key=2)
        new.uri = self.uri(f"ap/users/{name}-2")
        new.key_id = f"{new.uri}#main-key"
        self.serve(new.document())
        self.finger(name, new.uri)
        self.pages[f"/users/{name}"] = Answer(b"{}", status=404)
        return new

    def swap(self, one: RemotePerson, other: RemotePerson) -> None:
        """Exchange the names of two users."""
        for who, name in ((one, other.name), (other, one.name)):
            self.serve(who.document() | {"preferredUsername": name})
            self.finger(name, who.uri)

    def finger(self, name: str, actor_uri: str, *, domain: str | None = None, subject: str | None = None) -> None:
        """Set the WebFinger response for a name."""
        acct = f"acct:{name}@{domain or self.domain}"
        link = {"rel": "self", "type": ACTIVITY, "href": actor_uri}
        self.fingers[acct] = {"subject": subject or acct, "links": [link]}


class RemotePerson:
    """A remote user, who can sign requests."""

    #: The collections in the actor document besides the followers; each is fetched for every new account.
    collections: tuple[str, ...] = ("outbox", "following")

    def __init__(self, home: RemoteServer, name: str, key: int = 1) -> None:
        self.home, self.name = home, name
        self.uri = home.uri(f"users/{name}")
        self.key_id = f"{self.uri}#main-key"
        self.private_key, self.public_key = pair(key)
        self._number = 0

    def document(self) -> dict[str, Any]:
        return {
            "@context": ["https://www.w3.org/ns/activitystreams", "https://w3id.org/security/v1"],
            "id": self.uri,
            "type": "Person",
            "preferredUsername": self.name,
            "name": self.name.title(),
            "summary": "<p>Hello</p>",
            "inbox": f"{self.uri}/inbox",
            "followers": f"{self.uri}/followers",
            "url": self.home.uri(f"@{self.name}"),
            "endpoints": {"sharedInbox": self.home.uri("inbox")},
            "publicKey": {"id": self.key_id, "owner": self.uri, "publicKeyPem": self.public_key},
        } | {name: f"{self.uri}/{name}" for name in self.collections}

    def activity(self, kind: str, obj: Any, **more: Any) -> dict[str, Any]:
        """Return an activity of this user with a new id."""
        self._number += 1
        return {
            "@context": "https://www.w3.org/ns/activitystreams",
            "id": f"{self.uri}#{kind.lower()}s/{self._number}",
            "type": kind,
            "actor": self.uri,
            "object": obj,
        } | more

    def note(self, content: str = "<p>hello</p>", number: int = 1, **more: Any) -> dict[str, Any]:
        """Return the document of a public post."""
        return {
            "id": f"{self.uri}/statuses/{number}",
            "type": "Note",
            "attributedTo": self.uri,
            "content": content,
            "published": clock.iso(clock.now()),
            "url": self.home.uri(f"@{self.name}/{number}"),
            "to": ["https://www.w3.org/ns/activitystreams#Public"],
            "cc": [f"{self.uri}/followers"],
        } | more

    def headers(self, path: str, body: bytes, **options: Any) -> dict[str, str]:
        """Return the headers of a signed request to this server; see `signed`."""
        return signed(self.private_key, self.key_id, path, body, **options)

    def send(self, activity: Mapping[str, Any] | bytes, path: str = "/inbox", **options: Any) -> Any:
        """Send an activity to an inbox of this server."""
        body = activity if isinstance(activity, bytes) else json.dumps(activity).encode()
        return post(path, body, self.headers(path, body, **options))

    def get(self, path: str) -> Any:
        """Request a document of this server with a signature."""
        headers = signed(
            self.private_key, self.key_id, path, None, method="GET", covered=("(request-target)", "host", "date")
        )
        return Client(raise_request_exception=False).get(path, headers={**headers, "accept": ACTIVITY})


def signed(
    private_key: str,
    key_id: str,
    path: str,
    body: bytes | None,
    *,
    method: str = "POST",
    host: str = "social.localhost",
    at: datetime | None = None,
    covered: tuple[str, ...] = ("(request-target)", "host", "date", "digest"),
    algorithm: str = "rsa-sha256",
    target: str | None = None,
    without: tuple[str, ...] = (),
    expires: float | None = None,
    **written: str,
) -> dict[str, str]:
    """Return headers signed according to draft-cavage; `without` names headers to omit, and `written` replaces headers."""
    headers = {"host": host, "date": format_datetime(at or clock.now(), usegmt=True)}
    if body is not None:
        headers["digest"] = f"SHA-256={base64.b64encode(hashlib.sha256(body).digest()).decode()}"
    headers |= written
    created = int((at or clock.now()).timestamp())
    lines = [
        f"(created): {created}"
        if name == "(created)"
        else f"(expires): {expires}"
        if name == "(expires)"
        else f"(request-target): {method.lower()} {target or path}"
        if name == "(request-target)"
        else f"{name}: {headers[name]}"
        for name in covered
    ]
    signature = keys.sign(private_key, "\n".join(lines))
    headers["signature"] = (
        f'keyId="{key_id}",algorithm="{algorithm}",created={created},headers="{" ".join(covered)}",signature="{signature}"'
    )
    if expires is not None:
        headers["signature"] += f",expires={expires}"
    return {name: value for name, value in headers.items() if name not in without}


def post(path: str, body: bytes, headers: Mapping[str, str]) -> Any:
    """Send a POST request to this server through all middleware."""
    return Client(raise_request_exception=False).generic("POST", path, body, ACTIVITY, headers=dict(headers))
