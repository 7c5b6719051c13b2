"""Reads a page of posts for a viewer: everything its entities need, in a constant number of queries."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from accounts.collections.queries import ShownCollection, load_whole, seen_by
from accounts.emojis.queries import EmojiLookup, account_texts
from accounts.models import Account
from accounts.policies.relations import NO_RELATIONS, Relations
from accounts.queries.accounts import account_fragment_key, approving, load_accounts
from accounts.queries.relations import featuring_ids, load_hiding, load_reading
from social.kernel import fragments
from statuses.models import Poll, Status
from statuses.policies import interactions, quotes
from statuses.policies.audience import can_see
from statuses.policies.posts import Author, Post, PostBody
from statuses.queries.cards import ShownCards, load_status_cards
from statuses.queries.marks import Marks, load_marks
from statuses.queries.posts import load_bodies, load_polls, load_posts

PostFilter = Callable[[Post, Relations], bool]


def status_key(post: Post) -> str:
    return f"status:{post.id}:{post.version}"


def author_key(author: Author) -> str:
    return account_fragment_key(author.id, author.version)


@dataclass(slots=True)
class PostPage:
    """Posts in the requested order and, once filled, everything that their entities need.

    Created only by `select` and `of_rows`, and presented only after `fill`. `bodies` and `author_bodies` are the bodies found
    in the cache, by id of post and account; `sources` and `accounts` are the values from which the other bodies are made. A
    post that is missing in `cards` or `polls` is presented without card or poll. `collections` are the linked collections with
    all their items, by id. With `with_source`, an author is shown the post with its source, and the quoted post even if the
    quote is not accepted.
    """

    viewer_id: int | None
    rows: list[Post]
    relations: Relations = NO_RELATIONS
    marks: Marks = field(default_factory=Marks)
    bodies: dict[int, dict[str, Any]] = field(default_factory=dict)
    author_bodies: dict[int, dict[str, Any]] = field(default_factory=dict)
    sources: dict[int, PostBody] = field(default_factory=dict)
    accounts: dict[int, Account] = field(default_factory=dict)
    emojis: EmojiLookup = field(default_factory=lambda: EmojiLookup(()))
    cards: ShownCards = field(default_factory=ShownCards)
    polls: dict[int, Poll] = field(default_factory=dict)
    collections: dict[int, ShownCollection] = field(default_factory=dict)
    with_source: bool = False

    @property
    def ids(self) -> list[int]:
        """Ids of the posts of the page; for a boost, the id of the boost itself."""
        return [post.id for post in self.rows]

    @property
    def posts(self) -> dict[int, Post]:
        """Posts with a body on the page, by id: the posts or the boosted posts, and the posts that these quote."""
        found: dict[int, Post] = {}
        for post in self.rows:
            proper = post.proper
            found[proper.id] = proper
            if proper.quoted is not None:
                found[proper.quoted.id] = proper.quoted
        return found

    @property
    def authors(self) -> dict[int, Author]:
        found: dict[int, Author] = {}
        for post in self.rows:
            proper = post.proper
            found[post.account_id] = post.author
            found[proper.account_id] = proper.author
            if proper.quoted is not None:
                found[proper.quoted.account_id] = proper.quoted.author
        return found

    def related_ids(self, post: Post) -> set[int]:
        """Return the accounts whose relations to a viewer matter: quoted authors, authors with policies, members of
        collections.
        """
        shown = [part for part in (post.proper, post.proper.quoted) if part is not None]
        restricted = {
            part.account_id
            for part in shown
            if quotes.depends_on_relations(part.quote_policy) or part.interaction_policy
        }
        linked = (
            self.collections[number] for part in shown for number in part.collection_ids if number in self.collections
        )
        return (
            restricted | {part.account_id for part in post.quotes} | {who for one in linked for who in one.account_ids}
        )

    def linked_collections(self, post: Post) -> list[ShownCollection]:
        """Return the linked collections as the viewer sees them, skipping collections whose owner blocks the viewer."""
        found = (self.collections[number] for number in post.collection_ids if number in self.collections)
        return [
            seen_by(one, self.viewer_id, self.relations)
            for one in found
            if not self.relations.is_blocked_by(one.collection.account_id)
        ]

    def extend(self, other: "PostPage") -> None:
        """Append the posts of another page for the same viewer, before the page is filled."""
        self.rows += other.rows
        self.relations = self.relations.joined(other.relations)

    def seen_by(self, viewer_id: int, post: Post, marks: Marks, relations: Relations | None = None) -> "PostPage":
        """Return a post of this filled page as another viewer sees it. `relations` are that viewer's relations to the
        `related_ids` of the post.
        """
        relations = relations or Relations(viewer_id=viewer_id)
        return replace(self, viewer_id=viewer_id, rows=[post], marks=marks, relations=relations)


def select(
    status_ids: Iterable[int], viewer_id: int | None, accept: PostFilter | None = None, *, with_hiding: bool = False
) -> PostPage:
    """Return the posts that the viewer may read and `accept` accepts. Takes two queries, or one for an anonymous viewer.

    `accept` is called for posts that the viewer may read, with relations that include every author, boosted author, addressed
    account and replied-to author. Without `accept` and `with_hiding`, only the relations that presenting needs are loaded. The
    page can be inspected and truncated; `fill` then loads everything else.
    """
    wanted = list(status_ids)
    posts = load_posts(wanted)
    people: set[int] = set()
    hides, asks = with_hiding or accept is not None, False
    for post in posts:
        proper = post.original or post
        parts: tuple[Post, ...] = (post,) if proper is post else (post, proper)
        if proper.quoted is not None:
            parts += tuple(post.quotes)
            # The state of a quote depends on whether the viewer blocks or mutes the quoted author.
            hides = True
        for part in parts:
            people.add(part.account_id)
            if part.addressed_ids:
                people.update(part.addressed_ids)
            if part.in_reply_to_account_id is not None:
                people.add(part.in_reply_to_account_id)
            if part.quote_policy & quotes.FOLLOWING_BITS or part.interaction_policy & interactions.FOLLOWING_BITS:
                asks = True
    # The query runs even if none of the posts exists, because otherwise the response time would reveal whether a post is hidden
    # or missing (security row 19).
    load = load_hiding if hides else load_reading
    relations = load(viewer_id, people or {0}, with_followed_by=asks) if wanted else NO_RELATIONS
    readable = [
        post
        for post in posts
        if can_see(post, viewer_id, relations, (post.original or post).addressed_ids)
        and (accept is None or accept(post, relations))
    ]
    return PostPage(viewer_id=viewer_id, rows=readable, relations=relations)


def _asks_who_follows(page: PostPage) -> bool:
    """Tell whether a policy of the posts depends on which accounts their authors follow."""
    shown = (*page.rows, *page.posts.values())
    return any(
        post.quote_policy & quotes.FOLLOWING_BITS or post.interaction_policy & interactions.FOLLOWING_BITS
        for post in shown
    )


def of_rows(posts: Iterable[Post], viewer_id: int | None) -> PostPage:
    """Return the page of loaded posts, without checking who may read them. Used by streams, which check each reader
    separately, and for an account that has just acted on a post: an account that undoes an action sees the post even if it may
    no longer read it (SEED-131).
    """
    return PostPage(viewer_id=viewer_id, rows=list(posts))


def fill(page: PostPage) -> PostPage:
    """Add the viewer's marks and the cached bodies; if a body is not cached, add the values from which it is made. One query
    (none for an anonymous viewer) if all bodies are cached, otherwise at most three more; up to three more if a post links to
    collections.
    """
    posts, authors = page.posts, page.authors
    page.polls = load_polls(number for number, row in posts.items() if row.poll_id is not None)
    page.cards = load_status_cards((number for number, row in posts.items() if row.card_id is not None), page.viewer_id)
    if page.viewer_id is not None and posts:
        page.marks = load_marks([page.viewer_id], posts, page.polls).get(page.viewer_id, Marks())
    page.collections = load_whole({number for row in posts.values() for number in row.collection_ids})
    bodies = {status_key(row): number for number, row in posts.items()}
    author_bodies = {author_key(author): number for number, author in authors.items()}
    cached = fragments.load([*bodies, *author_bodies])
    page.bodies = {bodies[key]: body for key, body in cached.items() if key in bodies}
    page.author_bodies = {author_bodies[key]: body for key, body in cached.items() if key in author_bodies}
    page.sources = load_bodies(number for number in posts if number not in page.bodies)
    page.accounts = load_accounts(number for number in authors if number not in page.author_bodies)
    if page.relations.viewer_id != page.viewer_id:
        # For posts that the caller loaded (`of_rows`), no relations have been loaded yet.
        page.relations = load_hiding(
            page.viewer_id,
            {
                *featuring_ids(page.accounts.values(), approving(page.author_bodies)),
                *(number for row in page.rows for number in page.related_ids(row)),
            },
            with_followed_by=_asks_who_follows(page),
        )
    elif page.collections:
        people = (number for one in page.collections.values() for number in one.account_ids)
        page.relations = page.relations.joined(load_hiding(page.viewer_id, people))
    if page.sources or page.accounts or page.polls:
        page.emojis = EmojiLookup(
            [
                *(
                    (row.domain, page.sources[row.id].texts(local=row.local))
                    for row in posts.values()
                    if row.id in page.sources
                ),
                *((posts[number].domain, poll.options) for number, poll in page.polls.items()),
                *((account.domain, account_texts(account)) for account in page.accounts.values()),
                *(
                    (account.moved_to.domain, account_texts(account.moved_to))
                    for account in page.accounts.values()
                    if account.moved_to is not None
                ),
            ]
        )
    return page


def hydrate(statuses: Iterable[Status | int], viewer_id: int | None, accept: PostFilter | None = None) -> PostPage:
    """Return the filled page of these posts (or ids) for a viewer: at most six queries, nine with collections. Posts that the
    viewer may not read are left out; freshly read rows decide this, never a cache.
    """
    return fill(select((item if isinstance(item, int) else item.id for item in statuses), viewer_id, accept))
