"""Tests of removing all favourites of an account in batches, with correct counters."""

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from social.kernel import clock
from social.kernel.outbox import OutboxRow
from statuses.models import Favourite, Status
from statuses.services.interactions import favourite_status, take_back_favourites
from tests.factories.accounts import make_account
from tests.factories.statuses import make_status

pytestmark = pytest.mark.django_db


def likes(post: Status) -> int:
    return Status.objects.select_related("stat").get(id=post.id).stat.favourites_count


def test_all_favourites_of_an_account_are_undone_and_those_of_others_stay() -> None:
    ann, bea, author = make_account(), make_account(), make_account()
    posts = [make_status(author, f"post {number}") for number in range(5)]
    for post in posts:
        favourite_status(account_id=ann.id, status=post)
    favourite_status(account_id=bea.id, status=posts[1])
    Status.objects.filter(id=posts[2].id).update(visibility="private")
    Status.objects.filter(id=posts[3].id).update(deleted_at=clock.now())
    OutboxRow.objects.all().delete()
    assert [take_back_favourites(account_id=ann.id, limit=3) for _turn in range(3)] == [3, 2, 0]
    assert [likes(posts[number]) for number in (0, 1, 2, 4)] == [0, 1, 0, 0]
    assert Favourite.objects.count() == 1
    announced = (
        OutboxRow.objects.filter(event="StatusUnfavourited").values_list("payload__status_id", flat=True).distinct()
    )
    assert set(announced) == {posts[number].id for number in (0, 1, 2, 4)}


def test_many_favourites_are_undone_with_as_many_statements_as_few() -> None:
    def statements(count: int) -> int:
        ann, author = make_account(), make_account()
        for number in range(count):
            favourite_status(account_id=ann.id, status=make_status(author, f"post {number}"))
        with CaptureQueriesContext(connection) as captured:
            assert take_back_favourites(account_id=ann.id, limit=100) == count
        return len(captured)

    assert statements(12) <= statements(2)
