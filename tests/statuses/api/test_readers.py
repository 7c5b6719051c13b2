"""Tests that every endpoint shows a post to the same readers (security row 19).

Six readers try every visibility and every route: without permission the response is byte for byte the same as for a post that
does not exist. With random data, every endpoint that returns posts or quoted posts agrees with `statuses.policies.visibility`.
"""

from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
from django.db import transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import Account, User
from accounts.queries.relations import load_relations
from social.api.access import AccessKind
from social.kernel import clock
from statuses.models import Mention, QuoteState, Status, Visibility
from statuses.policies.audience import THREAD, can_see
from statuses.queries.posts import load_posts
from statuses.services.storing import NewQuote
from tests.factories.accounts import make_account
from tests.factories.statuses import block, follow, make_remote_status, make_status, mute
from tests.statuses.conftest import api_of
from tests.support.access_checks import reading_routes
from tests.support.client import Api

pytestmark = pytest.mark.django_db
STATUSES = "/api/v1/statuses"
READING = reading_routes("api/v1/statuses/<id>", AccessKind.OPTIONAL_USER)
NEEDS_TOKEN = reading_routes("api/v1/statuses/<id>", AccessKind.USER, AccessKind.ANY_TOKEN)
ACTING = ("/favourite", "/unfavourite", "/reblog", "/unreblog")


def _readers(author: Account) -> dict[str, Api]:
    people = {name: make_account(name) for name in ("stranger", "follower", "mentioned", "blocked", "disabled")}
    for follower in ("follower", "disabled"):
        follow(people[follower], author)
    # Security row 80: where no token is needed, a user who has been disabled counts as a visitor.
    User.objects.filter(account=people["disabled"]).update(disabled_at=clock.now())
    follow(people["blocked"], author)
    block(author, people["blocked"])
    return {"anybody": Api(), "author": api_of(author)} | {name: api_of(person) for name, person in people.items()}


MAY_READ = {
    "public": {"anybody", "disabled", "author", "stranger", "follower", "mentioned"},
    "unlisted": {"anybody", "disabled", "author", "stranger", "follower", "mentioned"},
    "local": {"author", "stranger", "follower", "mentioned"},
    "private": {"author", "follower", "mentioned"},
    "direct": {"author", "mentioned"},
}

NOBODY = ("anybody", "disabled")


@pytest.mark.parametrize("visibility", MAY_READ)
def test_every_route_of_a_post_responds_only_to_its_readers(alice: Account, visibility: str) -> None:
    readers = _readers(alice)
    status = make_status(alice, "@mentioned hello", visibility=visibility)
    answer = make_status(alice, "@mentioned again", visibility=visibility, reply_to=status)
    for name, api in readers.items():
        for route in READING + ((*NEEDS_TOKEN, *ACTING, "") if name not in NOBODY else ()):
            send: Any = api.post if route in ACTING else api.get
            shown = send(f"{STATUSES}/{status.id}{route}")
            if name in MAY_READ[visibility]:
                allowed = {200, 403} if route == "/reblog" else {200}
                assert shown.status_code in allowed, (name, route, shown.content)
            else:
                missing = send(f"{STATUSES}/1{route}")
                assert (shown.status_code, shown.content) == (404, missing.content), (name, route)
        seen = {item["id"] for item in api.get(f"{STATUSES}?id[]={status.id}&id[]={answer.id}").json()}
        listed = {item["id"] for item in api.get(f"/api/v1/accounts/{alice.id}/statuses").json()}
        expected = {str(status.id), str(answer.id)} if name in MAY_READ[visibility] else set()
        assert seen == expected, name
        assert {number for number in listed if number in {str(status.id), str(answer.id)}} == expected, name


_numbers = count(1)
_person = st.integers(0, 3)
_pair = st.tuples(_person, _person).filter(lambda pair: pair[0] != pair[1])
_WORLD = {
    "posts": st.lists(
        st.tuples(
            _person,
            st.sampled_from(Visibility.values),
            st.frozensets(_person, max_size=2),
            st.integers(-1, 5),
            st.integers(-3, 5),
        ),
        min_size=2,
        max_size=7,
    ),
    "follows": st.frozensets(_pair, max_size=6),
    "blocks": st.frozensets(_pair, max_size=2),
    "mutes": st.frozensets(_pair, max_size=2),
    "limited": st.none() | _person,
    "suspended": st.none() | _person,
}


