"""Tests of repeated requests with the same idempotency key, which return the first post."""

from datetime import timedelta
from typing import Any

import pytest

from accounts.models import Account
from social.kernel import clock
from social.kernel.errors import Invalid, NotFound
from statuses.models import IdempotencyKey, Status
from statuses.services.composing import Draft
from statuses.services.idempotency import forget_old
from statuses.services.publishing import publish_status

pytestmark = pytest.mark.django_db


def _publish_with_key(author: Account, key: str, text: str = "hello") -> Status:
    author = Account.objects.select_related("user").get(id=author.id)
    return publish_status(author=author, draft=Draft(text=text), idempotency_key=key)


def test_a_repeated_key_returns_the_first_post(alice: Account, bob: Account, published: list[Any]) -> None:
    first = _publish_with_key(alice, "k")
    assert _publish_with_key(alice, "k", "something else").id == first.id
    assert _publish_with_key(bob, "k").id != first.id
    assert _publish_with_key(alice, "other").id != first.id
    assert len(published) == 3


def test_keys_of_any_length_and_content_work(alice: Account) -> None:
    for key in ("ключ", "x" * 5000, "' OR 1=1 --"):
        assert _publish_with_key(alice, key).id == _publish_with_key(alice, key).id


def test_a_key_is_forgotten_after_an_hour(alice: Account) -> None:
    first = _publish_with_key(alice, "k")
    IdempotencyKey.objects.update(created_at=clock.now() - timedelta(minutes=61))
    second = _publish_with_key(alice, "k")
    assert second.id != first.id
    assert _publish_with_key(alice, "k").id == second.id
    IdempotencyKey.objects.update(created_at=clock.now() - timedelta(minutes=61))
    assert forget_old() == 1
    assert not IdempotencyKey.objects.exists()


def test_the_key_of_a_refused_post_can_be_used_again(alice: Account) -> None:
    with pytest.raises(Invalid):
        _publish_with_key(alice, "k", "")
    assert _publish_with_key(alice, "k").text == "hello"


def test_a_key_whose_post_was_deleted_creates_no_new_post(alice: Account) -> None:
    first = _publish_with_key(alice, "k")
    Status.objects.filter(id=first.id).update(deleted_at=clock.now())
    with pytest.raises(NotFound):
        _publish_with_key(alice, "k")
