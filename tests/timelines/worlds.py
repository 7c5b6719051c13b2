"""Random data with follows, blocks, mutes, lists and posts, and a simple model of each reader's timelines.

The model follows the contract (behaviours section 11), with one loop per rule, and shares no code with the server.
"""

import random
from collections.abc import Collection, Sequence
from datetime import timedelta
from typing import Any

from accounts.models import Account, AccountDomainBlock, Block, Follow, FollowRequest, Mute, Tag, TagFollow, User
from accounts.services.tags import ensure_tags
from social.kernel import clock
from statuses.models import Bookmark, Favourite, Mention, Quote, Status, StatusTag, Visibility
from tests.factories.accounts import make_remote, make_user
from timelines.models import List, ListMember

_ELSEWHERE = ("one.example", "two.example")


def write(author: Account, *, mentions: Sequence[Account] = (), tags: Sequence[Tag] = (), **values: Any) -> Status:
    """Insert the row of a post, without its events."""
    values.setdefault("local", author.local)
    if not author.local:
        values.setdefault("uri", f"{author.uri}/statuses/{Status.objects.count()}")
    status = Status.objects.create(account=author, **values)
    if (parent := values.get("in_reply_to")) is not None:
        status.thread_id, status.thread_path = parent.thread_root_id, [*parent.path, status.id]
        status.save()
    Mention.objects.bulk_create(Mention(status=status, account=account) for account in mentions)
    StatusTag.objects.bulk_create(StatusTag(status=status, tag=tag) for tag in tags)
    return status


