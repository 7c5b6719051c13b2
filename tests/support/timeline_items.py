"""Items of timelines, and events in them between pages; see `tests.support.paged_items`."""

from collections.abc import Callable
from typing import Any

from accounts.models import Account
from accounts.services.blocking import block_account, mute_account
from accounts.services.following import FollowChange, follow_account, unfollow_account
from social.kernel import redis
from statuses.models import PreviewCard, Status, StatusCard
from statuses.services.deleting import delete_status
from tests.factories import statuses as factory
from tests.factories.accounts import make_account, make_remote
from tests.factories.statuses import make_reblog, make_remote_status, make_status
from tests.support.callers import Callers
from tests.support.paged_items import Items, Posts
from tests.support.work import work
from timelines.models import Conversation, List, ListMember, Trend, TrendKind, TrendReview


class Timeline(Posts):
    """A timeline with posts of several authors; `disturb` chooses an event by a number."""

    def __init__(self, callers: Callers, post: Callable[[Account, int], Status], **more: Any) -> None:
        self.callers = callers
        self.authors = [make_account(discoverable=True) for _number in range(4)]
        self.of_others = make_status(callers.stranger, "unrelated")
        self.events: list[Callable[[Account], None]] = [
            self._block,
            self._mute,
            self._forget,
            self._work,
            self._stranger,
        ]
        super().__init__(
            lambda number: post(self.authors[number % len(self.authors)], number), lambda status: status.id, **more
        )

    def disturb(self, number: int) -> None:
        """Cause one event: a block, a mute, one of `events`, a FLUSHALL of the feeds, or a run of the queued jobs."""
        author = self.authors[number % len(self.authors)]
        self.events[number % len(self.events)](author)

    def without(self, author: Account) -> None:
        """Remove the author's posts from the expected items; another account writes posts instead from now on."""
        self.here = {name: key for name, key in self.here.items() if self.made[name].account_id != author.id}
        self.authors[self.authors.index(author)] = self.newcomer()

    def newcomer(self) -> Account:
        """Return a new account whose posts appear in the timeline."""
        return make_account(discoverable=True)

    def _block(self, author: Account) -> None:
        block_account(account=self.callers.account, target=author)
        self.without(author)

    def _mute(self, author: Account) -> None:
        mute_account(account=self.callers.account, target=author)
        self.without(author)

    def _forget(self, _author: Account) -> None:
        redis.client("feeds").flushdb()

    def _work(self, _author: Account) -> None:
        work()

    def _stranger(self, _author: Account) -> None:
        make_status(self.callers.stranger, "not for this timeline", visibility="private")


class Followed(Timeline):
    """A timeline of followed accounts: home, or a list."""

    def __init__(self, callers: Callers, list_id: int | None = None, **more: Any) -> None:
        self.list_id = list_id
        super().__init__(callers, self._post, **more)
        for author in self.authors:
            self._join(author)
        self.events += [self._unfollow, self._follow]

    def add(self) -> str:
        """Add a post, and deliver it."""
        made = super().add()
        work()
        return made

    def newcomer(self) -> Account:
        """Return a new account that is followed."""
        author = super().newcomer()
        self._join(author)
        return author

    def _join(self, author: Account) -> None:
        factory.follow(self.callers.account, author)
        if self.list_id is not None:
            ListMember.objects.create(list_id=self.list_id, account=author)

    def _post(self, author: Account, number: int) -> Status:
        if number % 4 == 3:
            return make_reblog(author, make_remote_status(make_remote()))
        return make_status(author, f"Number {number}", visibility="private" if number % 3 else "public")

    def _unfollow(self, author: Account) -> None:
        unfollow_account(account=self.callers.account, target=author)
        self.without(author)

    def _follow(self, _author: Account) -> None:
        author = make_account()
        early = [make_status(author, f"Before the follow {number}") for number in range(2)]
        follow_account(account=self.callers.account, target=author, change=FollowChange())
        if self.list_id is not None:
            ListMember.objects.create(list_id=self.list_id, account=author)
        work()
        for status in early:
            self.made[str(status.id)] = status
            self.here[str(status.id)] = status.id


def _home(callers: Callers) -> Items:
    return Followed(callers)


def _list(callers: Callers) -> Items:
    found = List.objects.create(account=callers.account, title="Friends")
    return Followed(callers, found.id, ids={"list_id": found.id})


def _public(callers: Callers) -> Items:
    found = Timeline(callers, lambda author, number: make_status(author, f"Number {number}"))
    found.here[str(found.of_others.id)] = found.of_others.id
    found.made[str(found.of_others.id)] = found.of_others
    return found


def _tag(callers: Callers) -> Items:
    return Timeline(callers, lambda author, number: make_status(author, f"#here {number}"), ids={"hashtag": "here"})


def _link(callers: Callers) -> Items:
    card = PreviewCard.objects.create(url="https://site.example/paged", title="News")
    Trend.objects.create(kind=TrendKind.LINK, object_id=card.id, score=5)
    TrendReview.objects.create(kind=TrendKind.LINK, object_id=card.id, trendable=True)

    def post(author: Account, number: int) -> Status:
        status = make_status(author, f"Number {number}")
        StatusCard.objects.create(status=status, card=card, url=card.url)
        return status

    return Timeline(callers, post, params={"url": card.url})


def _profile(callers: Callers) -> Items:
    author = make_account()

    def post(number: int) -> Status:
        if number % 3 == 0:
            return make_reblog(author, make_remote_status(make_remote()))
        return make_status(author, f"Number {number}", visibility="unlisted" if number % 2 else "public")

    return Posts(post, lambda status: status.id, ids={"id": author.id})


class Conversations(Items):
    """Conversations: a new post moves its conversation to the top, and deleting it moves the conversation back."""

    def __init__(self, callers: Callers) -> None:
        self.callers = callers
        self.posts: dict[str, list[Status]] = {}
        self.authors = [make_account() for _number in range(3)]
        for author in self.authors:
            factory.follow(callers.account, author)
        super().__init__(self._new, self._take)

    def _write(self, author: Account, reply_to: Status | None = None) -> Status:
        name = self.callers.account.username
        status = make_status(author, f"@{name} hello", visibility="direct", reply_to=reply_to)
        work()
        return status

    def _new(self, number: int) -> tuple[str, int]:
        status = self._write(self.authors[number % len(self.authors)])
        found = Conversation.objects.get(account=self.callers.account, last_status=status)
        self.posts[str(found.id)] = [status]
        return str(found.id), status.id

    def _take(self, identifier: str) -> None:
        for status in self.posts[identifier]:
            delete_status(status_id=status.id)
        work()

    def disturb(self, number: int) -> None:
        """Add a post to a conversation, or delete its last post."""
        names = sorted(self.here)
        if not names:
            return
        name = names[number % len(names)]
        posts = self.posts[name]
        if len(posts) > 1:
            delete_status(status_id=posts.pop().id)
            work()
        else:
            posts.append(self._write(posts[0].account, posts[0]))
        self.here[name] = posts[-1].id


TIMELINES: dict[str, Callable[[Callers], Items]] = {
    "GET api/v1/timelines/home": _home,
    "GET api/v1/timelines/list/<list_id>": _list,
    "GET api/v1/timelines/public": _public,
    "GET api/v1/timelines/tag/<hashtag>": _tag,
    "GET api/v1/timelines/link": _link,
    "GET api/v1/accounts/<id>/statuses": _profile,
    "GET api/v1/conversations": Conversations,
}
