"""Tests that no route shows anything of a suspended account to any viewer, even from a cache.

See users.md B2 21 and security row 13.
"""

import itertools
import re
from collections.abc import Iterator
from typing import Any, Final

import pytest
from django.test import Client

from accounts.collections.policies import CollectionDraft
from accounts.collections.services.local import create_collection
from accounts.policies.staff import OPERATOR
from accounts.services import sanctions
from accounts.services.audit import write_setting
from accounts.services.following import FollowChange, follow_account
from accounts.services.private import endorse_account
from social.api.access import AccessKind
from social.api.routing import endpoints
from social.urls import urlpatterns
from statuses.models import Bookmark, Status
from statuses.services.interactions import favourite_status, reblog_status
from statuses.services.pins import feature_used_tag
from tests.factories.accounts import make_token, make_user
from tests.factories.statuses import make_status
from tests.support.client import Api
from tests.support.work import work
from timelines.models import Trend, TrendKind, TrendReview
from timelines.queries.trends import TRENDS_SETTING
from timelines.services.lists import ListDraft, add_members, create_list

WORDS: Final = ("Unseenname", "unseenword")
_PARAMETER: Final = re.compile(r"<([a-z_]+)>")
_PAGES: Final = (
    "/@ann",
    "/@ann/{post}",
    "/@bea",
    "/@bea/{answer}",
    "/@ann/tagged/unseen",
    "/@ann/{post}/embed",
    "/@bea/{quote}",
    "/@bea/{quote}/embed",
    "/collections/{collection}",
    "/collections/{of_bea}",
    "/tags/unseen",
    "/public",
    "/public/local",
    "/users/ann",
    "/users/ann/outbox",
    "/users/ann/outbox?page=true",
    "/users/ann/statuses/{post}",
    "/users/ann/collections/featured",
    "/users/ann/collections/tags",
    "/users/bea/statuses/{quote}",
    "/api/oembed?url=http://testserver/@ann/{post}",
)


