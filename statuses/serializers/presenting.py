"""Creates the entities of a page of posts, from bodies that may be cached. Used by REST, streaming, push and pages."""

from collections.abc import Callable, Iterable
from typing import Any, Final

from accounts.collections.serializers import CollectionSerializer
from accounts.emojis.queries import EmojiLookup
from accounts.serializers import account as accounts
from social.api.serializers import EntitySerializer
from social.kernel import clock, fragments, links
from social.kernel.errors import NotFound
from social.kernel.text.searching import Text, beginning
from statuses.models import Status
from statuses.policies.posts import Post, PostBody
from statuses.policies.publishing import PLAIN_TEXT
from statuses.policies.visibility import FOLLOWER_VISIBILITIES, shown_visibility
from statuses.queries.page import PostPage, author_key, fill, hydrate, of_rows, status_key
from statuses.queries.posts import load_posts
from statuses.queries.statuses import load_history
from statuses.serializers.attachments import PollSerializer
from statuses.serializers.card import present_cards
from statuses.serializers.policies import PoliciesSerializer
from statuses.serializers.status import (
    QuoteSerializer,
    ShallowQuoteSerializer,
    StatusEditSerializer,
    body,
    content,
    searched_text,
)

_NO_CONTENT: Final = content(PostBody(id=0), ())


class PageSerializer(EntitySerializer):
    """The entities "Status" of a filled PostPage. `fresh` are the new bodies that may be cached. Counters are never cached,
    because they change with every reply, boost and favourite of a post.
    """

    def to_representation(self, instance: PostPage) -> dict[int, dict[str, Any]]:
        """Return the entities by id, in the page's order, skipping posts that were removed while the page was read."""
        self.page = instance
        self.fresh: dict[str, Any] = {}
        # The matches of the viewer's filters, by post id: a post is searched once, however often it is on the page.
        self.matches: dict[int, dict[int, str]] = {}
        # The members that depend on the viewer, by post id, because a boost and the boosted post share them.
        self.viewer_members: dict[int, dict[str, Any]] = {}
        self.viewer = {"viewer_id": instance.viewer_id, "relations": instance.relations}
        # Authors who do not show which application wrote their posts.
        self.silent: set[int] = set()
        self.bodies = self._load_bodies()
        self.authors = self._load_authors()
        self.cards = present_cards(instance.cards, instance.viewer_id) if instance.cards else {}
        entities = {}
        for post in instance.rows:
            proper = post.proper
            if proper.id in self.bodies and proper.account_id in self.authors and post.account_id in self.authors:
                entities[post.id] = self._post(post, self._quote) if post is proper else self._boost(post, proper)
        return entities

    def _load_bodies(self) -> dict[int, dict[str, Any]]:
        # What may be cached of each post: its `body`, the `application` that wrote it, and `words`, which filters search.
        page, posts, bodies = self.page, self.page.posts, dict(self.page.bodies)
        for number, post in posts.items():
            # If `seen_by` has narrowed the page, its sources still contain the other posts.
            if (source := page.sources.get(number)) is None:
                continue
            name = source.application_name
            bodies[number] = self.fresh[status_key(post)] = {
                "body": body(post, source, page.emojis),
                "application": None if name is None else {"name": name, "website": source.application_website or None},
                "words": beginning(searched_text(source)),
            }
        return bodies

    def _load_authors(self) -> dict[int, dict[str, Any]]:
        page, entities = self.page, {}
        for number, author in page.authors.items():
            cached = page.author_bodies.get(number)
            if cached is None:
                account = page.accounts.get(number)
                if account is None:
                    continue
                cached = accounts.cacheable(account, page.emojis, page.relations)
                if account.moved_to_id is None:
                    self.fresh[author_key(author)] = cached
            entities[number] = accounts.completed(cached, number, accounts.shown_counters(author), page.relations)
            if not cached["shows_application"] and number != page.viewer_id:
                self.silent.add(number)
        return entities

    def _post(self, post: Post, quote: Callable[[Post], dict[str, Any]]) -> dict[str, Any]:
        """Return the entity of a post that is not a boost; `quote` makes the entity of its quote."""
        cached = self.bodies[post.id]
        # If the application was deleted, the cached body may still name it.
        application = cached["application"] if post.application_id is not None else None
        return {
            **cached["body"],
            "local_only": post.local_only,
            "replies_count": post.replies_count,
            "reblogs_count": post.reblogs_count,
            "favourites_count": post.favourites_count,
            "quotes_count": post.quotes_count,
            **self._viewer_members(post, post),
            "card": self.cards.get(post.id),
            "poll": self._poll(post) if post.id in self.page.polls else None,
            "quote": quote(post) if post.quote_state is not None else None,
            "tagged_collections": self._collections(post) if post.collection_ids else [],
            "in_reply_to_id": str(post.in_reply_to_id) if post.in_reply_to_id is not None else None,
            "in_reply_to_account_id": (
                str(post.in_reply_to_account_id) if post.in_reply_to_account_id is not None else None
            ),
            **self._pinned(post),
            **self._application(post, application),
            "account": self.authors[post.account_id],
            "reblog": None,
        }

    def _boost(self, boost: Post, proper: Post) -> dict[str, Any]:
        uri = boost.uri or f"{links.status_uri(boost.username, boost.id)}/activity"
        return {
            "id": str(boost.id),
            "created_at": clock.iso_ms(boost.created_ms),
            "visibility": shown_visibility(boost.visibility),
            "local_only": boost.local_only,
            "uri": uri,
            "url": uri,
            **_NO_CONTENT,
            "replies_count": 0,
            "reblogs_count": 0,
            "favourites_count": 0,
            "quotes_count": 0,
            "in_reply_to_id": None,
            "in_reply_to_account_id": None,
            "language": None,
            "quote": None,
            "card": None,
            "poll": None,
            "tagged_collections": [],
            **self._application(boost, None),
            **self._viewer_members(boost, proper),
            "account": self.authors[boost.account_id],
            "reblog": self._post(proper, self._quote),
        }

    def _viewer_members(self, post: Post, proper: Post) -> dict[str, Any]:
        # A boost has the members of the boosted post. Only `filtered` may differ, because a filter may match the boost itself.
        viewer_id, marks = self.page.viewer_id, self.page.marks
        shared = self.viewer_members.get(proper.id)
        if shared is None:
            shared = {
                "sensitive": proper.sensitive or (proper.author.is_sensitized and viewer_id != proper.account_id),
                **PoliciesSerializer(proper, context=self.viewer).data,
            }
            if viewer_id is not None:
                shared["favourited"] = proper.id in marks.favourited
                shared["reblogged"] = proper.id in marks.reblogged
                shared["bookmarked"] = proper.id in marks.bookmarked
                shared["muted"] = proper.id in marks.muted
                shared["filtered"] = []
            self.viewer_members[proper.id] = shared
        if not marks.filters:
            return shared
        return {**shared, "filtered": marks.filters.results(self._matches(proper), sorted({post.id, proper.id}))}

    def _matches(self, post: Post) -> dict[int, str]:
        if post.id not in self.matches:
            self.matches[post.id] = self.page.marks.filters.search(Text(self.bodies[post.id]["words"]))
        return self.matches[post.id]

    def _collections(self, post: Post) -> list[dict[str, Any]]:
        return [CollectionSerializer(linked).data for linked in self.page.linked_collections(post)]

    def _poll(self, post: Post) -> dict[str, Any]:
        page = self.page
        context = {
            "viewer_id": page.viewer_id,
            "author_id": post.account_id,
            "own_votes": page.marks.votes.get(post.id, ()),
            "domain": post.domain,
            "emojis": page.emojis,
        }
        entity: dict[str, Any] = PollSerializer(page.polls[post.id], context=context).data
        return entity

    def _pinned(self, post: Post) -> dict[str, bool]:
        # Only the viewer's own posts have this member, if they can be pinned.
        page = self.page
        if page.viewer_id != post.account_id or post.visibility not in FOLLOWER_VISIBILITIES:
            return {}
        return {"pinned": post.id in page.marks.pinned}

    def _application(self, post: Post, application: dict[str, Any] | None) -> dict[str, Any]:
        # Local posts have this member if the author shows the application or is the viewer.
        return {"application": application} if post.local and post.account_id not in self.silent else {}

    def _quote(self, post: Post) -> dict[str, Any]:
        # The quoted post is complete, except for the post that it quotes itself.
        quoted, page = post.quoted, self.page
        context: dict[str, Any] = {
            "viewer_id": page.viewer_id,
            "relations": page.relations,
            "with_source": page.with_source,
            "quoted": None,
        }
        if quoted is not None and quoted.id in self.bodies and quoted.account_id in self.authors:
            context["quoted"] = self._post(quoted, lambda inner: ShallowQuoteSerializer(inner, context=context).data)
        entity: dict[str, Any] = QuoteSerializer(post, context=context).data
        return entity


