"""Tests with generated data that every surface shows each viewer exactly the posts that a simple model of the contract permits.

The surfaces are public, hashtag and link pages, streams, search, posts by id, profiles, threads, quotes, conversations,
notifications, ActivityPub (signed and unsigned), and HTML pages for strangers.
"""

import random
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Final

import orjson
import pytest
from django.apps import apps
from django.db import transaction
from django.db.models import F
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import Account, Block, User
from notifications.models import Notification, NotificationType
from social.kernel import clock, redis, streams
from social.kernel.batches import in_batches
from statuses.models import Bookmark, Favourite, PreviewCard, Quote, QuoteState, Status, StatusCard
from statuses.queries.posts import load_posts
from tests.factories.accounts import make_token, rsa_pair
from tests.federation.remote_server import signed
from tests.support.client import Api
from tests.timelines.worlds import Model, World, is_filed
from timelines.models import Trend, TrendKind, TrendReview
from timelines.pages.public import PAGE_SIZE
from timelines.policies.streams import Stream, is_hidden_from_viewer
from timelines.queries.fan_out import load_viewer
from timelines.services.broadcasting import broadcast_posts
from timelines.services.conversations import add_posts
from timelines.services.search_index import write_documents
from timelines.stores import channels
from timelines.stores.messages import Message

pytestmark = pytest.mark.django_db
_PUBLIC = {channels.PUBLIC_LOCAL, channels.PUBLIC_REMOTE}
_LINK: Final = "https://site.example/news"
_ACTIVITY: Final = "application/activity+json"
Get = Callable[[str], Any]


class Populated(World):
    """Generated data that also contains languages, searchable posts, quotes, favourites, bookmarks and follows."""

    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        chance = random.Random(-seed)
        posts = list(Status.objects.filter(reblog_of=None).order_by("id"))
        Status.objects.filter(reblog_of=None).update(text="wonder", content="<p>wonder</p>")
        Status.objects.filter(local=False).update(local=False, url=F("uri"))
        for person in self.people:
            Account.objects.filter(id=person.id).update(indexable=chance.random() < 0.5)
        Account.objects.filter(id=chance.choice(self.people).id).update(limited_at=clock.now())
        for user in User.objects.filter(account__in=self.here):
            chosen = chance.choice([None, None, ["de"], ["de", "en"]])
            user.preferences = {"chosen_languages": chosen}
            user.save()
        for post in chance.sample(posts, min(8, len(posts))):
            older = [other for other in posts if other.id < post.id]
            if older:
                Quote.objects.create(status=post, quoted_status=chance.choice(older), state=QuoteState.ACCEPTED)
        for table in (Favourite, Bookmark):
            for post in chance.sample(posts, min(6, len(posts))):
                table._default_manager.create(account=chance.choice(self.here), status=post)
        Notification.objects.all().delete()
        for person in self.here:
            for other in self.people:
                Notification.objects.create(
                    account=person,
                    from_account=other,
                    type=NotificationType.FOLLOW,
                    cause=f"follow:{person.id}:{other.id}",
                )
        write_documents([post.id for post in posts])
        for person in self.people:
            Account.objects.filter(id=person.id).update(discoverable=chance.random() < 0.7)
        card, _new = PreviewCard.objects.get_or_create(
            url=_LINK, defaults={"host": "site.example", "title": "News", "fetched_at": clock.now()}
        )
        Trend.objects.get_or_create(kind=TrendKind.LINK, object_id=card.id, defaults={"score": 5})
        TrendReview.objects.get_or_create(kind=TrendKind.LINK, object_id=card.id, defaults={"trendable": True})
        self.linking = {post.id for post in posts if chance.random() < 0.7}
        StatusCard.objects.bulk_create(
            StatusCard(status_id=number, card=card, url=_LINK) for number in sorted(self.linking)
        )
        here = {person.id for person in self.here}
        mentioned = Status.objects.order_by("id").values_list("id", "mentions__account_id")
        # Let the author of the last post in a conversation block one of the conversation's readers.
        filed = {post.id: post.account for post in posts if is_filed(post)}
        for author, person in [(filed[post], person) for post, person in mentioned if post in filed][-1:]:
            if person in here and person != author.id:
                Block.objects.get_or_create(account=author, target_id=person)
        add_posts(
            [(post.account_id, post.id) for post in posts if is_filed(post) and post.account_id in here]
            + [(person, post) for post, person in mentioned if person in here]
        )
        redis.client("feeds").flushdb()
        with listening() as self.received:
            broadcast_posts(list(load_posts(Status.objects.values_list("id", flat=True))), {})


@contextmanager
def listening() -> Iterator[list[tuple[str, Message]]]:
    """Collect the messages that are published on the public streams and the hashtag streams during the block."""
    names = {streams.channel_key(name): name for name in (*_PUBLIC, channels.hashtag("cats"), channels.hashtag("dogs"))}
    received: list[tuple[str, Message]] = []
    with redis.client("streams").pubsub() as subscription:
        subscription.subscribe(*names)
        for _name in names:
            assert subscription.get_message(timeout=30)["type"] == "subscribe"
        yield received
        redis.client("streams").publish(next(iter(names)), b"end")
        while (message := subscription.get_message(timeout=30)) is not None and message["data"] != b"end":
            received.append((names[message["channel"].decode()], Message.decode(message["data"])))


