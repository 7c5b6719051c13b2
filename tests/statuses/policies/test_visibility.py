"""Tests of the rule for who can read a post: the Python function and its SQL agree."""

from dataclasses import dataclass, replace
from itertools import count

import pytest
from django.db import connection, transaction
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import Account, AccountDomainBlock
from accounts.policies.relations import NO_RELATIONS, Relations, hidden_from
from accounts.queries.relations import load_hidden, load_relations, load_relations_of
from social.kernel import clock
from statuses.models import Mention, Status, Visibility
from statuses.policies.audience import THREAD, can_see, readable_by_viewer, visible_to
from statuses.policies.posts import Author, Post
from statuses.queries.page import select
from statuses.queries.posts import load_posts
from tests.factories.statuses import block, follow, mute

_numbers = count(1)
PEOPLE = 5
# The last two accounts are remote.
DOMAINS = (None, None, None, "one.example", "two.example")
_person = st.integers(0, PEOPLE - 1)
_pairs = st.frozensets(st.tuples(_person, _person).filter(lambda pair: pair[0] != pair[1]), max_size=6)


@dataclass(frozen=True)
class Drawn:
    """A random post; `boosts` is the position of the boosted post among the earlier posts, or None if it is not a boost."""

    author: int
    visibility: str
    local_only: bool
    deleted: bool
    mentions: frozenset[int]
    boosts: int | None


_posts = st.lists(
    st.builds(
        Drawn,
        author=_person,
        visibility=st.sampled_from(Visibility.values),
        local_only=st.sampled_from((False, False, True)),
        deleted=st.sampled_from((False, False, False, True)),
        mentions=st.frozensets(_person, max_size=2),
        boosts=st.none() | st.integers(0, 20),
    ),
    min_size=1,
    max_size=8,
)


def _people(suspended: frozenset[int]) -> list[Account]:
    return Account.objects.bulk_create(
        Account(
            username=f"graph{next(_numbers)}",
            uri=f"https://graph.example/{next(_numbers)}",
            domain=DOMAINS[place],
            suspended_at=clock.now() if place in suspended else None,
        )
        for place in range(PEOPLE)
    )


def _write(posts: list[Drawn], people: list[Account]) -> list[Status]:
    written: list[Status] = []
    for post in posts:
        originals = [status for status in written if status.reblog_of_id is None]
        boosted = originals[post.boosts % len(originals)] if post.boosts is not None and originals else None
        if boosted is not None and any(
            status.reblog_of_id == boosted.id and status.account_id == people[post.author].id for status in written
        ):
            boosted = None
        status = Status.objects.create(
            account=people[post.author],
            visibility=post.visibility,
            local=True,
            local_only=post.local_only,
            deleted_at=clock.now() if post.deleted else None,
            reblog_of=boosted,
        )
        if boosted is None:
            Mention.objects.bulk_create(
                Mention(status=status, account=people[place], silent=place % 2 == 0) for place in post.mentions
            )
        written.append(status)
    return written


Pairs = frozenset[tuple[int, int]]


def _agree(
    posts: list[Drawn],
    follows: Pairs,
    blocks: Pairs,
    mutes: Pairs,
    domain_blocks: frozenset[tuple[int, str]],
    suspended: frozenset[int],
) -> None:
    with transaction.atomic():
        people = _people(suspended)
        for one, other in follows:
            follow(people[one], people[other])
        for one, other in blocks:
            block(people[one], people[other])
        for one, other in mutes:
            ended = (one + other) % 3 == 0
            mute(people[one], people[other], expires_at=clock.now() if ended else None, hide_notifications=one < other)
        for one, domain in domain_blocks:
            AccountDomainBlock.objects.create(account=people[one], domain=domain)
        written = _write(posts, people)
        ids = [status.id for status in written]
        loaded = load_posts(ids)
        everybody = [person.id for person in people]
        mentioning = set(Mention.objects.filter(status_id__in=ids).values_list("status_id", flat=True))
        of_many = load_relations_of(everybody, everybody)
        for viewer_id in (None, *everybody):
            relations = load_relations(viewer_id, everybody)
            if viewer_id is not None:
                _relations_agree(relations, of_many.get(viewer_id, Relations(viewer_id=viewer_id)), people)
            by_sql = set(Status.objects.filter(visible_to(viewer_id), id__in=ids).values_list("id", flat=True))
            by_rule = {post.id for post in loaded if can_see(post, viewer_id, relations, post.mentioned_ids)}
            assert by_sql == by_rule
            assert set(select(ids, viewer_id).ids) == by_rule
            assert _by_condition(viewer_id, ids) == by_rule
            # The condition must have the same result in a query of another table.
            by_mention = set(
                Mention.objects.filter(visible_to(viewer_id, prefix="status__"), status_id__in=ids).values_list(
                    "status_id", flat=True
                )
            )
            assert by_mention == by_rule & mentioning
        transaction.set_rollback(True)


