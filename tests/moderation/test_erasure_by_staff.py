"""Tests of the erasure of accounts by staff: rejected and deleted accounts, the delay of thirty days, remaining data, and
cancelling.
"""

from datetime import timedelta

import pytest
from django.core.management import CommandError, call_command

from accounts.models import (
    Account,
    AuditEntry,
    Follow,
    KeyPair,
    SeveredAccount,
    SeveredFollow,
    User,
)
from accounts.policies.staff import OPERATOR
from accounts.services import sanctions
from accounts.services.erasing import delete_user
from accounts.services.instance_actor import instance_username
from moderation.models import Report
from social.kernel import clock
from statuses.models import Status
from tests.factories.accounts import make_account, make_remote, make_user
from tests.factories.statuses import make_status
from tests.moderation.acts import act, follow, owner
from tests.support.client import Api, signed_in
from tests.support.federation_server import needs_federation
from tests.support.work import work

pytestmark = pytest.mark.django_db


@pytest.fixture
def boss() -> Api:
    return owner()


def test_only_waiting_users_can_be_approved_or_rejected(boss: Api) -> None:
    ann, bea = make_user("ann"), make_user("bea")
    User.objects.filter(pk=ann.pk).update(approved=False)
    User.objects.filter(pk=bea.pk).update(approved=False)
    found = boss.get("/api/v1/admin/accounts", {"pending": "true"}).json()
    assert {one["username"] for one in found} == {"ann", "bea"}
    assert boss.post(f"/api/v1/admin/accounts/{ann.account_id}/approve").json()["approved"] is True
    assert boss.post(f"/api/v1/admin/accounts/{bea.account_id}/reject").json() == {}
    for verb in ("approve", "reject"):
        assert boss.post(f"/api/v1/admin/accounts/{ann.account_id}/{verb}").status_code == 403
    work()
    assert boss.get(f"/api/v1/admin/accounts/{bea.account_id}").status_code == 404


def test_only_temporarily_suspended_accounts_can_be_deleted(boss: Api) -> None:
    ann = make_user("ann")
    path = f"/api/v1/admin/accounts/{ann.account_id}"
    assert boss.delete(path).status_code == 403
    act(boss, ann.account, "suspend")
    assert boss.delete(path).json() == {}
    work()
    assert not Account.objects.filter(id=ann.account_id).exists()


def test_reports_about_an_account_are_kept_after_its_deletion_by_staff(boss: Api) -> None:
    ann, bea, carl, zoe = (
        make_user("ann", display_name="Ann"),
        make_account("bea"),
        make_user("carl"),
        make_remote("zoe"),
    )
    make_status(ann.account, "mine")
    for account in (ann.account, carl.account, zoe):
        Report.objects.create(account=bea, target_account=account, comment="Spam")
    for account in (ann.account, zoe):
        act(boss, account, "suspend")
        assert boss.delete(f"/api/v1/admin/accounts/{account.id}").json() == {}
    delete_user(user=carl)
    work()
    reports = boss.get("/api/v1/admin/reports?resolved=true&unresolved=true").json()
    shown = [(one["target_account"]["username"], one["target_account"]["account"]["display_name"]) for one in reports]
    assert shown == [("zoe", ""), ("ann", "")]
    assert not User.objects.filter(id=ann.id).exists()
    assert not KeyPair.objects.filter(account_id__in=[ann.account_id, zoe.id]).exists()
    assert not Status.objects.filter(account_id__in=[ann.account_id, zoe.id], deleted_at=None).exists()
    assert boss.post(f"/api/v1/admin/accounts/{zoe.id}/unsuspend").status_code == 404
    assert Api().get("/api/v1/accounts/lookup?acct=ann").status_code == 404


@pytest.mark.parametrize("resolved", [False, True])
def test_reports_by_an_account_outlast_it_without_its_name(boss: Api, resolved: bool) -> None:
    ann, bea, zoe = make_user("ann"), make_account("bea"), make_remote("zoe")
    when = clock.now() if resolved else None
    for reporter in (ann.account, zoe):
        Report.objects.create(account=reporter, target_account=bea, comment="Threats", action_taken_at=when)
    Report.objects.create(account=bea, target_account=ann.account)
    delete_user(user=ann)
    call_command("delete_account", "zoe@remote.example", "--yes")
    work()
    assert not Account.objects.filter(id__in=[ann.account_id, zoe.id]).exists()
    reports = boss.get(f"/api/v1/admin/reports?resolved={resolved}&unresolved={not resolved}").json()
    assert [(report["target_account"]["username"], report["comment"]) for report in reports] == [("bea", "Threats")] * 2
    assert {report["account"]["username"] for report in reports} == {instance_username()}
    staff = signed_in(User.objects.get(role__name="Owner"))
    for page in ("", "inbox/", f"{reports[0]['id']}/change/"):
        assert staff.get(f"/admin/moderation/report/{page}").status_code == 200


