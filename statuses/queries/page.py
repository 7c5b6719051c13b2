"""Reads a page of posts for a viewer: everything its entities need, in a fixed number of queries whatever its size."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from accounts.models import Account
from accounts.policies.relations import NOBODY, Relations
from accounts.queries import cards
from accounts.queries.accounts import load_accounts
from accounts.queries.emojis import EmojiLookup, account_texts
from accounts.queries.relations import load_relations
from social.kernel import fragments
from social.kernel.fragments import Wanted
from statuses.models import Status
from statuses.policies.visibility import can_see
from statuses.queries.marks import NO_MARKS, Marks, marks_in
from statuses.queries.rows import Row, load_rows
from statuses.queries.sources import Source, load_sources

Verdict = Callable[[Row, Relations], bool]


def status_piece(row: Row) -> Wanted:
    """The name of a post's encoded body."""
    return Wanted(f"status:{row.id}:{row.version}", f"emoji:{row.domain or ''}")


def account_piece(row: Row) -> Wanted:
    """The name of the encoded body of a post's author."""
    return cards.account_piece(row.account_id, row.account_version, row.domain)


@dataclass(slots=True)
class Page:
    """Posts that the viewer may read, in the order asked for, and all that showing them takes.

    `status_pieces` and `account_pieces` name the encoded bodies, by id; `found` holds those that were in the cache, and
    for the others there are `sources` and `accounts`.
    """

    viewer_id: int | None
    rows: list[Row]
    relations: Relations = NOBODY
    marks: Marks = NO_MARKS
    status_pieces: dict[int, Wanted] = field(default_factory=dict)
    account_pieces: dict[int, Wanted] = field(default_factory=dict)
    found: fragments.Found = field(default_factory=fragments.Found)
    sources: dict[int, Source] = field(default_factory=dict)
    accounts: dict[int, Account] = field(default_factory=dict)
    emojis: EmojiLookup = field(default_factory=lambda: EmojiLookup(()))

    def extend(self, other: Page) -> None:
        """Add the posts of another page of the same viewer behind these. Before `fill` only."""
        self.rows += other.rows
        self.relations = other.relations if other.rows else self.relations
        self.marks = marks_in(self.rows)

    @property
    def ids(self) -> list[int]:
        """The posts of the page, boosts by their own id."""
        return [row.id for row in self.rows]


def select(status_ids: Iterable[int], viewer_id: int | None, verdict: Verdict | None = None) -> Page:
    """The rows of the posts that the viewer may read, and that `verdict` lets pass: two queries, one if anonymous.

    `verdict` is asked with relations that know every author, boosted author, addressed account and author answered to.
    What comes back can be asked about and cut; `fill` adds what showing it takes.
    """
    wanted = list(status_ids)
    rows = load_rows(wanted, viewer_id)
    people: set[int] = set()
    for row in rows:
        for part in (row, row.proper):
            people.add(part.account_id)
            people.update(part.addressed_ids)
            if part.in_reply_to_account_id is not None:
                people.add(part.in_reply_to_account_id)
    # Asked also when none of the posts exists: less work for them than for hidden ones would tell the two apart by time
    # (security row 19).
    relations = load_relations(viewer_id, people or {0}) if wanted else NOBODY
    readable = [row for row in rows if can_see(row, viewer_id, relations, row.mentioned_ids)]
    if verdict is not None:
        readable = [row for row in readable if verdict(row, relations)]
    return Page(viewer_id=viewer_id, rows=readable, relations=relations, marks=marks_in(readable))


def acted_on(row: Row, viewer_id: int) -> Page:
    """The page of a post that the viewer has just acted on, as the act left it: no query, and no question who may read.

    The act has its own rule; who takes something back sees the post even if it may not be read any more (SEED-131).
    """
    return Page(viewer_id=viewer_id, rows=[row], marks=marks_in([row]))


def fill(page: Page) -> Page:
    """Add encoded bodies, or what they are made of: at most three queries, none when all is cached."""
    proper = {row.proper.id: row.proper for row in page.rows}
    page.status_pieces = {number: status_piece(row) for number, row in proper.items()}
    page.account_pieces = {
        part.account_id: account_piece(part) for row in page.rows for part in (row, row.original) if part is not None
    }
    page.found = fragments.load([*page.status_pieces.values(), *page.account_pieces.values()])
    known = page.found.pieces
    page.sources = load_sources(number for number, piece in page.status_pieces.items() if piece.key not in known)
    page.accounts = load_accounts(number for number, piece in page.account_pieces.items() if piece.key not in known)
    if page.sources or page.accounts:
        page.emojis = EmojiLookup(
            [
                *((source.domain, source.texts) for source in page.sources.values()),
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
    """`select` and `fill`: the page of these posts (or their ids) for a viewer, at most five queries.

    Posts the viewer may not read are left out: what is shown is decided from rows read now, never from a cache.
    """
    return fill(select((item if isinstance(item, int) else item.id for item in statuses), viewer_id, verdict))
