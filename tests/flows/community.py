"""Users of a running server, whose client is Mastodon.py."""

import io
import time
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import mastodon
from PIL import Image

from tests.support.instance import Instance

PASSWORD = "correct horse battery"
SCOPES = ["read", "write", "follow", "push"]
PATIENCE = 40.0
T = TypeVar("T")


class Community:
    """A server on which staff approve sign-ups, with its owner and the other users by name."""

    def __init__(self, server: Instance) -> None:
        self.server = server
        made = server.create_account(
            "owner", "--role", "Owner", "--token", "read write follow push admin:read admin:write"
        )
        self.owner = self.client(made["access_token"])
        self.app = mastodon.Mastodon.create_app("Library", api_base_url=server.base_url, scopes=SCOPES)
        self.people: dict[str, mastodon.Mastodon] = {}

    def client(self, token: str | None = None) -> mastodon.Mastodon:
        return mastodon.Mastodon(access_token=token, api_base_url=self.server.base_url)

    def sign_up(self, name: str) -> mastodon.Mastodon:
        """Sign up a user, who then needs approval."""
        client_id, secret = self.app
        app = mastodon.Mastodon(client_id=client_id, client_secret=secret, api_base_url=self.server.base_url)
        email = f"{name}@example.com"
        token = app.create_account(name, PASSWORD, email, agreement=True, reason=f"I am {name}", scopes=SCOPES)
        return self.client(token)

    def __getitem__(self, name: str) -> mastodon.Mastodon:
        """Return the client of a user, after signing up and approving the user on first use."""
        if name not in self.people:
            self.people[name] = self.sign_up(name)
            (waiting,) = self.owner.admin_accounts_v2(status="pending", username=name)
            assert waiting.invite_request == f"I am {name}"
            self.owner.admin_account_approve(waiting)
        return self.people[name]

    def id(self, name: str) -> str:
        return str(self[name].me().id)

    def run(self, code: str) -> str:
        """Run code in the operator's shell, and return what it prints."""
        return self.server.manage("shell", "-v", "0", "-c", code).strip()


def ids(entities: Iterable[Any]) -> set[str]:
    return {str(entity.id) for entity in entities}


def eventually(ask: Callable[[], T], good: Callable[[T], Any]) -> T:
    deadline = time.monotonic() + PATIENCE
    while not good(answer := ask()) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert good(answer), answer
    return answer


def picture(colour: str) -> bytes:
    data = io.BytesIO()
    Image.new("RGB", (64, 48), colour).save(data, "PNG")
    return data.getvalue()
