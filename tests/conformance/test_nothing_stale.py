"""Tests that caches never show outdated rows: after each change every endpoint returns the same with and without caches.

See `social.kernel.fragments` and `accounts.serializers.own_account`.
"""

from collections.abc import Callable
from typing import Any, Final

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from accounts.identity.services import staff
from accounts.models import User
from accounts.policies.staff import OPERATOR
from accounts.serializers import own_account
from accounts.services import sanctions
from accounts.services.preferences import PreferencesChange, change_preferences
from social.kernel import redis
from statuses.services import moderating
from tests.conformance.people import Person
from tests.factories.accounts import make_remote
from tests.factories.statuses import make_media, make_remote_status, picture
from tests.support.access_checks import reading_routes
from tests.support.client import Api
from tests.support.work import work

pytestmark = [pytest.mark.django_db, pytest.mark.verify]


Change = Callable[["World"], Any]
POST_ROUTES: Final = reading_routes("api/v1/statuses/<id>")


class World:
    """An author whose account and posts appear in as many places as possible, and three viewers."""

    def __init__(self) -> None:
        self.author, self.reader = Person("author"), Person("reader")
        author, reader = self.author, self.reader
        self.update(discoverable=True, indexable=True)
        reader.do(f"accounts/{author.id}/follow")
        author.do(f"accounts/{reader.id}/follow")
        media = make_media(author.account, "a cat")
        self.media = str(media.id)
        self.post = author.post("#cats @reader flower", media_ids=[self.media], language="en")["id"]
        self.poll = author.post("which?", poll={"options": ["a flower", "b"], "expires_in": 3600})
        self.quoting = reader.post("look", quoted_status_id=self.post)["id"]
        self.answer = reader.post("@author yes", in_reply_to_id=self.post)["id"]
        self.direct = author.post("@reader psst", visibility="direct")["id"]
        self.boost = reader.do(f"statuses/{self.post}/reblog")["id"]
        self.stranger = make_remote("stranger")
        self.foreign = str(make_remote_status(self.stranger, "<p>far flower</p>").id)
        for number in (self.foreign, self.post):
            reader.do(f"statuses/{number}/bookmark")
            reader.do(f"statuses/{number}/favourite")
        author.do(f"statuses/{self.foreign}/reblog")
        author.do(f"statuses/{self.post}/pin")
        self.list = reader.do("lists", {"title": "List"})["id"]
        reader.do(f"lists/{self.list}/accounts", {"account_ids": [author.id]})
        self.viewers = {"author": author.api, "reader": reader.api, "nobody": Api()}

    def update(self, **sent: Any) -> None:
        answer = self.author.api.patch("/api/v1/accounts/update_credentials", sent)
        assert answer.status_code == 200, answer.content

    def routes(self) -> list[str]:
        person, number = self.author.id, self.post
        accounts = (f"accounts/{each}" for each in (person, self.reader.id, self.stranger.id))
        posts = (self.post, self.poll["id"], self.quoting, self.answer, self.direct, self.boost, self.foreign)
        return [
            *(
                "accounts/verify_credentials",
                "profile",
                "preferences",
                "instance",
                "directory",
                "bookmarks",
                "favourites",
            ),
            *(
                "notifications",
                "conversations",
                "timelines/home",
                "timelines/public",
                "timelines/tag/cats",
                "followed_tags",
            ),
            *accounts,
            *(f"accounts/{person}/{rest}" for rest in ("statuses", "statuses?pinned=true", "followers", "following")),
            *(f"statuses/{each}" for each in posts),
            *(f"statuses/{each}/context" for each in posts),
            *(f"statuses/{number}{rest}" for rest in POST_ROUTES if rest not in ("", "/context")),
            *(f"accounts/search?q={word}" for word in ("author", "Writer")),
            *(f"accounts/relationships?id[]={person}", f"timelines/list/{self.list}", f"lists/{self.list}/accounts"),
            *(f"polls/{self.poll['poll']['id']}", "accounts/lookup?acct=author", "blocks", "mutes", "filters"),
        ]

    def answers(self) -> dict[tuple[str, str], Any]:
        found = {}
        for name, api in self.viewers.items():
            for path in self.routes():
                answer = api.get(f"/api/v1/{path}")
                found[name, path] = answer.status_code, answer.json()
            for asked in ("author", "flower", "#cats"):
                answer = api.get("/api/v2/search", {"q": asked})
                body = answer.json()
                for tag in body.get("hashtags", ()):
                    # Daily counters differ when a new day begins during the test.
                    del tag["history"]
                found[name, f"search {asked}"] = answer.status_code, body
        return found

    @property
    def user(self) -> User:
        return User.objects.select_related("account").get(id=self.author.user.id)


def _update(**sent: Any) -> Change:
    return lambda world: world.update(**sent)


def _prefer(**values: Any) -> Change:
    return lambda world: change_preferences(user=world.user, change=PreferencesChange(**values))


def _sanction(name: str) -> Change:
    return lambda world: getattr(sanctions, name)(by=OPERATOR, account=world.author.account)


def _do(person: str, path: str, **sent: Any) -> Change:
    def act(world: World) -> None:
        getattr(world, person).do(path.format(world=world), sent or None)

    return act


