"""Reads a page of posts for a viewer: everything its entities need, in a fixed number of queries whatever its size."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace

from accounts.models import Account
from accounts.policies.relations import NOBODY, Relations
from accounts.queries.accounts import load_accounts
from accounts.queries.cards import account_piece, approving
from accounts.queries.emojis import EmojiLookup, account_texts
from accounts.queries.relations import load_featuring, load_hiding
from social.kernel import fragments
from statuses.models import Status
from statuses.policies.visibility import can_see
from statuses.queries.marks import Marks, load_marks
from statuses.queries.rows import Row, load_rows
from statuses.queries.sources import Source, load_sources

Verdict = Callable[[Row, Relations], bool]


def status_key(row: Row) -> str:
    """The key of a post's encoded body."""
    return f"status:{row.id}:{row.version}"


def author_key(row: Row) -> str:
    """The key of the encoded body of a post's author."""
    return account_piece(row.account_id, row.account_version)


@dataclass(slots=True)
class Page:
    """Posts in the order asked for, and, once filled, all that showing them takes.

    Made by `select` and `of_rows` alone, shown after `fill` alone: `pieces` holds the encoded bodies that were in the
    cache, by key, and for the others there are `sources` and `accounts`. Cards, polls and quotes are encoded entities by
    post, laid over its body; a post without one shows null.
    """

    viewer_id: int | None
    rows: list[Row]
    relations: Relations = NOBODY
    marks: Marks = field(default_factory=Marks)
    pieces: dict[str, bytes] = field(default_factory=dict)
    sources: dict[int, Source] = field(default_factory=dict)
    accounts: dict[int, Account] = field(default_factory=dict)
    emojis: EmojiLookup = field(default_factory=lambda: EmojiLookup(()))
    cards: dict[int, bytes] = field(default_factory=dict)
    polls: dict[int, bytes] = field(default_factory=dict)
    quotes: dict[int, bytes] = field(default_factory=dict)

    @property
    def ids(self) -> list[int]:
        """The posts of the page, boosts by their own id."""
        return [row.id for row in self.rows]

    @property
    def posts(self) -> dict[int, Row]:
        """Every post that has a body on the page, by id: its own posts, and of boosts what they boost."""
        return {row.proper.id: row.proper for row in self.rows}

    @property
    def authors(self) -> dict[int, Row]:
        """A row of every author on the page, by account id."""
        return {part.account_id: part for row in self.rows for part in (row, row.original) if part is not None}

    def extend(self, other: Page) -> None:
        """Add the posts of another page of the same viewer behind these, before it is filled."""
        self.rows += other.rows
        self.relations = other.relations if other.rows else self.relations

    def seen_by(self, viewer_id: int, row: Row, marks: Marks) -> Page:
        """One post of a filled page as another viewer sees it."""
        return replace(self, viewer_id=viewer_id, rows=[row], marks=marks, relations=Relations(viewer_id=viewer_id))


def select(status_ids: Iterable[int], viewer_id: int | None, verdict: Verdict | None = None) -> Page:
    """The posts that the viewer may read, and that `verdict` lets pass: two queries, one if anonymous.

    `verdict` is asked with relations that know every author, boosted author, addressed account and author answered to.
    What comes back can be asked about and cut; `fill` adds what showing it takes.
    """
    wanted = list(status_ids)
    rows = load_rows(wanted)
    people: set[int] = set()
    for row in rows:
        for part in (row, row.proper):
            people.add(part.account_id)
            people.update(part.addressed_ids)
            if part.in_reply_to_account_id is not None:
                people.add(part.in_reply_to_account_id)
    # Asked also when none of the posts exists: less work for them than for hidden ones would tell the two apart by time
    # (security row 19).
    relations = load_hiding(viewer_id, people or {0}) if wanted else NOBODY
    readable = [row for row in rows if can_see(row, viewer_id, relations, row.mentioned_ids)]
    if verdict is not None:
        readable = [row for row in readable if verdict(row, relations)]
    return Page(viewer_id=viewer_id, rows=readable, relations=relations)


def of_rows(rows: Iterable[Row], viewer_id: int | None) -> Page:
    """The page of posts in hand, without the question who may read them.

    For streams, which ask each reader themselves, and for who has just acted on a post: acts have their own rule, and who
    takes something back sees the post even if it may not be read any more (SEED-131).
    """
    return Page(viewer_id=viewer_id, rows=list(rows))


def fill(page: Page) -> Page:
    """Add the viewer's marks and the encoded bodies, or what they are made of: one query, none for anybody, when all
    bodies are cached, else at most three more.
    """
    posts, authors = page.posts, page.authors
    if page.viewer_id is not None and posts:
        page.marks = load_marks([page.viewer_id], posts).get(page.viewer_id, Marks())
    page.pieces = fragments.load([*map(status_key, posts.values()), *map(author_key, authors.values())])
    page.sources = load_sources(number for number, row in posts.items() if status_key(row) not in page.pieces)
    page.accounts = load_accounts(number for number, row in authors.items() if author_key(row) not in page.pieces)
    if page.relations.viewer_id != page.viewer_id:
        # Of posts in hand nothing is known about their authors yet.
        cached = {number: page.pieces.get(author_key(row)) for number, row in authors.items()}
        page.relations = load_featuring(page.viewer_id, page.accounts.values(), approving(cached))
    if page.sources or page.accounts:
        page.emojis = EmojiLookup(
            [
                *(
                    (row.domain, page.sources[row.id].texts(local=row.local))
                    for row in posts.values()
                    if row.id in page.sources
                ),
                *((account.domain, account_texts(account)) for account in page.accounts.values()),
                *(
                    (account.moved_to.domain, account_texts(account.moved_to))
                    for account in page.accounts.values()
                    if account.moved_to is not None
                ),
            ]
        )
    return page


def hydrate(statuses: Iterable[Status | int], viewer_id: int | None, verdict: Verdict | None = None) -> Page:
    """`select` and `fill`: the page of these posts (or their ids) for a viewer, at most six queries.

    Posts the viewer may not read are left out: what is shown is decided from rows read now, never from a cache.
    """
    return fill(select((item if isinstance(item, int) else item.id for item in statuses), viewer_id, verdict))
