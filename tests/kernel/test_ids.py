"""Tests of primary keys that are ordered by time."""

import pytest

from accounts.models import TagFollow
from accounts.services.tags import ensure_tags
from social.kernel import clock
from social.kernel.ids import first_at
from tests.factories.accounts import make_account

pytestmark = pytest.mark.django_db


def test_many_rows_can_be_created_together_with_given_or_generated_ids() -> None:
    reader, tags = make_account(), ensure_tags([(f"tag{number}", f"tag{number}") for number in range(6)])
    since = first_at(clock.now())
    made = TagFollow.objects.bulk_create([TagFollow(account=reader, tag=tag) for tag in tags[:3]], batch_size=500)
    assert all(row.id >= since for row in made)
    own = [TagFollow(id=number, account=reader, tag=tag) for number, tag in enumerate(tags[3:], start=1)]
    TagFollow.objects.bulk_create(own, batch_size=500)
    assert list(TagFollow.objects.order_by("id").values_list("id", flat=True)[:3]) == [1, 2, 3]
