"""Reads in which browsers somebody is signed in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.db.models import Exists, OuterRef, QuerySet

from accounts.models import User
from accounts.policies.browsers import Browser, browser_of
from social.kernel import clock

SESSIONS_SHOWN: Final = 100


@dataclass(frozen=True, slots=True)
class BrowserSession:
    """One browser in which a user is signed in. `last_seen` is noted once a day; `address` is the last one then."""

    id: int
    browser: Browser
    first_seen: datetime
    last_seen: datetime
    address: str
    current: bool


def live_sessions(user: User) -> QuerySet[UserSession]:
    """The user's sessions that have neither ended nor expired."""
    stored = Session.objects.filter(session_key=OuterRef("session_key"), expire_date__gt=clock.now())
    found: QuerySet[UserSession] = UserSession.objects.filter(Exists(stored), user=user)
    return found


def list_sessions(user: User, current_key: str | None) -> list[BrowserSession]:
    """The browsers used last, that with `current_key` first; at most SESSIONS_SHOWN, in one query."""
    found = live_sessions(user).order_by("-last_seen_at", "-id")[:SESSIONS_SHOWN]
    sessions = [
        BrowserSession(
            id=session.pk,
            browser=browser_of(session.user_agent, str(session.data.get("brands", ""))),
            first_seen=session.created_at,
            last_seen=session.last_seen_at,
            address=session.ip,
            current=session.session_key == current_key,
        )
        for session in found
    ]
    return sorted(sessions, key=lambda session: not session.current)