def ids(answer: Any) -> list[int]:
    assert answer.status_code == 200, answer.content
    return [int(item["id"]) for item in answer.json()]


def see_public(api: Api, model: Model, world: Populated) -> None:
    for params, local in (("", None), ("&local=true", True), ("&remote=true", False)):
        assert ids(api.get(f"/api/v1/timelines/public?limit=40{params}")) == model.public(local), params


def see_hashtags(api: Api, model: Model, world: Populated) -> None:
    for name in ("cats", "dogs"):
        assert ids(api.get(f"/api/v1/timelines/tag/{name}?limit=40")) == model.hashtag(name), name


def see_link(api: Api, model: Model, world: Populated) -> None:
    assert ids(api.get("/api/v1/timelines/link", {"url": _LINK, "limit": "40"})) == model.link(world.linking)


def see_posts_by_id(api: Api, model: Model, world: Populated) -> None:
    for some in in_batches(newest_first(), 20):
        wanted = "&".join(f"id[]={post.id}" for post in some)
        assert ids(api.get(f"/api/v1/statuses?{wanted}")) == [post.id for post in some if model.lists(post)]


def see_single_posts(api: Api, model: Model, world: Populated) -> None:
    for post in newest_first()[::3]:
        assert (api.get(f"/api/v1/statuses/{post.id}").status_code == 200) == model.reads(post), post.id


def see_profiles(api: Api, model: Model, world: Populated) -> None:
    for person in world.people:
        if not is_suspended(person):
            page = ids(api.get(f"/api/v1/accounts/{person.id}/statuses?limit=40"))
            own = [post for post in newest_first() if post.account_id == person.id]
            assert page == [post.id for post in own if model.shows_on_profile(post)]


def see_threads(api: Api, model: Model, world: Populated) -> None:
    threads = model.threads()
    for post in newest_first()[::4]:
        answer = api.get(f"/api/v1/statuses/{post.id}/context")
        assert (answer.status_code == 200) == model.reads(post), post.id
        if answer.status_code == 200:
            above, below = ([int(each["id"]) for each in answer.json()[part]] for part in ("ancestors", "descendants"))
            expected = threads[post.id]
            assert (above, sorted(below)) == (expected[0], sorted(expected[1])), post.id


def see_quotes(api: Api, model: Model, world: Populated) -> None:
    everything = newest_first()
    for post in everything[::7]:
        if model.reads(post) and post.reblog_of_id is None:
            found = api.get(f"/api/v1/statuses/{post.id}/quotes?limit=40")
            if found.status_code == 200:
                quotes = [other for other in everything if model.quotes(other, post)]
                assert sorted(ids(found)) == sorted(other.id for other in quotes)


def see_conversations(api: Api, model: Model, world: Populated) -> None:
    answer = api.get("/api/v1/conversations?limit=40")
    assert answer.status_code == 200, answer.content
    last = [each["last_status"] for each in answer.json()]
    assert [post and int(post["id"]) for post in last] == model.conversations()


def see_notifications(api: Api, model: Model, world: Populated) -> None:
    answer = api.get("/api/v1/notifications?limit=80")
    assert {int(item["account"]["id"]) for item in answer.json()} == model.notifiers()


def see_streams(api: Api, model: Model, world: Populated) -> None:
    assert model.reader is not None
    viewer, now = load_viewer(model.reader.id), clock.now()
    shown: dict[str, list[int]] = {}
    for name, message in world.received:
        assert message.facts is not None
        assert message.payload is not None
        if not is_hidden_from_viewer(Stream((name,), (name,), filtered=True), message.facts, viewer, now):
            shown.setdefault("public" if name in _PUBLIC else name, []).append(message_id(message))
    page = {"public": model.public(None), **{channels.hashtag(name): model.hashtag(name) for name in ("cats", "dogs")}}
    for name, found in page.items():
        expected = [number for number in found if model.streams(number)]
        assert sorted(shown.get(name, []), reverse=True) == expected, name


def message_id(message: Message) -> int:
    return int(orjson.loads(message.payload or b"")["id"])


def see_search(api: Api, model: Model, world: Populated) -> None:
    for scope in ("", " in:library", " in:public", " in:library in:public"):
        found = api.get("/api/v2/search", {"q": f"wonder{scope}", "type": "statuses", "limit": "40"}).json()["statuses"]
        assert [int(item["id"]) for item in found] == model.finds(scope.strip()), scope


def see_documents(get: Get, model: Model, world: Populated) -> None:
    for post in newest_first():
        if post.local:
            answer = get(f"/users/{post.account.username}/statuses/{post.id}")
            assert (answer.status_code == 200) == model.reads(post), post.id


