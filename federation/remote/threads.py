"""Crawls the thread around a post that a viewer has opened, within limits (contract, federation section 13; row 34)."""

from collections.abc import Iterable, Mapping
from datetime import timedelta
from hashlib import blake2b
from typing import Any, Final

from django.db import transaction
from django.db.models import Exists, F, OuterRef
from django.db.models.functions import Now

from accounts.models import Account
from federation.documents import reading, received_notes
from federation.models import StepKind, ThreadStep, ThreadWalk
from federation.reasons import Reason, Rejected
from federation.remote import actors, fetching, posts, references
from social.api import admission, limits
from social.api.async_refresh import AsyncRefresh
from social.kernel import clock, links
from social.kernel.runner import Host, enqueue
from statuses.models import Status
from statuses.policies.visibility import OPEN_VISIBILITIES

POSTS_LIMIT: Final = 1000
KNOWN_LIMIT: Final = 100
"""Maximum number of known replies whose servers are asked for further replies, newest first."""
ACTORS_LIMIT: Final = 400
PAGES_LIMIT: Final = 500
COLLECTION_LIMIT: Final = 500
YOUNG_POST_AGE: Final = timedelta(minutes=5)
"""Minimum age of a post whose thread is crawled, because other servers have hardly any replies to a younger post."""
CRAWL_INTERVAL: Final = timedelta(minutes=15)


class RemoteThreads:
    """Implementation of the port `statuses.ports.RemoteThreads`."""

    def refresh(self, status_id: int, *, account_id: int) -> AsyncRefresh | None:
        state = self.find(status_id)
        if state is None and _begin(status_id, account_id):
            state = self.find(status_id)
        return state if state is not None and state.running else None

    def find(self, status_id: int) -> AsyncRefresh | None:
        walk = ThreadWalk.objects.filter(status_id=status_id).first()
        if walk is None:
            return None
        # A client need not wait for servers that have failed, because the next attempt to reach them may be much later.
        failing = Host.objects.filter(queue=ThreadStep.queue, name=OuterRef("host"), failures__gt=0, retry_at__gt=Now())
        running = walk.steps.filter(~Exists(failing), dead_at=None, attempts=0).exists()
        if not running and clock.now() - walk.begun_at > CRAWL_INTERVAL:
            return None
        return AsyncRefresh(status_id, running, walk.found)


@transaction.atomic
def _begin(status_id: int, account_id: int) -> bool:
    """Start to crawl a thread for a local account. Return False for a private post, for a post younger than YOUNG_POST_AGE,
    within CRAWL_INTERVAL after the last crawl, and if the account has started too many crawls.

    Asks the servers of the post and of its known replies, because each server knows the replies to its own posts best.
    """
    post = Status.objects.get(id=status_id)
    if not post.is_for_anybody or clock.now() - post.created_at < YOUNG_POST_AGE:
        return False
    if admission.is_exceeded(limits.THREADS, subject=str(account_id)):
        return False
    walk, is_new = ThreadWalk.objects.select_for_update().get_or_create(status=post)
    if not is_new and clock.now() - walk.begun_at <= CRAWL_INTERVAL:
        return False
    walk.begun_at, walk.found, walk.actors, walk.posts, walk.pages = clock.now(), 0, 0, [], []
    walk.save()
    walk.steps.all().delete()
    replies = Status.objects.filter(
        thread_id=post.thread_root_id,
        thread_path__contains=[post.id],
        local=False,
        visibility__in=OPEN_VISIBILITIES,
        deleted_at=None,
    ).order_by("-id")
    _ask(walk.id, StepKind.POST, filter(None, [post.uri, *replies.values_list("uri", flat=True)[:KNOWN_LIMIT]]))
    top = Status.objects.filter(id=post.path[0]).first()
    if top is not None and top.in_reply_to_uri:
        _ask(walk.id, StepKind.ABOVE, [top.in_reply_to_uri])
    return True


