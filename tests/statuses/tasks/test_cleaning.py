"""Tests of scheduled deletions; running a deletion twice has the same effect as running it once."""

from datetime import timedelta
from typing import Any

import pytest

from accounts.models import Account
from social.kernel import clock
from statuses.models import IdempotencyKey, MediaAttachment
from statuses.services.idempotency import forget_old
from statuses.services.media import remove_unattached
from tests.factories.statuses import make_media

pytestmark = pytest.mark.django_db


def test_expired_unattached_files_and_idempotency_keys_are_removed(alice: Account, media_root: Any) -> None:
    make_media(alice)
    MediaAttachment.objects.update(unattached_at=clock.now() - timedelta(days=2))
    IdempotencyKey.objects.create(account=alice, key="k", created_at=clock.now() - timedelta(hours=2))
    assert (remove_unattached(), forget_old()) == (1, 1)
    assert (remove_unattached(), forget_old()) == (0, 0)
