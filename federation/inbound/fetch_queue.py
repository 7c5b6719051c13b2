"""Processing of the background queues: fetches, steps of thread crawls, and lookups. Source: DESIGN "Lanes"; contract,
federation section 13; security rows 34, 58 and 71.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

from accounts.queries.accounts import by_address
from accounts.services.domains import note_reached
from federation.documents.reading import Rejected
from federation.inbound.processing import act_upon
from federation.inbound.synchronizing import synchronize_followers
from federation.models import Fetch, FetchKind, Lookup, ThreadStep
from federation.reasons import Reason
from federation.remote.actors import find_or_fetch, refresh_if_stale
from federation.remote.collections import find_or_fetch_linked, read_collections, resolve_item
from federation.remote.fetching import Awaited, Gathered
from federation.remote.lookups import ask_for
from federation.remote.posts import fetch_again, find_or_fetch_post
from federation.remote.profiles import read_outbox, read_pins, read_profile, verify_links
from federation.remote.quotes import resolve_quote
from federation.remote.software import read_software
from federation.remote.threads import take_step
from social.kernel.errors import KernelError, Unavailable
from social.kernel.reasons import count_left_out
from social.kernel.refusals import count_refusals
from social.kernel.runner import Failed, Job, Steps, WaitingRow, Work
from statuses.services.receiving import join_mentions

#: Time-out of one request, in seconds.
DEADLINE: Final = 10.0
R = TypeVar("R", bound=WaitingRow)


def _fetch(job: Job[R], act: Callable[[R], None]) -> Steps:
    """Run the work of a row until it needs a document; fetch the document, and run the work again with it."""
    gathered = Gathered()
    while True:
        try:
            with gathered.in_use(), count_left_out() as left_out:
                act(job.row)
            count_refusals(job.row.host, left_out)
            return
        except Awaited as reason:
            awaited = reason
        except Unavailable as error:
            raise Failed(str(error)) from None
        except (Rejected, KernelError) as error:
            count_refusals(
                job.row.host, {error.reason if isinstance(error, Rejected) else Reason.REFUSED_BY_SERVICE: 1}
            )
            raise Failed(str(error), final=True) from None
        job.answers[awaited.host] = "it does not answer"
        if (yield gathered.ask(awaited, DEADLINE)):
            job.answers[awaited.host] = ""


def _work(row: Fetch) -> None:
    if row.kind == FetchKind.ACTIVITY:
        if row.activity_id is not None:
            act_upon(row.activity_id)
    elif row.kind == FetchKind.ACTOR:
        refresh_if_stale(row.uri)
    elif row.kind == FetchKind.PINS:
        read_pins(row.uri)
    elif row.kind == FetchKind.PROFILE:
        read_profile(row.uri)
    elif row.kind == FetchKind.LINKS:
        verify_links(row.uri)
    elif row.kind == FetchKind.OUTBOX:
        read_outbox(row.uri)
    elif row.kind == FetchKind.COLLECTIONS:
        read_collections(row.uri)
    elif row.kind == FetchKind.FEATURED:
        resolve_item(row.uri)
    elif row.kind == FetchKind.COLLECTION:
        find_or_fetch_linked(row.uri)
    elif row.kind == FetchKind.SOFTWARE:
        read_software(row.uri)
    elif row.kind == FetchKind.QUOTE:
        resolve_quote(row.uri, remaining=row.remaining)
    elif row.kind == FetchKind.FOLLOWERS:
        if row.activity is not None:
            url, _hash, digest = row.uri.rpartition("#")
            synchronize_followers(row.activity.actor, url, digest)
    elif row.kind == FetchKind.PERSON:
        join_mentions(find_or_fetch(row.uri))
    elif row.kind == FetchKind.EDIT:
        fetch_again(row.uri)
    else:
        find_or_fetch_post(row.uri, publish_event=False, ancestors=row.remaining)


def _look_up(row: Lookup) -> None:
    username, _at, domain = row.address.partition("@")
    ask_for(username, domain)
    if not by_address([(username, domain)]):
        raise Rejected(Reason.OTHER_ADDRESS)


def _note_reached(rows: Sequence[WaitingRow]) -> None:
    note_reached({row.host for row in rows if row.dead_at is None})


FETCHES: Final = Work(Fetch, lambda jobs: (_fetch(job, _work) for job in jobs), _note_reached)
THREADS: Final = Work(ThreadStep, lambda jobs: (_fetch(job, take_step) for job in jobs), _note_reached)
LOOKUPS: Final = Work(Lookup, lambda jobs: (_fetch(job, _look_up) for job in jobs))