def test_follows_by_a_suspended_remote_account_end_and_follows_of_it_remain() -> None:
    ann, zoe = make_account("ann"), make_remote("zoe")
    for follower, target in ((zoe, ann), (ann, zoe)):
        Follow.objects.create(account=follower, target=target, uri=f"https://x.example/{follower.id}")
    sanctions.suspend_account(by=OPERATOR, account=zoe)
    work()
    assert list(Follow.objects.values_list("account_id", "target_id")) == [(ann.id, zoe.id)]
    kept = SeveredFollow.objects.select_related("severance").get()
    assert (kept.account_id, kept.target_id, kept.severance.type) == (zoe.id, ann.id, "account_suspension")
    assert SeveredAccount.objects.get(account=ann).followers_count == 1


@needs_federation
def test_seed_051_nothing_is_erased_before_thirty_days_and_everything_after_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ann, bea = make_user("ann", display_name="Ann"), make_account("bea")
    make_status(ann.account, "mine")
    follow(bea, ann.account)
    sanctions.suspend_account(by=OPERATOR, account=ann.account)
    Report.objects.create(account=bea, target_account=ann.account)
    work()
    now = clock.now()
    monkeypatch.setattr(clock, "now", lambda: now + timedelta(days=29, hours=23))
    assert sanctions.erase_suspended() == 0
    assert Status.objects.filter(deleted_at=None).count() == 1
    monkeypatch.setattr(clock, "now", lambda: now + timedelta(days=30, seconds=1))
    assert (sanctions.erase_suspended(), sanctions.erase_suspended()) == (1, 0)
    work()
    account = Account.objects.get(id=ann.account_id)
    assert (account.suspended, account.display_name, account.suspended_for_a_time) == (True, "", False)
    assert not Status.objects.filter(account=account).exists()
    assert not Follow.objects.exists()
    assert Account.objects.select_related("stat").get(id=bea.id).stat.following_count == 0
    # Reports about the account remain, and its name stays reserved.
    assert Report.objects.filter(target_account=account).exists()
    assert Api().get("/users/ann", headers={"Accept": "application/activity+json"}).status_code == 410
    sanctions.unsuspend_account(by=OPERATOR, account=account)
    assert Api().get(f"/api/v1/accounts/{account.id}").json()["statuses_count"] == 0


def test_a_hold_stops_an_erasure_until_it_is_released() -> None:
    ann = make_user("ann")
    make_status(ann.account, "evidence")
    sanctions.suspend_account(by=OPERATOR, account=ann.account)
    sanctions.hold_account(by=OPERATOR, account=ann.account, reason="a court asks")
    sanctions.delete_suspended_account(by=OPERATOR, account=ann.account)
    work()
    assert Status.objects.filter(deleted_at=None).count() == 1
    assert AuditEntry.objects.get(action="hold").details["reason"] == "a court asks"
    sanctions.release_account(by=OPERATOR, account=ann.account)
    work()
    assert not Account.objects.filter(id=ann.account_id).exists()
    assert not Status.objects.exists()


def test_operators_hold_and_release_accounts_by_command(capsys: pytest.CaptureFixture[str]) -> None:
    ann = make_account("ann")
    with pytest.raises(CommandError):
        call_command("hold_account", "ann")
    call_command("hold_account", "ann", "--reason", "a court asks", "--dry-run")
    assert Account.objects.get(id=ann.id).held_at is None
    call_command("hold_account", "ann", "--reason", "a court asks")
    assert Account.objects.get(id=ann.id).held_at is not None
    call_command("hold_account", "ann", "--release")
    assert Account.objects.get(id=ann.id).held_at is None
    assert list(AuditEntry.objects.order_by("id").values_list("action", flat=True)) == ["hold", "release"]