def see_replies(get: Get, model: Model, world: Populated) -> None:
    for post in newest_first():
        if not post.local or post.reblog_of_id is not None:
            continue
        for others in (False, True):
            page = "?page=true&only_other_accounts=true" if others else "?page=true"
            answer = get(f"/users/{post.account.username}/statuses/{post.id}/replies{page}")
            assert (answer.status_code == 200) == model.reads(post), post.id
            if answer.status_code == 200:
                named = [item if isinstance(item, str) else item["id"] for item in answer.json()["items"]]
                expected = model.replies(post, of_author=not others)
                assert [uri.rsplit("/", 1)[-1] for uri in named] == [
                    str(each.id) if each.local else str(each.uri).rsplit("/", 1)[-1] for each in expected
                ]


def see_contexts(get: Get, model: Model, world: Populated) -> None:
    everything = newest_first()[::-1]
    for start in everything[::5]:
        answer = get(f"/contexts/{start.account_id}-{start.id}?page=true")
        shown = [item.rsplit("/", 1)[-1] for item in answer.json()["items"]] if answer.status_code == 200 else []
        assert shown == [
            str(post.id) if post.local else str(post.uri).rsplit("/", 1)[-1]
            for post in everything
            if model.reads(start)  # missing and unreadable parents get the same response (security row 76)
            and post.thread_root_id == start.thread_root_id
            and post.visibility in ("public", "unlisted")
            and post.reblog_of_id is None
            and model.reads(post)
        ], start.id


def see_outboxes(get: Get, model: Model, world: Populated) -> None:
    for person in world.here:
        if not is_suspended(person):
            items = get(f"/users/{person.username}/outbox?page=true").json()["orderedItems"]
            assert [int(item["id"].split("/")[-2]) for item in items] == model.outbox(person)


def see_pages(api: Api, model: Model, world: Populated) -> None:
    paths = {post.url or f"/@{post.account.username}/{post.id}": post.id for post in newest_first()}
    expected = {
        "/public": model.public(None),
        "/public/local": model.public(True),
        "/public/remote": model.public(False),
    }
    expected |= {f"/tags/{name}": model.hashtag(name) for name in ("cats", "dogs")}
    for path, posts in expected.items():
        text = re.sub(r'(?s)<blockquote class="quoted".*?</blockquote>', "", api.get(path).content.decode())
        shown = re.findall(r'class="hint when" href="([^"]+)"', text)
        assert [paths[found] for found in shown] == posts[:PAGE_SIZE], path


FOR_STRANGERS: Final = (see_pages,)
FOR_ANYBODY: Final = (
    see_public,
    see_hashtags,
    see_link,
    see_posts_by_id,
    see_single_posts,
    see_profiles,
    see_threads,
    see_quotes,
)
FOR_USERS: Final = (see_streams, see_search, see_conversations, see_notifications)
FOR_SERVERS: Final = (see_documents, see_replies, see_outboxes, see_contexts)
SURFACES: Final = (*FOR_STRANGERS, *FOR_ANYBODY, *FOR_USERS, *(FOR_SERVERS if apps.is_installed("federation") else ()))


def newest_first() -> list[Status]:
    return list(Status.objects.select_related("account", "reblog_of__account").order_by("-id"))


def is_suspended(person: Account) -> bool:
    return Account.objects.get(id=person.id).suspended


def see_that_it_agrees(surface: Any, world: Populated) -> None:
    """Check against the model what a surface shows to visitors, local users and, if servers can read it, remote accounts."""
    if surface in FOR_SERVERS:
        surface(partial(get_signed, None), Model(None), world)
        for person in world.people:
            if not person.local:
                # Suspended accounts are treated as strangers.
                surface(partial(get_signed, person), Model(None if is_suspended(person) else person), world)
        return
    if surface in FOR_STRANGERS or surface in FOR_ANYBODY:
        surface(Api(), Model(None), world)
    if surface in FOR_STRANGERS:
        return
    for viewer in world.here:
        if not is_suspended(viewer):
            surface(Api(make_token(viewer.user)), Model(viewer), world)


def get_signed(signer: Account | None, path: str) -> Any:
    headers = {"accept": _ACTIVITY}
    if signer is not None:
        covered = ("(request-target)", "host", "date")
        headers |= signed(rsa_pair()[0], f"{signer.uri}#main-key", path, None, method="GET", covered=covered)
    return Api().get(path, headers=headers)


@pytest.fixture(scope="module")
def world(django_db_setup: None, django_db_blocker: Any) -> Iterator[Populated]:
    """Generated data for the tests of all surfaces."""
    with django_db_blocker.unblock(), transaction.atomic():
        yield Populated(0)
        transaction.set_rollback(True)


def named(surface: Any) -> str:
    return str(surface.__name__.removeprefix("see_"))


@pytest.mark.parametrize("surface", SURFACES, ids=named)
def test_a_surface_shows_each_viewer_what_the_contract_says(surface: Any, world: Populated) -> None:
    see_that_it_agrees(surface, world)


@pytest.mark.verify
@pytest.mark.timeout(1500)
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 2**32 - 1))
def test_every_surface_follows_the_contract_in_many_worlds(seed: int) -> None:
    world = Populated(seed)
    for surface in SURFACES:
        see_that_it_agrees(surface, world)