def _by_condition(viewer_id: int | None, ids: list[int]) -> set[int]:
    """Return the posts that the SQL condition permits; a boost is permitted only if the boosted post is."""
    sql = f"SELECT s.id, s.reblog_of_id FROM statuses_status s WHERE s.id = ANY(%(ids)s) AND {readable_by_viewer()}"
    with connection.cursor() as cursor:
        cursor.execute(sql, {"ids": ids, "viewer": viewer_id or 0})
        found = dict(cursor.fetchall())
    return {status_id for status_id, original in found.items() if original is None or original in found}


def _relations_agree(one: Relations, of_many: Relations, people: list[Account]) -> None:
    """Check that one viewer's relations equal the relations loaded for many, and hide the same accounts as the queryset
    condition.
    """
    for name in ("following", "muting", "blocking", "blocked_by", "domain_blocking", "domain_blocked_by"):
        assert getattr(one, name) == getattr(of_many, name), name
    assert one.viewer_id is not None
    ids = [person.id for person in people]
    hidden = Mention.objects.filter(hidden_from(one.viewer_id, "account_id"), account_id__in=ids)
    mentioned = set(Mention.objects.filter(account_id__in=ids).values_list("account_id", flat=True)) - {one.viewer_id}
    by_rule = {person for person in mentioned if one.blocked_either_way(person) or person in one.muting}
    assert set(hidden.values_list("account_id", flat=True)) == by_rule
    whole = load_hidden(one.viewer_id)
    assert (whole.blocking, whole.blocked_by, set(whole.muting)) == (one.blocking, one.blocked_by, set(one.muting))
    assert {person.id for person in people if person.domain in whole.domains} == one.domain_blocking


_WORLD = {
    "posts": _posts,
    "follows": _pairs,
    "blocks": st.frozensets(st.tuples(_person, _person).filter(lambda pair: pair[0] != pair[1]), max_size=2),
    "mutes": _pairs,
    # Only local accounts block servers.
    "domain_blocks": st.frozensets(
        st.tuples(st.integers(0, 2), st.sampled_from(("one.example", "two.example"))), max_size=2
    ),
    "suspended": st.frozensets(_person, max_size=1),
}


@pytest.mark.django_db
@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(**_WORLD)
def test_the_rule_and_its_sql_agree(**world) -> None:
    _agree(**world)


@pytest.mark.verify
@pytest.mark.timeout(600)
@pytest.mark.django_db
@settings(max_examples=600, deadline=None, suppress_health_check=list(HealthCheck))
@given(**_WORLD)
def test_the_rule_and_its_sql_agree_in_six_hundred_examples(**world) -> None:
    _agree(**world)


AUTHOR, READER = 1, 2


def _post(
    visibility: str,
    *,
    deleted: bool = False,
    suspended: bool = False,
    boosted: Post | None = None,
    local_only: bool = False,
) -> Post:
    return Post(
        id=1,
        account_id=AUTHOR,
        created_ms=0,
        in_reply_to_id=None,
        in_reply_to_account_id=None,
        reblog_of_id=boosted.id if boosted is not None else None,
        application_id=None,
        version=1,
        quote_policy=0,
        interaction_policy=0,
        visibility=visibility,
        uri=None,
        language=None,
        is_deleted=deleted,
        local=True,
        sensitive=False,
        is_orphan=False,
        imported=False,
        local_only=local_only,
        author=Author(AUTHOR, 1, "author", None, "", is_suspended=suspended, is_limited=False, is_sensitized=False),
        original=boosted,
    )