class World:
    """Ann, who posts, and others through whose actions her posts appear elsewhere."""

    def __init__(self) -> None:
        self.ann = make_user("ann", display_name="Unseenname", note="unseenword about me", discoverable=True)
        self.bea, self.cat = make_user("bea", discoverable=True), make_user("cat")
        for follower, target in ((self.bea, self.ann), (self.ann, self.bea), (self.cat, self.bea)):
            follow_account(account=follower.account, target=target.account, change=FollowChange())
        self.post = make_status(self.ann.account, "unseenword #unseen")
        self.answered = make_status(self.bea.account, "what do you think?")
        self.answer = make_status(self.ann.account, "unseenword @bea", reply_to=self.answered)
        self.boost = reblog_status(account=self.bea.account, status=self.post)
        favourite_status(account_id=self.bea.account_id, status=self.post)
        favourite_status(account_id=self.ann.account_id, status=self.answered)
        reblog_status(account=self.ann.account, status=self.answered)
        Bookmark.objects.create(account=self.bea.account, status=self.post)
        self.message = make_status(self.ann.account, "unseenword @bea, between us", visibility="direct")
        quoting = {"status": "look at this", "quoted_status_id": str(self.post.id)}
        quoted = Api(make_token(self.bea, "read write")).post("/api/v1/statuses", quoting).json()
        assert quoted["quote"]["state"] == "accepted"
        self.quote = Status.objects.get(id=int(quoted["id"]))
        values = {"name": "Good people", "description": "unseenword", "sensitive": False, "discoverable": True}
        self.collection = create_collection(
            user=self.ann, draft=CollectionDraft(values), account_ids=[self.bea.account_id]
        )
        values = {"name": "Others", "description": "", "sensitive": False, "discoverable": True}
        self.of_bea = create_collection(user=self.bea, draft=CollectionDraft(values), account_ids=[self.ann.account_id])
        self.list = create_list(account_id=self.bea.account_id, draft=ListDraft(title="Mine"))
        add_members(found=self.list, account_ids=[self.ann.account_id])
        endorse_account(account=self.bea.account, target=self.ann.account)
        feature_used_tag(account=self.ann.account, name="unseen")
        write_setting(TRENDS_SETTING, True)
        Trend.objects.create(kind=TrendKind.STATUS, object_id=self.post.id, score=5)
        TrendReview.objects.create(kind=TrendKind.STATUS, object_id=self.post.id, trendable=True)
        work()
        scopes = "read write follow"
        self.viewers = {
            "nobody": Api(),
            "the follower": Api(make_token(self.bea, scopes)),
            "a stranger": Api(make_token(self.cat, scopes)),
        }

    def values_in(self, path: str) -> list[str]:
        """Return the ids to request for the parameter of a path."""
        if "api/v1/collections" in path:
            return [str(self.collection.id), str(self.of_bea.id)]
        if "/lists/" in path or "/list/" in path:
            return [str(self.list.id)]
        return self.values

    @property
    def values(self) -> list[str]:
        """Return the ids of the accounts and posts."""
        boost = Status.objects.filter(account=self.bea.account, reblog_of=self.post).get()
        rows = (
            self.ann.account,
            self.bea.account,
            self.post,
            self.answered,
            self.answer,
            boost,
            self.message,
            self.quote,
        )
        return [str(row.id) for row in rows]

    def requests(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield requests to every GET route for users, with every value of each of its parameters."""
        for pattern in endpoints(urlpatterns):
            declared = pattern.actions.get("get")
            if declared is None or pattern.declared("get").access.kind is AccessKind.STAFF:
                continue
            names = _PARAMETER.findall(pattern.path)
            values = self.values_in(pattern.path)
            choices = [values if name == "id" or name.endswith("_id") else ["unseen", "ann"] for name in names]
            for chosen in itertools.product(*choices):
                path = pattern.path
                for name, value in zip(names, chosen, strict=True):
                    path = path.replace(f"<{name}>", value)
                yield f"/{path}", {}
                if not names:
                    yield f"/{path}", {"q": "unseenword", "acct": "ann", "id[]": self.values, "limit": "40"}
                    yield f"/{path}", {"q": "ann", "with_suspended": "true", "id[]": self.values}

    def seen(self) -> dict[tuple[str, str, str], str]:
        """Return the texts of the responses that contain one of WORDS, keyed by viewer and request."""
        found = {}
        for viewer, api in self.viewers.items():
            for path, params in self.requests():
                if "streaming" in path:
                    continue
                answer = api.get(path, params)
                if answer.status_code < 300 and not answer.streaming:
                    text = answer.content.decode(errors="replace")
                    if any(word in text for word in WORDS):
                        found[viewer, path, str(params)] = text
        for page in _PAGES:
            path = page.format(
                post=self.post.id,
                answer=self.answered.id,
                quote=self.quote.id,
                collection=self.collection.id,
                of_bea=self.of_bea.id,
            )
            for accept in ("text/html", "application/activity+json"):
                answer = Client(raise_request_exception=False).get(path, headers={"Accept": accept})
                text = b"".join(answer.streaming_content).decode() if answer.streaming else answer.content.decode()
                if answer.status_code < 300 and any(word in text for word in WORDS):
                    found["nobody", path, accept] = text
        return found


@pytest.mark.verify
@pytest.mark.django_db
def test_row_13_nothing_of_a_suspended_account_is_shown_on_any_route(settings: Any) -> None:
    settings.RATE_LIMITS = False
    world = World()
    before = world.seen()
    shown = {path for _viewer, path, _params in before}
    assert len(shown) > 20, sorted(shown)
    for path in (
        "/api/v1/trends/statuses",
        "/api/v1/conversations",
        f"/api/v1/timelines/list/{world.list.id}",
        f"/api/v1/collections/{world.of_bea.id}",
        f"/api/v1/accounts/{world.bea.account_id}/endorsements",
        "/api/v2/search",
        f"/collections/{world.of_bea.id}",
    ):
        assert path in shown, path
    sanctions.suspend_account(by=OPERATOR, account=world.ann.account)
    work()
    assert {key: text[:300] for key, text in world.seen().items()} == {}
    sanctions.unsuspend_account(by=OPERATOR, account=world.ann.account)
    work()
    assert set(before) - set(world.seen()) == set()
