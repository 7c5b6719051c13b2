"""Tests of erasing a remote account in small steps, which may be interrupted anywhere."""

import pytest
from django.apps import apps
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Account, AccountStat, Follow
from accounts.services import erasing
from federation.models import InboundActivity
from federation.remote.actors import fetch_actor
from social.kernel.outbox import OutboxRow, drain
from social.kernel.references import erase_some
from statuses.models import Favourite, Status
from statuses.services.interactions import favourite_status
from tests.factories.accounts import make_account
from tests.factories.statuses import follow, make_remote_status, make_status
from tests.federation.remote_server import RemotePerson
from tests.support.work import work

pytestmark = pytest.mark.django_db


@pytest.fixture
def account(zoe: RemotePerson, alice: Account) -> Account:
    """Zoe's account as stored here, with followers, with posts that others have favourited and boosted, and with favourites by
    Zoe.
    """
    found = fetch_actor(zoe.uri)
    mine = make_status(alice, "mine")
    for number in range(7):
        status = make_remote_status(found, f"<p>{number}</p>")
        favourite_status(account_id=alice.id, status=status)
    favourite_status(account_id=found.id, status=mine)
    for _ in range(4):
        follow(make_account(), found)
    follow(found, alice)
    return found


def references(account_id: int) -> list[str]:
    """Return the columns that still refer to the account."""
    found = []
    for model in apps.get_models():
        for field in model._meta.concrete_fields:
            if field.related_model is Account and model._base_manager.filter(**{field.name: account_id}).exists():
                found.append(f"{model.__name__}.{field.name}")
    return found


def test_nothing_remains_of_an_account_that_its_server_deleted(
    account: Account, zoe: RemotePerson, alice: Account
) -> None:
    assert len(references(account.id)) > 3
    zoe.send(zoe.activity("Delete", zoe.uri))
    work()
    assert references(account.id) == []
    assert not Account.objects.filter(id=account.id).exists()
    assert Status.objects.get(text="mine").stat.favourites_count == 0
    assert (
        AccountStat.objects.get(account=alice).followers_count,
        Favourite.objects.count(),
        Follow.objects.count(),
    ) == (0, 0, 0)


def test_a_deleted_remote_account_is_hidden_at_once_and_erased_later(account: Account, zoe: RemotePerson) -> None:
    zoe.send(zoe.activity("Delete", zoe.uri))
    drain("ingress")
    account.refresh_from_db()
    assert account.suspended
    assert Status.objects.filter(account=account, deleted_at=None).count() == 7
    assert InboundActivity.objects.get().outcome == "done"


def test_an_interrupted_deletion_of_a_remote_account_is_resumed(
    account: Account, zoe: RemotePerson, monkeypatch: pytest.MonkeyPatch
) -> None:
    zoe.send(zoe.activity("Delete", zoe.uri))
    drain("ingress")
    monkeypatch.setattr(erasing, "BATCH_SIZE", 2)
    turns = 0
    # Each turn ends after one batch.
    monkeypatch.setattr(erasing, "TURN_SECONDS", 0.0)
    while Account.objects.filter(id=account.id).exists():
        assert OutboxRow.objects.filter(event__in=["AccountDeleted", "AccountErasureDue"]).exists()
        assert drain("default", 1) > 0
        turns += 1
        assert turns < 200
    assert turns > 5
    assert references(account.id) == []


def test_no_step_takes_more_rows_than_a_batch(account: Account) -> None:
    steps = 0
    with CaptureQueriesContext(connection) as queries:
        while not erase_some(Account, [account.id], 3):
            steps += 1
    assert steps > 5
    assert references(account.id) == []
    for query in queries.captured_queries:
        assert query["sql"].count(",") < 60 or not query["sql"].startswith("DELETE"), query["sql"]
