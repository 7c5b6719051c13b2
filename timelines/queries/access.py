"""Reads how open the public timelines are."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Final

from accounts.models import SiteSetting, User
from accounts.models.user import Permission
from timelines.policies.access import HASHTAG, LIVE, FeedAccess

SETTING: Final = "timelines_access"
"""The key of the site setting: `{"live_feeds": {"local": "public", "remote": "disabled"}, "hashtag_feeds": ..}`."""

_SECONDS: Final = 2.0
_kept: tuple[float, Mapping[str, Any]] = (float("-inf"), {})


def load_access(kind: str) -> FeedAccess:
    """How open the feeds of a kind are. Remembered for two seconds: it is asked on every page of a public timeline."""
    global _kept
    read_at, setting = _kept
    if time.monotonic() - read_at > _SECONDS:
        value = SiteSetting.objects.filter(key=SETTING).values_list("value", flat=True).first()
        setting = value if isinstance(value, dict) else {}
        _kept = (time.monotonic(), setting)
    return FeedAccess.of(setting, kind)


def load_accesses() -> tuple[FeedAccess, ...]:
    """How open every kind of feed is: equal to an earlier answer as long as nobody has changed the setting."""
    return tuple(load_access(kind) for kind in (LIVE, HASHTAG))


def forget_access() -> None:
    """Ask the database next time: for tests, and for whoever has just changed the setting."""
    global _kept
    _kept = (float("-inf"), {})


def load_origins(kind: str, viewer_id: int | None, *, local: bool, remote: bool) -> tuple[bool, bool] | None:
    """Of the origins asked for, those the viewer is shown: (local, remote). None when a user is needed and there is
    none.

    One query more when a feed is disabled: the viewer's role may open it (`view_feeds`).
    """
    access = load_access(kind)
    if viewer_id is None and access.wants_user(local=local, remote=remote):
        return None
    origins = access.opened(local=local, remote=remote, may_view_all=False)
    if origins != (local, remote) and viewer_id is not None:
        user = User.objects.select_related("role").filter(account_id=viewer_id).first()
        may_view_all = user is not None and user.role.can(Permission.VIEW_FEEDS)
        origins = access.opened(local=local, remote=remote, may_view_all=may_view_all)
    return origins
