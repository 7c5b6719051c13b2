"""Notifications and mails about strikes."""

from __future__ import annotations

from typing import Any

from django.core import mail

from accounts.models import User
from tests.factories.accounts import make_token
from tests.support.client import Api
from tests.support.work import work


def notified(user: User) -> list[dict[str, Any]]:
    """Their notifications of strikes."""
    work()
    body: list[dict[str, Any]] = Api(make_token(user)).get("/api/v1/notifications").json()
    return [one for one in body if one["type"] == "moderation_warning"]


def link() -> str:
    """The path of the page that the only mail leads to."""
    work()
    (letter,) = mail.outbox
    url = next(line for line in letter.body.splitlines() if "/disputes/" in line)
    return url[url.index("/disputes/") :]
