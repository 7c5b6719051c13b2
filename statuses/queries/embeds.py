"""Finds the posts that may be shown in frames of other sites: what anybody may read, of people here."""

from __future__ import annotations

import re
from typing import Any, Final
from urllib.parse import urlsplit

from social.kernel import links
from social.kernel.errors import NotFound
from social.kernel.ids import parse_id
from statuses.models import Status
from statuses.queries.statuses import list_statuses

_PATH: Final = re.compile(r"/(?:@|users/)(?P<username>[A-Za-z0-9_.-]+)/(?:statuses/)?(?P<id>[0-9]{1,19})(?:/embed)?/?")


def find_embeddable(username: str, status_id: Any) -> Status:
    """The post of the local account with this name, with its `account`; never a boost.

    Raises NotFound alike for what does not exist and what not everybody may read.
    """
    number = parse_id(status_id)
    found = None
    if number is not None:
        posts = list_statuses(None).select_related("account").filter(id=number, local=True, reblog_of=None)
        found = posts.filter(account__username__iexact=username).first()
    if found is None:
        raise NotFound
    return found


def find_embeddable_at(url: str) -> Status:
    """The same by the address of its page, of its document, or of the frame itself. Raises NotFound."""
    try:
        parts = urlsplit(url)
    except ValueError:
        raise NotFound from None
    path = _PATH.fullmatch(parts.path)
    if path is None or f"{parts.scheme}://{parts.netloc}".lower() != links.web_url().lower():
        raise NotFound
    return find_embeddable(path["username"], path["id"])
