"""Random worlds of people who follow, block, mute, list and write, and a naive model of what each of them reads.

The model is written from the contract (behaviours section 11), one loop per rule, and shares nothing with the code.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

from accounts.models import Account, AccountDomainBlock, Block, Follow, FollowRequest, Mute, Tag, TagFollow
from accounts.services.tags import ensure_tags
from social.kernel import clock
from statuses.models import Mention, Status, StatusTag, Visibility
from tests.factories.accounts import make_remote, make_user
from timelines.models import List, ListMember

_ELSEWHERE = ("one.example", "two.example")


def write(author: Account, *, mentions: Sequence[Account] = (), tags: Sequence[Tag] = (), **values: Any) -> Status:
    """A post as it stands in the database, without its events."""
    values.setdefault("local", author.local)
    if not author.local:
        values.setdefault("uri", f"{author.uri}/statuses/{Status.objects.count()}")
    status = Status.objects.create(account=author, **values)
    Mention.objects.bulk_create(Mention(status=status, account=account) for account in mentions)
    StatusTag.objects.bulk_create(StatusTag(status=status, tag=tag) for tag in tags)
    return status


class World:
    """Five people here and two of other servers, what they want of each other, and what they write."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        for model in (Status, Follow, FollowRequest, Block, Mute, AccountDomainBlock, TagFollow, List):
            model._default_manager.all().delete()
        Account.objects.update(suspended_at=None, limited_at=None)
        self.people = list(Account.objects.filter(username__startswith="someone").order_by("id"))
        for number in range(len(self.people), 7):
            name = f"someone{number}"
            self.people.append(make_user(name).account if number < 5 else make_remote(name, _ELSEWHERE[number - 5]))
        self.here = [person for person in self.people if person.local]
        self.tags = ensure_tags([("cats", "cats"), ("dogs", "dogs")])
        self._relate()
        early = [self._post([]) for _ in range(4)]
        for person in self.chance.sample(self.here, 3):
            for tag in self.chance.sample(self.tags, self.chance.randint(1, 2)):
                TagFollow.objects.create(account=person, tag=tag)
        posts = [post for post in early if post is not None]
        for _ in range(30):
            made = self._post(posts)
            if made is not None:
                posts.append(made)
        if self.chance.random() < 0.2:
            Account.objects.filter(id=self.chance.choice(self.people).id).update(suspended_at=clock.now())
        if self.chance.random() < 0.3:
            Account.objects.filter(id=self.chance.choice(self.people).id).update(limited_at=clock.now())

    def _relate(self) -> None:
        chance, people = self.chance, self.people
        pairs = [(a, b) for a in people for b in people if a != b]
        for one, other in chance.sample(pairs, 20):
            languages = chance.choice([None, None, [], ["de"], ["de", "en"]])
            since = chance.choice([None, None, clock.now() - timedelta(hours=1), clock.now() + timedelta(hours=1)])
            options = {"show_reblogs": chance.random() < 0.7, "languages": languages, "direct_since": since}
            Follow.objects.create(account=one, target=other, **options)
        for one, other in chance.sample(pairs, 3):
            Block.objects.create(account=one, target=other)
        for one, other in chance.sample(pairs, 3):
            ends = chance.choice([None, clock.now() + timedelta(hours=1), clock.now() - timedelta(hours=1)])
            Mute.objects.create(account=one, target=other, expires_at=ends)
        for person in chance.sample(self.here, 2):
            AccountDomainBlock.objects.create(account=person, domain=chance.choice(_ELSEWHERE))
        for owner in self.here:
            for policy in chance.sample(["list", "followed", "none"], 2):
                made = List.objects.create(
                    account=owner, title=policy, replies_policy=policy, exclusive=chance.random() < 0.4
                )
                for member in chance.sample(people, chance.randint(0, 4)):
                    ListMember.objects.create(list=made, account=member)

    def _post(self, posts: Sequence[Status]) -> Status | None:
        chance, people = self.chance, self.people
        author, kind = chance.choice(people), chance.random()
        values: dict[str, Any] = {
            "visibility": chance.choice([*Visibility, Visibility.PUBLIC, Visibility.PUBLIC, Visibility.PRIVATE]),
            "language": chance.choice([None, "", "de", "en"]),
            "deleted_at": clock.now() if chance.random() < 0.1 else None,
        }
        originals = [post for post in posts if post.reblog_of_id is None]
        if kind < 0.35 and originals:
            original = chance.choice(originals)
            if Status.objects.filter(account=author, reblog_of=original, deleted_at=None).exists():
                return None
            return write(author, reblog_of=original, **values)
        if kind < 0.6 and originals:
            parent = chance.choice(originals)
            values |= {"in_reply_to": parent, "in_reply_to_account": parent.account}
        elif kind < 0.7:
            values["in_reply_to_uri"] = "https://elsewhere.example/1"
        elif kind < 0.75:
            values["in_reply_to_account"] = chance.choice(people)
        tags = chance.sample(self.tags, chance.choice([0, 1, 1, 2]))
        return write(author, mentions=chance.sample(people, chance.randint(0, 2)), tags=tags, **values)