def take_step(step: ThreadStep) -> None:
    """Fetch the document of one step, store the post or its current content, and add the next steps. Idempotent. Never call
    this inside a transaction.

    A listed post is stored only if it replies to a known post. Raises Rejected, Missing, and Unavailable when a server could
    not be reached.
    """
    if step.kind == StepKind.PAGE:
        _read_page(step, fetching.fetch_collection(step.uri), step.remaining)
        return
    document = fetching.fetch_document(step.uri)
    note = received_notes.read_note(document)
    stored = references.find_post_by_uri(note.uri)
    if stored is not None:
        if posts.is_refreshable(stored):
            posts.store_again(stored, note)
    else:
        is_answer = note.in_reply_to is not None and references.find_post_by_uri(note.in_reply_to) is not None
        if step.kind == StepKind.POST and not is_answer:
            raise Rejected(Reason.ANSWERS_NOTHING_KNOWN)
        author = _find_author(step.walk_id, note.author_uri)
        status = posts.store_note(note, author, publish_event=False, ancestors=0)
        if status is None:
            raise Rejected(Reason.DELETED_NOTE)
        posts.request_quoted(status, remaining=0)
        ThreadWalk.objects.filter(id=step.walk_id).update(found=F("found") + 1)
    if step.kind == StepKind.ABOVE:
        _ask(step.walk_id, StepKind.ABOVE, [note.in_reply_to] if note.in_reply_to else [])
    else:
        _read_page(step, document.get("replies"), COLLECTION_LIMIT)


def _find_author(walk_id: int, uri: str) -> Account:
    """Return the author of a post of a thread, fetched if unknown. Raises Rejected after ACTORS_LIMIT fetched authors."""
    account = Account.objects.filter(uri=uri).first()
    if account is not None:
        return account
    walks = ThreadWalk.objects.filter(id=walk_id)
    if not walks.filter(actors__lt=ACTORS_LIMIT).exists():
        raise Rejected(Reason.TOO_MANY_AUTHORS)
    author = actors.find_or_fetch(uri)
    walks.update(actors=F("actors") + 1)
    return author


def _read_page(step: ThreadStep, value: Any, remaining: int) -> None:
    """Add steps for the posts that a collection or page lists, and for the next page, if it is on the same server."""
    page = value
    # A collection may embed its first page.
    if isinstance(value, Mapping) and isinstance(value.get("first"), Mapping):
        page = value["first"]
    following = reading.uri_of(page)
    if isinstance(page, Mapping):
        items = reading.uris_of(page.get("items") or page.get("orderedItems"), remaining)
        _ask(step.walk_id, StepKind.POST, items)
        remaining -= len(items)
        following = reading.uri_of(page.get("next") or page.get("first"))
    if following is not None and remaining > 0 and reading.same_origin(following, step.uri):
        _ask(step.walk_id, StepKind.PAGE, [following], remaining=remaining)


@transaction.atomic
def _ask(walk_id: int, kind: StepKind, uris: Iterable[str], *, remaining: int = 0) -> None:
    walk = ThreadWalk.objects.select_for_update().filter(id=walk_id).first()
    if walk is None:
        return
    hashes, limit = (walk.pages, PAGES_LIMIT) if kind is StepKind.PAGE else (walk.posts, POSTS_LIMIT)
    known, steps = set(hashes), []
    for uri in uris:
        host, mark = reading.origin_of(uri), _mark(uri)
        if host is not None and mark not in known and len(hashes) < limit and not links.is_own(uri):
            known.add(mark)
            hashes.append(mark)
            steps.append(ThreadStep(walk=walk, kind=kind, uri=uri, host=host, remaining=remaining))
    walk.save(update_fields=["posts", "pages"])
    enqueue(*steps)


def _mark(uri: str) -> int:
    return int.from_bytes(blake2b(uri.encode("utf-8", "replace"), digest_size=8).digest(), signed=True)


def forget_walks(older_than: timedelta = timedelta(days=1)) -> int:
    """Remove the crawls that began longer than `older_than` ago, with their steps; return the number of removed rows."""
    removed, _rows = ThreadWalk.objects.filter(begun_at__lt=clock.now() - older_than).delete()
    return removed
