"""Tests of sanctions on accounts: their visible effects, and how they are undone."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from accounts.models import (
    Account,
    AuditEntry,
    CanonicalEmailBlock,
    Follow,
    Role,
    User,
)
from accounts.models.account import SuspensionOrigin
from accounts.models.user import Permission
from accounts.policies.staff import OPERATOR, Staff, staff_of
from accounts.services import sanctions
from moderation.models import Report, Strike
from social.kernel import clock
from social.kernel.errors import Conflict, Forbidden
from tests.factories.accounts import make_account, make_remote, make_token, make_user
from tests.factories.statuses import make_status
from tests.moderation.acts import act, follow, owner
from tests.support.client import Api
from tests.support.work import work

pytestmark = pytest.mark.django_db
WRITE = "admin:read admin:write"


@pytest.fixture
def boss() -> Api:
    return owner()


@pytest.mark.django_db(transaction=True)
def test_seed_050_and_052_a_suspended_account_shows_nothing_and_comes_back_whole(boss: Api) -> None:
    ann, bea = make_user("ann", display_name="Ann", note="my life"), make_user("bea")
    follow(bea.account, ann.account)
    post = make_status(ann.account, "hello #tag")
    work()
    mine, theirs = Api(make_token(ann)), Api(make_token(bea))
    base = f"/api/v1/accounts/{ann.account_id}"
    before = theirs.get(base).json()
    assert act(boss, ann.account, "suspend").json() == {}
    work()
    shown = theirs.get(base).json()
    assert (shown["suspended"], shown["display_name"], shown["note"], shown["fields"]) == (True, "", "", [])
    for part in ("statuses", "followers", "following", "featured_tags", "lists"):
        assert theirs.get(f"{base}/{part}").json() == []
    assert theirs.get(f"/api/v1/statuses/{post.id}").status_code == 404
    assert theirs.post(f"{base}/follow").status_code == 404
    for path in ("/api/v1/accounts/verify_credentials", "/api/v1/timelines/public"):
        refused = mine.get(path)
        assert (refused.status_code, refused.json()["error"]) == (403, "Your login is currently disabled")
    seen = boss.get(f"/api/v1/admin/accounts/{ann.account_id}").json()
    assert (seen["suspended"], seen["disabled"], seen["email"]) == (True, False, "ann@example.com")
    assert boss.post(f"/api/v1/admin/accounts/{ann.account_id}/unsuspend").json()["suspended"] is False
    work()
    assert theirs.get(base).json() == before
    assert theirs.get(f"/api/v1/statuses/{post.id}").status_code == 200
    assert mine.get("/api/v1/accounts/verify_credentials").status_code == 200
    assert theirs.get("/api/v1/accounts/relationships", {"id[]": str(ann.account_id)}).json()[0]["following"] is True


def test_the_address_of_a_suspended_person_signs_nobody_up_until_the_suspension_ends() -> None:
    ann = make_user("ann")
    other = CanonicalEmailBlock.objects.create(digest="0" * 64)
    sanctions.suspend_account(by=OPERATOR, account=ann.account)
    assert CanonicalEmailBlock.objects.filter(account=ann.account).count() == 1
    sanctions.unsuspend_account(by=OPERATOR, account=ann.account)
    assert list(CanonicalEmailBlock.objects.all()) == [other]


def test_repeating_or_undoing_a_missing_sanction_changes_nothing() -> None:
    ann = make_account("ann")
    for sanction, undo, column in (
        (sanctions.limit_account, sanctions.unlimit_account, "limited_at"),
        (sanctions.sensitize_account, sanctions.unsensitize_account, "sensitized_at"),
        (sanctions.suspend_account, sanctions.unsuspend_account, "suspended_at"),
    ):
        sanction(by=OPERATOR, account=ann)
        since = getattr(Account.objects.get(id=ann.id), column)
        sanction(by=OPERATOR, account=ann)
        assert getattr(Account.objects.get(id=ann.id), column) == since is not None
        undo(by=OPERATOR, account=ann)
        assert getattr(Account.objects.get(id=ann.id), column) is None
    sanctions.unlimit_account(by=OPERATOR, account=ann)
    with pytest.raises(Forbidden):
        sanctions.unsuspend_account(by=OPERATOR, account=ann)
    actions = list(AuditEntry.objects.order_by("id").values_list("action", flat=True))
    assert actions == ["limit", "unlimit", "sensitize", "unsensitize", "suspend", "unsuspend"]


def test_the_audit_log_contains_the_values_before_and_after() -> None:
    ann = make_account("ann")
    sanctions.suspend_account(by=OPERATOR, account=ann)
    entry = AuditEntry.objects.get()
    assert (entry.account_name, entry.action, entry.target_type, entry.target_name) == (
        "operator",
        "suspend",
        "Account",
        "@ann",
    )
    assert entry.details["before"] == {"suspended_at": None, "suspension_origin": None}
    assert entry.details["after"]["suspension_origin"] == "local"


SANCTIONS: dict[str, Callable[..., None]] = {
    "limit": sanctions.limit_account,
    "sensitize": sanctions.sensitize_account,
    "suspend": sanctions.suspend_account,
    "hold": lambda **who: sanctions.hold_account(reason="a court", **who),
}


@pytest.mark.parametrize("name", SANCTIONS)
def test_sanctions_require_the_permission_and_a_higher_rank(name: str) -> None:
    owner, moderator, equal, person = (
        make_user("owner", role="Owner"),
        make_user("moderator", role="Moderator"),
        make_user("equal", role="Moderator"),
        make_user("person"),
    )
    bits = Permission.MANAGE_USERS | Permission.MANAGE_REPORTS | Permission.DELETE_USER_DATA
    Role.objects.filter(name="Moderator").update(permissions=bits)
    moderator = User.objects.select_related("account", "role").get(pk=moderator.pk)
    for target in (owner, equal, moderator):
        with pytest.raises(Forbidden):
            SANCTIONS[name](by=staff_of(moderator), account=target.account)
    nobody = Staff(person.account_id, "@person", 0, 100)
    with pytest.raises(Forbidden):
        SANCTIONS[name](by=nobody, account=make_remote())
    assert not AuditEntry.objects.exists()
    SANCTIONS[name](by=staff_of(moderator), account=person.account)
    assert AuditEntry.objects.count() == 1


def test_the_last_owner_cannot_be_suspended() -> None:
    owner = make_user("owner", role="Owner")
    other = make_user("other", role="Owner")
    User.objects.filter(pk=other.pk).update(disabled_at=clock.now())
    with pytest.raises(Conflict):
        sanctions.suspend_account(by=OPERATOR, account=owner.account)
    User.objects.filter(pk=other.pk).update(disabled_at=None)
    sanctions.suspend_account(by=OPERATOR, account=owner.account)


def test_staff_cannot_lift_a_suspension_by_the_accounts_own_server() -> None:
    zoe = make_remote(suspended_at=clock.now(), suspension_origin=SuspensionOrigin.REMOTE)
    with pytest.raises(Forbidden):
        sanctions.unsuspend_account(by=OPERATOR, account=zoe)
    assert Account.objects.get(id=zoe.id).suspended


def test_follows_of_a_local_account_are_restored_when_its_suspension_ends() -> None:
    ann, bea = make_account("ann"), make_account("bea")
    follow(ann, bea), follow(bea, ann)
    sanctions.suspend_account(by=OPERATOR, account=ann)
    work()
    sanctions.unsuspend_account(by=OPERATOR, account=ann)
    work()
    assert Follow.objects.count() == 2


def test_held_accounts_are_not_erased_with_other_suspended_accounts() -> None:
    long_ago = clock.now() - sanctions.REVERSAL_PERIOD - timedelta(days=1)
    values = {"suspended_at": long_ago, "suspension_origin": SuspensionOrigin.LOCAL}
    held, other = make_account("held", held_at=clock.now(), **values), make_account("other", **values)
    assert sanctions.erase_suspended() == 1
    assert Account.objects.get(id=held.id).erased_at is None
    assert Account.objects.get(id=other.id).erased_at is not None


def test_seed_053_media_of_a_sensitized_account_are_sensitive_for_others(boss: Api) -> None:
    ann, bea = make_user("ann"), make_user("bea")
    post = make_status(ann.account, "a picture")
    assert act(boss, ann.account, "sensitive").status_code == 200
    path = f"/api/v1/statuses/{post.id}"
    assert Api(make_token(bea)).get(path).json()["sensitive"] is True
    assert Api(make_token(ann)).get(path).json()["sensitive"] is False
    assert boss.post(f"/api/v1/admin/accounts/{ann.account_id}/unsensitive").json()["sensitized"] is False
    assert Api(make_token(bea)).get(path).json()["sensitive"] is False


def test_seed_152_users_without_a_role_can_neither_act_nor_see_reports() -> None:
    ann, bea = make_user("ann"), make_account("bea")
    api = Api(make_token(ann, WRITE))
    for answer in (act(api, bea, "suspend"), api.get("/api/v1/admin/reports"), Api().get("/api/v1/admin/reports")):
        assert (answer.status_code, answer.json()) == (403, {"error": "This action is not allowed"})
    assert not Account.objects.get(id=bea.id).suspended


def test_every_action_is_audited_and_resolves_all_reports_but_a_warning_only_its_own(boss: Api) -> None:
    ann, bea = make_account("ann"), make_account("bea")
    post = make_status(ann, "bad")
    first, second = (
        Report.objects.create(account=bea, target_account=ann, status_ids=[post.id]),
        Report.objects.create(account=bea, target_account=ann),
    )
    assert act(boss, ann, "none", report_id=str(first.id), text="Mind your words").status_code == 200
    strike = Strike.objects.get()
    assert (strike.action, strike.text, strike.report_id, strike.status_ids) == (
        "none",
        "Mind your words",
        first.id,
        [post.id],
    )
    assert list(Report.objects.filter(action_taken_at=None)) == [second]
    assert act(boss, ann, "silence").status_code == 200
    assert not Report.objects.filter(action_taken_at=None).exists()
    assert Strike.objects.latest("id").action == "silence"


@pytest.mark.parametrize(
    ("sent", "status", "error"),
    [
        ({}, 422, "Validation failed: Type can't be blank, Type is not included in the list"),
        ({"type": "nonsense"}, 422, "Validation failed: Type is not included in the list"),
        ({"type": ["none"]}, 422, "Validation failed: Type can't be blank, Type is not included in the list"),
        ({"type": "none", "report_id": "1"}, 404, "Record not found"),
        ({"type": "none", "warning_preset_id": "1"}, 404, "Record not found"),
    ],
)
def test_an_unknown_action_is_refused(boss: Api, sent: dict[str, Any], status: int, error: str) -> None:
    ann = make_account("ann")
    answer = boss.post(f"/api/v1/admin/accounts/{ann.id}/action", sent)
    assert (answer.status_code, answer.json()["error"]) == (status, error)
    assert not Strike.objects.exists()


def test_remote_accounts_can_be_neither_disabled_nor_approved(boss: Api) -> None:
    zoe = make_remote("zoe")
    assert act(boss, zoe, "disable").status_code == 403
    for verb in ("enable", "approve", "reject"):
        assert boss.post(f"/api/v1/admin/accounts/{zoe.id}/{verb}").status_code == 403
    assert act(boss, zoe, "suspend").status_code == 200