def _change(method: str, person: str, path: str, **sent: Any) -> Change:
    def act(world: World) -> None:
        api = getattr(world, person).api
        answer = getattr(api, method)(f"/api/v1/{path.format(world=world)}", sent or None)
        assert answer.status_code == 200, answer.content
        work()

    return act


def _avatar(world: World) -> None:
    file = SimpleUploadedFile("a.png", picture(), "image/png")
    answer = world.author.api.upload("PATCH", "/api/v1/accounts/update_credentials", avatar=file)
    assert answer.status_code == 200, answer.content


def _role(world: World) -> None:
    staff.set_role(by=OPERATOR, user=world.user, role=staff.find_role("Moderator"))


def _described(world: World) -> None:
    files = {"media_ids": [world.media], "media_attributes": [{"id": world.media, "description": "a dog"}]}
    _change("put", "author", "statuses/{world.post}", status="#dogs flower", **files)(world)


def _other_poll(world: World) -> None:
    poll = {"options": ["c", "d"], "expires_in": 3600}
    _change("put", "author", "statuses/{world.poll[id]}", status="which?", poll=poll)(world)


def _on_post(act: Callable[..., Any]) -> Change:
    return lambda world: act(by=OPERATOR, status_ids=[int(world.post)])


#: The changes, which run one after the other on the same data.
CHANGES: Final[dict[str, dict[str, Change]]] = {
    "profile": {
        "name": _update(display_name="Writer"),
        "note": _update(note="I write"),
        "fields": _update(fields_attributes=[{"name": "of", "value": "books"}]),
        "locked": _update(locked=True),
        "bot": _update(bot=True),
        "avatar": _avatar,
        "hidden collections": _update(hide_collections=True),
        "source": _update(source={"privacy": "private", "sensitive": True, "language": "de", "quote_policy": "nobody"}),
        "no search engines": _prefer(noindex=True),
        "application hidden": _prefer(show_application=False),
        "application shown": _prefer(show_application=True),
        "not indexable": _update(indexable=False),
        "not discoverable": _update(discoverable=False),
    },
    "staff": {
        "role": _role,
        "sensitized": _sanction("sensitize_account"),
        "not sensitized": _sanction("unsensitize_account"),
        "limited": _sanction("limit_account"),
        "not limited": _sanction("unlimit_account"),
        "post sensitive": _on_post(moderating.mark_statuses_sensitive),
        "post removed": _on_post(moderating.remove_statuses),
        "no role": lambda world: staff.set_role(by=OPERATOR, user=world.user, role=None),
        "suspended": _sanction("suspend_account"),
        "not suspended": _sanction("unsuspend_account"),
    },
    "posts": {
        "voted": _do("reader", "polls/{world.poll[poll][id]}/votes", choices=[0]),
        "other poll": _other_poll,
        "liked": _do("author", "statuses/{world.answer}/favourite"),
        "like undone": _do("reader", "statuses/{world.post}/unfavourite"),
        "thread muted": _do("reader", "statuses/{world.post}/mute"),
        "unpinned": _do("author", "statuses/{world.post}/unpin"),
        "filtered": _do("reader", "filters", phrase="flower", context=["home", "public", "thread", "account"]),
        "described": _described,
        "edited": _change("put", "author", "statuses/{world.post}", status="changed"),
        "quotes": _change("put", "author", "statuses/{world.post}/interaction_policy", quote_approval_policy="nobody"),
        "quote revoked": _do("author", "statuses/{world.post}/quotes/{world.quoting}/revoke"),
        "boost undone": _do("reader", "statuses/{world.post}/unreblog"),
        "deleted": _change("delete", "author", "statuses/{world.post}"),
    },
    "people": {
        "endorsed": _do("reader", "accounts/{world.author.id}/endorse"),
        "noted": _do("reader", "accounts/{world.author.id}/note", comment="a note"),
        "muted": _do("reader", "accounts/{world.author.id}/mute"),
        "not muted": _do("reader", "accounts/{world.author.id}/unmute"),
        "server blocked": _do("reader", "domain_blocks", domain="remote.example"),
        "unfollowed": _do("reader", "accounts/{world.author.id}/unfollow"),
        "followed": _do("reader", "accounts/{world.author.id}/follow"),
        "follower removed": _do("author", "accounts/{world.reader.id}/remove_from_followers"),
        "blocks": _do("reader", "accounts/{world.author.id}/block"),
        "blocked": _do("author", "accounts/{world.reader.id}/block"),
    },
}


@pytest.mark.parametrize("changes", CHANGES)
def test_after_a_change_every_response_is_the_same_with_and_without_caches(
    changes: str, settings: Any, django_capture_on_commit_callbacks: Any
) -> None:
    settings.RATE_LIMITS = False
    world = World()
    world.answers()
    before = world.answers()
    for name, change in CHANGES[changes].items():
        with django_capture_on_commit_callbacks(execute=True):
            change(world)
        work()
        after = world.answers()
        redis.client("cache").flushdb()
        own_account._cached.clear()
        anew = world.answers()
        assert {place: (after[place], anew[place]) for place in after if after[place] != anew[place]} == {}, name
        assert after != before, f"{name} changes no response"
        before = anew