class Model:
    """What one person reads, by the rules of the contract one after another."""

    def __init__(self, reader: Account) -> None:
        self.reader = reader
        self.follows = {follow.target_id: follow for follow in Follow.objects.filter(account=reader)}
        blocked = Block.objects.filter(account=reader).values_list("target_id", flat=True)
        muted = [
            mute.target_id
            for mute in Mute.objects.filter(account=reader)
            if mute.expires_at is None or mute.expires_at > clock.now()
        ]
        self.hidden = {*blocked, *muted}
        self.blockers = set(Block.objects.filter(target=reader).values_list("account_id", flat=True))
        self.domains = set(AccountDomainBlock.objects.filter(account=reader).values_list("domain", flat=True))
        exclusive = ListMember.objects.filter(list__account=reader, list__exclusive=True)
        self.exclusive = set(exclusive.values_list("account_id", flat=True))
        self.tags = {follow.tag_id: follow.id for follow in TagFollow.objects.filter(account=reader)}

    def home(self) -> list[int]:
        """The home timeline, the newest first."""
        return _aggregated([post for post in _posts() if self._comes_home(post)])

    def of_list(self, wanted: List) -> list[int]:
        """A list's timeline, the newest first."""
        members = set(wanted.members.values_list("account_id", flat=True))
        return _aggregated([post for post in _posts() if self._is_listed(post, wanted, members)])

    def _comes_home(self, post: Status) -> bool:
        if not self._reads(post):
            return False
        if post.account_id == self.reader.id:
            return True
        by_people = self._of_somebody_followed(post) and post.account_id not in self.exclusive
        return by_people or self._by_hashtag(post)

    def _is_listed(self, post: Status, wanted: List, members: set[int]) -> bool:
        if post.account_id not in members or not self._reads(post):
            return False
        if post.visibility in ("direct", "limited"):
            return False
        answered = post.in_reply_to_account_id
        if answered is not None and answered not in (post.account_id, self.reader.id):
            if wanted.replies_policy == "none":
                return False
            if wanted.replies_policy == "list" and answered not in members:
                return False
        return post.account_id == self.reader.id or self._of_somebody_followed(post)

    def _reads(self, post: Status) -> bool:
        parts = [post] if post.reblog_of is None else [post, post.reblog_of]
        for part in parts:
            if part.deleted_at is not None or part.account.suspended_at is not None:
                return False
            if part.account_id == self.reader.id:
                continue
            if part.account_id in self.blockers:
                return False
            named = self.reader.id in _named(part) and part.reblog_of_id is None
            follows = part.account_id in self.follows
            if part.visibility == "private" and not (follows or named):
                return False
            if part.visibility in ("direct", "limited") and not named:
                return False
        return True

    def _of_somebody_followed(self, post: Status) -> bool:
        follow = self.follows.get(post.account_id)
        if follow is None:
            return False
        if follow.direct_since and post.visibility in ("direct", "limited") and post.created_at <= follow.direct_since:
            return False
        if post.in_reply_to_uri and post.in_reply_to_id is None and post.in_reply_to_account_id is None:
            return False
        if follow.languages and post.language and post.language not in follow.languages:
            return False
        if self.hidden & _concerned(post):
            return False
        if post.reblog_of is not None:
            return follow.show_reblogs and post.reblog_of.account.domain not in self.domains
        answered = post.in_reply_to_account_id
        return answered in (None, post.account_id, self.reader.id) or answered in self.follows

    def _by_hashtag(self, post: Status) -> bool:
        if post.visibility != "public" or post.reblog_of_id is not None or post.account.limited_at is not None:
            return False
        if self.hidden & _concerned(post) or post.account.domain in self.domains:
            return False
        used = StatusTag.objects.filter(status=post).values_list("tag_id", flat=True)
        return any(tag in self.tags and self.tags[tag] < post.id for tag in used)


def _posts() -> list[Status]:
    return list(Status.objects.select_related("account", "reblog_of__account").order_by("id"))


def _named(post: Status) -> set[int]:
    return set(Mention.objects.filter(status=post).values_list("account_id", flat=True))


def _concerned(post: Status) -> set[int]:
    people = {post.account_id} | _named(post)
    if post.reblog_of is not None:
        people |= {post.reblog_of.account_id} | _named(post.reblog_of)
    return people


def _aggregated(posts: Sequence[Status]) -> list[int]:
    kept: list[Status] = []
    for post in posts:
        newest = kept[-40:]
        original = post.reblog_of_id
        if original is None or not any(original in (other.id, other.reblog_of_id) for other in newest):
            kept.append(post)
    return [post.id for post in reversed(kept)]
