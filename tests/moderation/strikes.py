"""Helpers that read notifications and mails about strikes."""

from typing import Any

from django.core import mail

from accounts.models import User
from tests.factories.accounts import make_token
from tests.support.client import Api
from tests.support.work import work


def notified(user: User) -> list[dict[str, Any]]:
    """Return the user's notifications of strikes."""
    work()
    body: list[dict[str, Any]] = Api(make_token(user)).get("/api/v1/notifications").json()
    return [one for one in body if one["type"] == "moderation_warning"]


def link() -> str:
    """Return the path of the page linked in the only mail."""
    work()
    (letter,) = mail.outbox
    url = next(line for line in letter.body.splitlines() if "/disputes/" in line)
    return url[url.index("/disputes/") :]
