"""Tests that accounts that are never confirmed are deleted after seven days (contract, behaviours section 6)."""

import io
from datetime import timedelta
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection

from accounts.identity.services import confirmations
from accounts.identity.services.confirmations import remove_unconfirmed
from accounts.models import AccessToken, Account, RetiredUsername, User
from social.kernel import clock
from social.kernel.outbox import OutboxRow
from social.schedule import SCHEDULE
from tests.factories.accounts import make_application, make_token, make_user
from tests.support.client import Api

pytestmark = pytest.mark.django_db


def signed_up(username: str, *, days: float, confirmed: bool = False, **values: Any) -> User:
    """Create a user who signed up `days` ago; the account is usable only if `confirmed`."""
    user = make_user(username, confirmed=confirmed)
    User.objects.filter(pk=user.pk).update(created_at=clock.now() - timedelta(days=days), **values)
    return user


def names() -> set[str]:
    return set(Account.objects.exclude(user=None).values_list("username", flat=True))


def test_unconfirmed_users_are_deleted_after_seven_days_and_their_names_are_free_again() -> None:
    application = make_application()
    late = signed_up("late", days=7.1, approved=False, created_by_application=application)
    token = make_token(late, application=application)
    signed_up("recent", days=6.9)
    signed_up("pending", days=100, confirmed=True, approved=False, activated_at=None)
    signed_up("active", days=100, confirmed=True)
    before = OutboxRow.objects.count()
    assert remove_unconfirmed() == 1
    assert names() == {"recent", "pending", "active"}
    assert Api(token).get("/api/v1/accounts/verify_credentials").status_code == 401
    assert not AccessToken.objects.filter(token=token).exists()
    assert not RetiredUsername.objects.exists()
    assert OutboxRow.objects.filter(id__gt=before, subscriber__startswith="federation").count() == 0
    make_user("late")  # this account takes the username and the address late@example.com
    assert remove_unconfirmed() == 0
    task = "accounts.identity.services.confirmations.remove_unconfirmed"
    assert [entry["schedule"] for entry in SCHEDULE.values() if entry["task"] == task] == [timedelta(hours=1)]


def test_unconfirmed_users_with_activity_or_a_role_are_not_removed() -> None:
    moved = signed_up("changed", days=100, confirmed=True)
    EmailAddress.objects.filter(user=moved).update(verified=False)
    user = make_user("moderator", confirmed=False, role="Moderator")
    User.objects.filter(pk=user.pk).update(created_at=clock.now() - timedelta(days=100))
    assert confirmations.remove_unconfirmed() == 0


def test_many_unconfirmed_users_are_removed_in_steps_of_a_fixed_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(confirmations, "BATCH_SIZE", 3)
    for number in range(7):
        signed_up(f"late{number}", days=8 + number)
    sizes: list[int] = []
    erase = confirmations.erase_some

    def noted(model: Any, ids: list[int]) -> bool:
        assert connection.in_atomic_block
        sizes.append(len(ids))
        return erase(model, ids)

    monkeypatch.setattr(confirmations, "erase_some", noted)
    assert confirmations.remove_unconfirmed() == 7
    assert set(sizes) == {3, 1}
    assert names() == set()


def test_operators_may_remove_unconfirmed_users_earlier_and_preview_them() -> None:
    signed_up("late", days=3)

    def said(*arguments: str) -> str:
        out = io.StringIO()
        call_command("remove_unconfirmed", *arguments, stdout=out)
        return out.getvalue().strip()

    assert said() == "0 removed."
    assert said("--days", "2", "--dry-run").startswith("@late ")
    assert names() == {"late"}
    for days in ("-1", "99999999999"):
        with pytest.raises(CommandError):
            said("--days", days)
    assert said("--days", "2") == "1 removed."
    assert names() == set()