FOLLOWER = Relations(viewer_id=READER, following={AUTHOR: None})
STRANGER = Relations(viewer_id=READER)
BLOCKED = Relations(viewer_id=READER, following={AUTHOR: None}, blocked_by=frozenset({AUTHOR}))


@pytest.mark.parametrize(
    ("visibility", "anybody", "stranger", "follower", "mentioned"),
    [
        ("public", True, True, True, True),
        ("unlisted", True, True, True, True),
        ("private", False, False, True, True),
        ("limited", False, False, False, True),
        ("direct", False, False, False, True),
    ],
)
def test_each_visibility_has_its_readers(visibility, anybody, stranger, follower, mentioned) -> None:
    post = _post(visibility)
    assert can_see(post, None, NO_RELATIONS, ()) is anybody
    assert can_see(post, READER, STRANGER, ()) is stranger
    assert can_see(post, READER, FOLLOWER, ()) is follower
    assert can_see(post, READER, STRANGER, {READER}) is mentioned
    assert can_see(post, AUTHOR, Relations(viewer_id=AUTHOR), ()) is True


@pytest.mark.parametrize("visibility", Visibility.values)
def test_only_local_accounts_read_a_local_only_post_within_its_visibility(visibility) -> None:
    everywhere, here = _post(visibility), _post(visibility, local_only=True)
    for relations, mentioned in ((STRANGER, ()), (FOLLOWER, ()), (STRANGER, {READER})):
        assert can_see(here, READER, relations, mentioned) is can_see(everywhere, READER, relations, mentioned)
        assert can_see(here, READER, replace(relations, is_remote=True), mentioned) is False
        boost = _post("public", boosted=here)
        assert can_see(boost, READER, replace(relations, is_remote=True), mentioned) is False
    assert can_see(here, None, NO_RELATIONS, ()) is False
    assert can_see(here, AUTHOR, Relations(viewer_id=AUTHOR), ()) is True


@pytest.mark.parametrize("visibility", Visibility.values)
def test_an_account_blocked_by_the_author_reads_nothing_even_if_mentioned(visibility) -> None:
    assert can_see(_post(visibility), READER, BLOCKED, {READER}) is False


@pytest.mark.parametrize("visibility", Visibility.values)
def test_posts_that_are_deleted_or_of_a_suspended_author_are_for_nobody(visibility) -> None:
    for post in (_post(visibility, deleted=True), _post(visibility, suspended=True)):
        assert can_see(post, None, NO_RELATIONS, ()) is False
        assert can_see(post, READER, FOLLOWER, {READER}) is False
        assert can_see(post, AUTHOR, Relations(viewer_id=AUTHOR), ()) is False


def test_a_boost_is_readable_if_boost_and_boosted_post_are() -> None:
    assert can_see(_post("public", boosted=_post("public")), None, NO_RELATIONS, ()) is True
    assert can_see(_post("private", boosted=_post("public")), READER, STRANGER, ()) is False
    assert can_see(_post("public", boosted=_post("private")), READER, STRANGER, ()) is False
    assert can_see(_post("public", boosted=_post("public", deleted=True)), READER, FOLLOWER, ()) is False
    # A mention permits reading the boosted post, but not the boost.
    assert can_see(_post("private", boosted=_post("private")), READER, STRANGER, {READER}) is False


def test_lists_leave_out_blocked_muted_and_unfollowed_limited_authors() -> None:
    post = _post("public")
    assert THREAD.shows(post, STRANGER) is True
    assert THREAD.shows(post, Relations(viewer_id=READER, blocking=frozenset({AUTHOR}))) is False
    assert THREAD.shows(post, Relations(viewer_id=READER, muting={AUTHOR: None})) is False
    post.author.is_limited = True
    assert THREAD.shows(post, STRANGER) is False
    assert THREAD.shows(post, NO_RELATIONS) is False
    assert THREAD.shows(post, FOLLOWER) is True
    assert THREAD.shows(post, Relations(viewer_id=AUTHOR)) is True