class World:
    """Five local and two remote accounts, with relations and posts."""

    def __init__(self, seed: int) -> None:
        self.chance = random.Random(seed)
        self.reach = random.Random(~seed)
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
        # A third of the local posts are local-only, and so are replies to them.
        values["local_only"] = author.local and self.reach.random() < 0.3
        originals = [post for post in posts if post.reblog_of_id is None]
        if kind < 0.35 and originals:
            original = chance.choice(originals)
            if Status.objects.filter(account=author, reblog_of=original, deleted_at=None).exists():
                return None
            return write(author, reblog_of=original, **values | {"local_only": author.local and original.local_only})
        values["from_archive"] = author.local and chance.random() < 0.1
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
    """The timelines of one reader, computed by applying the rules of the contract one after another."""

    def __init__(self, reader: Account | None) -> None:
        self.reader = reader
        self.reader_id = None if reader is None else reader.id
        self.follows = {follow.target_id: follow for follow in Follow.objects.filter(account=reader)}
        blocked = Block.objects.filter(account=reader).values_list("target_id", flat=True)
        muted = [
            mute.target_id
            for mute in Mute.objects.filter(account=reader)
            if mute.expires_at is None or mute.expires_at > clock.now()
        ]
        self.hidden = {*blocked, *muted}
        self.blockers = set(Block.objects.filter(target=reader).values_list("account_id", flat=True))
        if reader is not None and reader.domain is not None:
            by_server = AccountDomainBlock.objects.filter(domain=reader.domain)
            self.blockers.update(by_server.values_list("account_id", flat=True))
        self.domains = set(AccountDomainBlock.objects.filter(account=reader).values_list("domain", flat=True))
        exclusive = ListMember.objects.filter(list__account=reader, list__exclusive=True)
        self.exclusive = set(exclusive.values_list("account_id", flat=True))
        self.tags = {follow.tag_id: follow.id for follow in TagFollow.objects.filter(account=reader)}
        user = User.objects.filter(account=reader).first()
        self.languages = user.preferences.get("chosen_languages") if user is not None else None

    def home(self) -> list[int]:
        """Return the home timeline, newest first."""
        return _aggregated([post for post in _posts() if self._comes_home(post)])

    def of_list(self, wanted: List) -> list[int]:
        """Return a list's timeline, newest first."""
        members = set(wanted.members.values_list("account_id", flat=True))
        return _aggregated([post for post in _posts() if self._is_listed(post, wanted, members)])

    def public(self, local: bool | None) -> list[int]:
        """Return a public timeline, newest first."""
        found = [post for post in _posts() if self._is_in_public(post) and local in (None, post.account.domain is None)]
        own_thread = [post for post in found if not _answers(post) or post.in_reply_to_account_id == post.account_id]
        shown = [
            post
            for post in own_thread
            if not (self.languages and post.language and post.language not in self.languages)
        ]
        return [post.id for post in reversed(shown)]

    def hashtag(self, name: str) -> list[int]:
        """Return a hashtag's timeline, newest first; it is empty if only restricted posts use the hashtag."""
        used = set(StatusTag.objects.filter(tag__name=name).values_list("status_id", flat=True))
        if Tag.objects.get(name=name).private:
            return []
        return [post.id for post in reversed(_posts()) if post.id in used and self._is_in_public(post)]

    def link(self, linking: Collection[int]) -> list[int]:
        """Return the timeline of a link that these posts contain, newest first."""
        return [
            post.id
            for post in reversed(_posts())
            if post.id in linking and self._is_in_public(post) and post.account.discoverable
        ]

    def _is_in_public(self, post: Status) -> bool:
        if post.visibility != "public" or post.reblog_of is not None or post.account.limited_at is not None:
            return False
        if post.from_archive:
            return False
        return self.reads(post) and not self._hides(post.account)

    def _hides(self, person: Account) -> bool:
        return person.id in self.hidden or person.id in self.blockers or person.domain in self.domains

    def streams(self, post_id: int) -> bool:
        """Return whether a post in a public or hashtag timeline is also streamed to the reader."""
        post = Status.objects.select_related("account").get(id=post_id)
        if self.languages and post.language and post.language not in self.languages:
            return False
        own = post.account_id == self.reader_id
        if not own and self.hidden & _named(post):
            return False
        quote = Quote.objects.select_related("quoted_status__account").filter(status=post).first()
        if quote is None or quote.quoted_status is None:
            return True
        quoted = quote.quoted_status.account
        return quoted.id not in self.blockers and (own or not self._hides(quoted))

    def lists(self, post: Status) -> bool:
        """Return whether a thread, or a request for posts by their ids, shows the reader this post."""
        parts = [post] if post.reblog_of is None else [post, post.reblog_of]
        return self.reads(post) and all(self._may_list(part.account) for part in parts)

    def _may_list(self, author: Account) -> bool:
        if author.id == self.reader_id:
            return True
        return not self._hides(author) and (author.limited_at is None or author.id in self.follows)

    def threads(self) -> dict[int, tuple[list[int], set[int]]]:
        """Return the posts shown above each post, from the start of its thread, and the posts shown below."""
        posts = {post.id: post for post in _posts()}
        listed = {post.id for post in posts.values() if self.lists(post)}
        above: dict[int, list[int]] = {}
        for post in posts.values():
            parent = posts.get(post.in_reply_to_id or 0)
            answers = parent is not None and parent.deleted_at is None
            above[post.id] = [*above[parent.id], parent.id] if parent is not None and answers else []
        return {
            number: (
                [other for other in above[number] if other in listed],
                {other for other in listed if number in above[other]},
            )
            for number in posts
        }

    def conversations(self) -> list[int | None]:
        """Return the last post of each conversation, newest first; None for a post that is hidden from the reader."""
        last: dict[tuple[int, frozenset[int]], Status] = {}
        roots: dict[int, int] = {}
        for post in _posts():
            roots[post.id] = roots[post.in_reply_to_id] if post.in_reply_to_id else post.id
            people = _named(post) | {post.account_id}
            if is_filed(post) and self.reader_id in people:
                last[roots[post.id], frozenset(people)] = post
        newest_first = sorted(last.values(), key=lambda post: -post.id)
        return [post.id if self.reads(post) else None for post in newest_first]

    def replies(self, parent: Status, *, of_author: bool) -> list[Status]:
        """Return the replies in a post's collection, oldest first: only those by the post's author, or only those by others."""
        return [
            post
            for post in _posts()
            if post.in_reply_to_id == parent.id
            and (post.account_id == parent.account_id) is of_author
            and post.visibility in ("public", "unlisted")
            and self.reads(post)
        ]

    def outbox(self, author: Account) -> list[int]:
        """Return the posts in the outbox of an account, newest first."""
        open_to = ("public", "unlisted") if self.reader is None else ("public", "unlisted", "private")
        return [
            post.id
            for post in reversed(_posts())
            if post.account_id == author.id and post.visibility in open_to and self.reads(post)
        ]

    def shows_on_profile(self, post: Status) -> bool:
        """Return whether the page of its author shows the post."""
        boosted = post.reblog_of
        return self.reads(post) and (
            boosted is None or boosted.account_id == self.reader_id or not self._hides(boosted.account)
        )

    def quotes(self, post: Status, quoted: Status) -> bool:
        """Return whether the list of quotes of `quoted` shows `post`."""
        accepted = Quote.objects.filter(status=post, quoted_status=quoted, state="accepted").exists()
        return accepted and (self.reads(post) if quoted.account_id == self.reader_id else self.lists(post))

    def notifiers(self) -> set[int]:
        """Return the accounts whose notifications the reader sees, if every account has caused one."""
        return {person.id for person in Account.objects.filter(username__startswith="someone", suspended_at=None)}

    def finds(self, scope: str) -> list[int]:
        """Return the results of a search with a term that occurs in all posts, newest first."""
        return [post.id for post in reversed(_posts()) if self._finds(post, scope)]

    def _finds(self, post: Status, scope: str) -> bool:
        if post.reblog_of is not None or not self.lists(post):
            return False
        concerned = (
            post.account_id == self.reader_id
            or Mention.objects.filter(status=post, account=self.reader, silent=False).exists()
            or Favourite.objects.filter(status=post, account=self.reader).exists()
            or Bookmark.objects.filter(status=post, account=self.reader).exists()
            or Status.objects.filter(reblog_of=post, account=self.reader, deleted_at=None).exists()
        )
        open_to_all = post.visibility == "public" and post.account.indexable
        if scope == "in:library in:public":
            return concerned and open_to_all
        return (concerned and scope != "in:public") or (open_to_all and scope != "in:library")

    def _comes_home(self, post: Status) -> bool:
        if not self.reads(post) or post.from_archive:
            return False
        if post.account_id == self.reader_id:
            return True
        by_people = self._of_somebody_followed(post) and post.account_id not in self.exclusive
        return by_people or self._by_hashtag(post)

    def _is_listed(self, post: Status, wanted: List, members: set[int]) -> bool:
        if post.account_id not in members or not self.reads(post) or post.from_archive:
            return False
        if post.visibility in ("direct", "limited"):
            return False
        answered = post.in_reply_to_account_id
        if answered is not None and answered not in (post.account_id, self.reader_id):
            if wanted.replies_policy == "none":
                return False
            if wanted.replies_policy == "list" and answered not in members:
                return False
        return post.account_id == self.reader_id or self._of_somebody_followed(post)

    def reads(self, post: Status) -> bool:
        parts = [post] if post.reblog_of is None else [post, post.reblog_of]
        for part in parts:
            if part.deleted_at is not None or part.account.suspended_at is not None:
                return False
            if part.account_id == self.reader_id:
                continue
            if part.account_id in self.blockers:
                return False
            if part.local_only and (self.reader is None or self.reader.domain is not None):
                return False
            named = self.reader_id in _named(part) and part.reblog_of_id is None
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
        return answered in (None, post.account_id, self.reader_id) or answered in self.follows

    def _by_hashtag(self, post: Status) -> bool:
        if post.visibility != "public" or post.reblog_of_id is not None or post.account.limited_at is not None:
            return False
        if self.hidden & _concerned(post) or post.account.domain in self.domains:
            return False
        used = StatusTag.objects.filter(status=post).values_list("tag_id", flat=True)
        return any(tag in self.tags and self.tags[tag] < post.id for tag in used)


def _answers(post: Status) -> bool:
    return bool(post.in_reply_to_id or post.in_reply_to_uri or post.in_reply_to_account_id)


def is_filed(post: Status) -> bool:
    """Return whether a post is part of conversations."""
    return post.visibility == "direct" and post.reblog_of_id is None and post.deleted_at is None


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
    return shown([(post.id, post.reblog_of_id or 0) for post in reversed(posts)])


def shown(items: Sequence[tuple[int, int]]) -> list[int]:
    """Return the posts of a timeline that are shown, without repeated boosts.

    A boost is left out if the same post or another boost of it is among the forty next older posts, shown or not. Posts are
    given as (id, original's id or 0), newest first.
    """
    found = []
    for place, (post, original) in enumerate(items):
        older = items[place + 1 : place + 41]
        if original == 0 or not any(original in other for other in older):
            found.append(post)
    return found
