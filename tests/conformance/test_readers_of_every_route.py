"""Tests that every GET endpoint and every page shows a post only to permitted readers (contract, behaviours section 7).

Search, conversations, trends and timelines are among them (security rows 19 and 22).
"""

import itertools
import re
from collections.abc import Iterator
from typing import Any, Final

import pytest

from accounts.models import Account
from social.api.access import AccessKind
from social.api.routing import endpoints
from social.urls import urlpatterns
from statuses.models import PreviewCard, StatusCard
from tests.factories.accounts import make_token, make_user
from tests.factories.statuses import block, follow, make_reblog, make_status
from tests.support.client import Api
from tests.support.work import work
from timelines.models import List, ListMember, Trend, TrendKind, TrendReview

pytestmark = [pytest.mark.django_db, pytest.mark.verify]
_PARAMETER: Final = re.compile(r"<([a-z_]+)>")
_PAGES: Final = (
    "@author",
    "@author/{}",
    "@author/{}/embed",
    "tags/garden",
    "public",
    "public/local",
    "users/author/outbox",
)
LINK: Final = "https://site.example/garden"
#: The readers of a post of each visibility, keyed by a word that only this post contains.
READERS: Final = {
    "openword": {"nobody", "author", "follower", "mentioned", "stranger"},
    "nearword": {"author", "follower", "mentioned", "stranger"},
    "quietword": {"nobody", "author", "follower", "mentioned", "stranger"},
    "closeword": {"author", "follower", "mentioned"},
    "secretword": {"author", "mentioned"},
}
_VISIBILITIES: Final = dict(zip(READERS, ("public", "local", "unlisted", "private", "direct"), strict=True))


class World:
    """An author with a post of each visibility, and all data through which other endpoints could show these posts."""

    def __init__(self) -> None:
        users = {name: make_user(name) for name in ("author", "follower", "mentioned", "stranger", "blocked")}
        self.people: dict[str, Account] = {name: user.account for name, user in users.items()}
        author = self.people["author"]
        Account.objects.filter(id=author.id).update(discoverable=True, indexable=True)
        for name in ("follower", "blocked"):
            follow(self.people[name], author)
        # The stranger follows a follower of the author. Otherwise the stranger's home timeline would be empty in any case and
        # would prove nothing.
        follow(self.people["stranger"], self.people["follower"])
        self.posts = {
            word: make_status(author, f"{word} @mentioned #garden", visibility=visibility)
            for word, visibility in _VISIBILITIES.items()
        }
        card = PreviewCard.objects.create(url=LINK, title="Garden")
        for status in self.posts.values():
            StatusCard.objects.create(status=status, card=card, url=LINK)
            self._trend(TrendKind.STATUS, status.id)
        self._trend(TrendKind.LINK, card.id)
        for name in ("openword", "quietword"):
            make_reblog(self.people["follower"], self.posts[name])
        make_reblog(author, self.posts["closeword"])
        self.lists = {}
        for name in ("follower", "blocked"):
            found = List.objects.create(account=self.people[name], title="Garden")
            ListMember.objects.create(list=found, account=author)
            self.lists[name] = found.id
        block(author, self.people["blocked"])
        work()
        token_of = {name: make_token(user, "read write follow") for name, user in users.items()}
        self.viewers = {"nobody": Api()} | {name: Api(token) for name, token in token_of.items()}

    @staticmethod
    def _trend(kind: TrendKind, object_id: int) -> None:
        Trend.objects.create(kind=kind, object_id=object_id, score=5)
        TrendReview.objects.create(kind=kind, object_id=object_id, trendable=True)

    def requests(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """Yield requests to every page, and to every GET endpoint for users with every value of each of its parameters."""
        values = [str(status.id) for status in self.posts.values()]
        values += [str(self.people["author"].id), *map(str, self.lists.values())]
        for pattern in endpoints(urlpatterns):
            declared = pattern.actions.get("get")
            if (
                declared is None
                or "streaming" in pattern.path
                or pattern.declared("get").access.kind is AccessKind.STAFF
            ):
                continue
            names = _PARAMETER.findall(pattern.path)
            choices = [values if name == "id" or name.endswith("_id") else ["garden", "author"] for name in names]
            for chosen in itertools.product(*choices):
                path = pattern.path
                for name, value in zip(names, chosen, strict=True):
                    path = path.replace(f"<{name}>", value)
                yield f"/{path}", {"limit": "40", "url": LINK, "id[]": values}
            if not names:
                # The search terms contain none of the words; therefore a word in a response can only come from a result.
                for asked in ("from:author", "#garden", "garden"):
                    yield f"/{pattern.path}", {"q": asked, "limit": "40", "url": LINK}
        for page in _PAGES:
            for value in values if "{}" in page else [""]:
                yield f"/{page.format(value)}", {}

    def seen(self, viewer: str) -> dict[str, set[str]]:
        """Return the requests whose responses show the viewer a post, keyed by the word in the post."""
        found: dict[str, set[str]] = {word: set() for word in READERS}
        for path, params in self.requests():
            answer = self.viewers[viewer].get(path, params)
            if answer.status_code < 300 and not answer.streaming:
                text = answer.content.decode(errors="replace")
                for word in READERS:
                    if word in text:
                        found[word].add(path.replace(str(self.posts[word].id), "<post>"))
        return found


def test_every_route_shows_a_post_only_to_its_permitted_readers(settings: Any) -> None:  # security rows 19 and 22
    settings.RATE_LIMITS = False
    world = World()
    seen = {viewer: world.seen(viewer) for viewer in world.viewers}
    wrong = {
        (viewer, word): routes
        for viewer, words in seen.items()
        for word, routes in words.items()
        if routes and viewer not in READERS[word] and not (viewer == "blocked" and word in ("openword", "quietword"))
    }
    assert wrong == {}
    # The test requests pages without a token, so no block applies.
    of_blocked = {path for paths in seen["blocked"].values() for path in paths}
    assert {path for path in of_blocked if path.startswith("/api/v")} == set()
    shown = {word: set().union(*(seen[viewer][word] for viewer in READERS[word])) for word in READERS}
    expected = {
        "/api/v1/timelines/home": list(READERS),
        "/api/v1/statuses/<post>": list(READERS),
        "/api/v2/search": list(READERS),
        "/api/v1/conversations": ["secretword"],
        "/api/v1/timelines/link": ["openword", "nearword"],
        "/api/v1/timelines/public": ["openword", "nearword"],
        "/api/v1/timelines/tag/garden": ["openword", "nearword"],
        "/public": ["openword"],
        "/tags/garden": ["openword"],
        # Only public posts should trend, but others are added here, and even then only permitted readers may see them.
        "/api/v1/trends/statuses": list(READERS),
    }
    assert {route: [word for word in READERS if route in shown[word]] for route in expected} == expected