def _agree(
    posts: Any,
    follows: Any,
    blocks: Any,
    mutes: Any,
    limited: int | None,
    suspended: int | None,
    *,
    routes: tuple[str, ...] = ("",),
) -> None:
    with transaction.atomic():
        people = [make_account(f"reader{next(_numbers)}") for _place in range(4)]
        for make, pairs in ((follow, follows), (block, blocks), (mute, mutes)):
            for one, other in pairs:
                make(people[one], people[other])
        written: list[Status] = []
        for author, visibility, mentions, parent, base in posts:
            # The rows are inserted without checks, as if the accounts had replied and quoted before they were blocked.
            answered = written[parent % len(written)] if parent >= 0 and written else None
            quote = None
            if base >= 0 and written:
                quote = NewQuote(quoted_id=written[base % len(written)].id, state=QuoteState.ACCEPTED)
            status = make_remote_status(people[author], visibility=visibility, parent=answered, quote=quote, uri=None)
            Mention.objects.bulk_create(Mention(status=status, account=people[place]) for place in mentions)
            written.append(status)
        for place, column in ((limited, "limited_at"), (suspended, "suspended_at")):
            if place is not None:
                Account.objects.filter(id=people[place].id).update(**{column: clock.now()})
        for place, viewer in enumerate((None, *people)):
            if place - 1 == suspended:
                continue  # a suspended user cannot sign in
            _compare(written, people, viewer, routes)
        transaction.set_rollback(True)


def _quoted_in(body: Any) -> Iterator[int]:
    """Yield the ids of all quoted posts anywhere in a body."""
    if isinstance(body, list):
        for item in body:
            yield from _quoted_in(item)
    elif isinstance(body, dict):
        for name in ("quoted_status_id", "quoted_status"):
            if body.get(name) is not None:
                yield int(body[name]["id"] if name == "quoted_status" else body[name])
        for value in body.values():
            yield from _quoted_in(value)


def _compare(written: list[Status], people: list[Account], viewer: Account | None, routes: tuple[str, ...]) -> None:
    api = Api() if viewer is None else api_of(viewer)
    viewer_id = None if viewer is None else viewer.id
    relations = load_relations(viewer_id, [person.id for person in people])
    rows = load_posts(status.id for status in written)
    readable = {row.id for row in rows if can_see(row, viewer_id, relations, row.mentioned_ids)}
    listable = {row.id for row in rows if row.id in readable and THREAD.shows(row, relations)}
    for row in rows:
        for route in routes:
            if viewer is None and route in NEEDS_TOKEN:
                continue
            answer = api.get(f"{STATUSES}/{row.id}{route}")
            assert (answer.status_code == 200) == (row.id in readable), (route, answer.content)
            assert set(_quoted_in(answer.json())) <= readable, (route, answer.content)
            if route == "/quotes" and row.id in readable:
                assert {int(item["id"]) for item in answer.json()} <= readable
    many = api.get(f"{STATUSES}?{'&'.join(f'id[]={row.id}' for row in rows)}").json()
    assert {int(item["id"]) for item in many} == listable
    pages = [api.get(f"/api/v1/accounts/{person.id}/statuses?limit=40").json() for person in people]
    assert {int(item["id"]) for page in pages for item in page} == readable
    assert set(_quoted_in([many, pages])) <= readable
    for status in written:
        if status.id in readable:
            thread = api.get(f"{STATUSES}/{status.id}/context").json()
            around = {int(item["id"]) for part in ("ancestors", "descendants") for item in thread[part]}
            family = set(status.path[:-1]) | {other.id for other in written if status.id in other.path[:-1]}
            assert around == family & listable


@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
@given(**_WORLD)
def test_every_endpoint_agrees_with_the_rule(posts, follows, blocks, mutes, limited, suspended) -> None:
    _agree(posts, follows, blocks, mutes, limited, suspended)


@pytest.mark.verify
@pytest.mark.timeout(600)
@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(**_WORLD)
def test_every_endpoint_agrees_with_the_rule_in_sixty_worlds(posts, follows, blocks, mutes, limited, suspended) -> None:
    _agree(posts, follows, blocks, mutes, limited, suspended, routes=(*READING, *NEEDS_TOKEN))