def present_by_id(page: PostPage) -> dict[int, dict[str, Any]]:
    """Return the entities of a page by post id, in the page's order; new bodies are cached."""
    serializer = PageSerializer(page)
    entities: dict[int, dict[str, Any]] = serializer.data
    fragments.save(serializer.fresh)
    return entities


def present(page: PostPage) -> list[dict[str, Any]]:
    """Return the entities of a page, in its order."""
    return list(present_by_id(page).values())


def present_statuses(statuses_or_ids: Iterable[Status | int], viewer_id: int | None) -> list[dict[str, Any]]:
    """Return the entities of the posts that the viewer may read, in order: at most six queries."""
    wanted = list(statuses_or_ids)
    return present(hydrate(wanted, viewer_id)) if wanted else []


def present_status(status: Status | int, viewer_id: int | None) -> dict[str, Any]:
    """Return the entity of one post. Raises NotFound when the viewer may not read the post (any more)."""
    return _only_entity(hydrate([status], viewer_id))


def present_acted_on(post: Post, viewer_id: int) -> dict[str, Any]:
    """Return the entity of a post after the viewer has favourited or boosted it, or has undone a favourite or boost."""
    return _only_entity(fill(of_rows([post], viewer_id)))


def _only_entity(page: PostPage) -> dict[str, Any]:
    for entity in present(page):
        return entity
    raise NotFound


def present_history(post: Post, viewer_id: int | None) -> list[dict[str, Any]]:
    """Return the entities "StatusEdit" of a post, never a boost, oldest first. Raises NotFound for an unreadable post."""
    shown = present_status(post.id, viewer_id)
    versions = load_history(post)
    context = {
        "account": shown["account"],
        "quote": shown["quote"],
        "emojis": EmojiLookup((post.domain, body.texts(local=post.local)) for _post, body in versions),
        "sensitized": post.author.is_sensitized and viewer_id != post.account_id,
    }
    entities: list[dict[str, Any]] = StatusEditSerializer(versions, many=True, context=context).data
    return entities


def present_deleted(status: Status, viewer_id: int) -> dict[str, Any]:
    """Return the entity of the viewer's own post or boost that is about to be deleted. A post has its source instead of
    `content` (clients.md, trap 36). A boost is returned even if the viewer may no longer read the boosted post.
    """
    page = of_rows(load_posts([status.id]), viewer_id)
    page.with_source = True
    entity = _only_entity(fill(page))
    del entity["content"]
    entity["text"] = status.text
    return entity if status.content_type == PLAIN_TEXT else entity | {"content_type": status.content_type}
