"""Processes the queues of fetches, thread crawls and lookups (DESIGN "Lanes"; security rows 34, 58 and 71)."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, TypeVar

from accounts.queries.accounts import by_address
from accounts.services.domains import record_reached_hosts
from federation.inbound import processing, synchronizing
from federation.models import Fetch, FetchKind, Lookup, ThreadStep
from federation.reasons import Reason, Rejected
from federation.remote import actors, collections, lookups, posts, profiles, quotes, software, threads
from federation.remote.fetching import Awaited, Gathered
from social.kernel import reasons, refusals
from social.kernel.errors import KernelError, Unavailable
from social.kernel.runner import Failed, Job, Steps, WaitingRow, Work
from statuses.services.receiving import join_mentions

#: Time-out of one request, in seconds.
DEADLINE: Final = 10.0
R = TypeVar("R", bound=WaitingRow)


def _fetch(job: Job[R], act: Callable[[R], None]) -> Steps:
    """Run the work of a row until a document is missing; fetch the document, and run the work again with it."""
    gathered = Gathered()
    while True:
        try:
            with gathered.in_use(), reasons.count_left_out() as left_out:
                act(job.row)
            refusals.count_refusals(job.row.host, left_out)
            return
        except Awaited as reason:
            awaited = reason
        except Unavailable as error:
            raise Failed(str(error)) from None
        except (Rejected, KernelError) as error:
            refusals.count_refusals(
                job.row.host, {error.reason if isinstance(error, Rejected) else Reason.REFUSED_BY_SERVICE: 1}
            )
            raise Failed(str(error), final=True) from None
        job.answers[awaited.host] = "it does not answer"
        if (yield gathered.ask(awaited, DEADLINE)):
            job.answers[awaited.host] = ""


_ACTIONS: Final[Mapping[str, Callable[[str], None]]] = {
    FetchKind.ACTOR: actors.refresh_if_stale,
    FetchKind.PINS: profiles.read_pins,
    FetchKind.PROFILE: profiles.read_profile,
    FetchKind.LINKS: profiles.verify_links,
    FetchKind.OUTBOX: profiles.read_outbox,
    FetchKind.COLLECTIONS: collections.read_collections,
    FetchKind.FEATURED: collections.resolve_item,
    FetchKind.COLLECTION: collections.find_or_fetch_linked,
    FetchKind.SOFTWARE: software.read_software,
    FetchKind.EDIT: posts.fetch_again,
}


def _work(row: Fetch) -> None:
    if row.kind in _ACTIONS:
        _ACTIONS[row.kind](row.uri)
    elif row.kind == FetchKind.ACTIVITY:
        if row.activity_id is not None:
            processing.act_upon(row.activity_id)
    elif row.kind == FetchKind.QUOTE:
        quotes.resolve_quote(row.uri, remaining=row.remaining)
    elif row.kind == FetchKind.FOLLOWERS:
        if row.activity is not None:
            url, _hash, digest = row.uri.rpartition("#")
            synchronizing.synchronize_followers(row.activity.actor, url, digest)
    elif row.kind == FetchKind.PERSON:
        join_mentions(actors.find_or_fetch(row.uri))
    else:
        posts.find_or_fetch_post(row.uri, publish_event=False, ancestors=row.remaining)


def _look_up(row: Lookup) -> None:
    username, _at, domain = row.address.partition("@")
    lookups.look_up_account(username, domain)
    if not by_address([(username, domain)]):
        raise Rejected(Reason.OTHER_ADDRESS)


def _note_reached(rows: Sequence[WaitingRow]) -> None:
    record_reached_hosts({row.host for row in rows if row.dead_at is None})


FETCHES: Final = Work(Fetch, lambda jobs: (_fetch(job, _work) for job in jobs), _note_reached)
THREADS: Final = Work(ThreadStep, lambda jobs: (_fetch(job, threads.take_step) for job in jobs), _note_reached)
LOOKUPS: Final = Work(Lookup, lambda jobs: (_fetch(job, _look_up) for job in jobs))
