"""Tests of reports by users (SEED-143, 157; contract, parameters "POST /api/v1/reports")."""

import threading
from typing import Any

import idna
import pytest
from django.core import mail
from django.db import connection

from accounts.collections.models import Collection
from accounts.models import Account, User
from moderation.models import InstanceRule, Report
from moderation.policies.reports import ReportDraft
from moderation.services.reports import file_report
from notifications.models import Notification
from social.kernel import clock
from statuses.models import Status
from tests.factories.accounts import make_account, make_remote, make_token, make_user
from tests.factories.statuses import make_remote_status, make_status
from tests.support.client import Api
from tests.support.work import work

pytestmark = pytest.mark.django_db
REPORTS = "/api/v1/reports"


@pytest.fixture
def bea() -> Account:
    return make_account("bea")


def report(api: Api, target: Account, **more: Any) -> dict[str, Any]:
    answer = api.post(REPORTS, {"account_id": str(target.id)} | more)
    assert answer.status_code == 200, answer.content
    body: dict[str, Any] = answer.json()
    return body


def refused(api: Api, data: dict[str, Any]) -> tuple[int, str]:
    answer = api.post(REPORTS, data)
    return answer.status_code, answer.json()["error"]


def test_a_report_without_options_has_all_members(api: Api, bea: Account) -> None:
    made = report(api, bea)
    assert made["target_account"]["acct"] == "bea"
    assert made | {"id": "", "created_at": "", "target_account": {}} == {
        "id": "",
        "action_taken": False,
        "action_taken_at": None,
        "category": "other",
        "comment": "",
        "forwarded": False,
        "created_at": "",
        "status_ids": [],
        "rule_ids": None,
        "collection_ids": [],
        "target_account": {},
    }


def test_posts_rules_and_collections_are_attached(api: Api, bea: Account) -> None:
    post, boost = make_status(bea), make_status(bea)
    rule = InstanceRule.objects.create(text="Be kind", withdrawn_at=clock.now())
    collection = Collection.objects.create(account=bea, name="Bad people", sensitive=False, discoverable=True)
    made = report(
        api,
        bea,
        status_ids=[str(post.id), str(post.id), str(boost.id)],
        rule_ids=[str(rule.id)],
        collection_ids=[str(collection.id)],
        category="spam",
        comment="These",
    )
    assert made["status_ids"] == [str(post.id), str(boost.id)]
    assert (made["rule_ids"], made["category"]) == ([str(rule.id)], "violation")
    assert made["collection_ids"] == [str(collection.id)]


def test_an_unknown_target_is_refused_before_other_errors_of_a_report(api: Api, bea: Account) -> None:
    target = {"account_id": str(bea.id)}
    rules = "Validation failed: Rule ids does not reference valid rules"
    for more in (
        {"category": "violation"},
        {"rule_ids": ["1"]},
        {"rule_ids": ["x"]},
        {"category": "spam", "rule_ids": ["1"]},
    ):
        assert refused(api, target | more) == (422, rules), more
    assert refused(api, target | {"comment": "x" * 1001}) == (
        422,
        "Validation failed: Comment is too long (maximum is 1000 characters)",
    )
    assert refused(api, target | {"category": "nonsense"})[0] == 422
    assert refused(api, {"account_id": "1", "comment": "x" * 1001})[0] == 404
    assert Report.objects.count() == 0
    assert report(api, bea, comment="x" * 1000, category="")["category"] == "other"


def test_posts_of_others_and_unreadable_posts_are_not_found(api: Api, ann: User, bea: Account) -> None:
    hidden = make_status(bea, visibility="private")
    direct = make_status(bea, visibility="direct")
    gone = make_status(bea)
    Status.objects.filter(id=gone.id).update(deleted_at=clock.now())
    own = make_status(ann.account)
    for number in (hidden.id, direct.id, gone.id, own.id, 1, "abc"):
        sent = {"account_id": str(bea.id), "status_ids": [str(number)]}
        assert refused(api, sent) == (404, "Record not found"), number
    readable = make_status(bea)
    assert report(api, bea, status_ids=str(readable.id))["status_ids"] == [], "a single value is not read as a list"


def test_a_blocked_user_can_report_the_blocker_but_no_unreadable_posts(api: Api, ann: User, bea: Account) -> None:
    post = make_status(bea)
    blocker = Api(make_token(User.objects.get(account=bea)))
    assert blocker.post(f"/api/v1/accounts/{ann.account_id}/block").status_code == 200
    assert refused(api, {"account_id": str(bea.id), "status_ids": [str(post.id)]})[0] == 404
    assert report(api, bea)["comment"] == ""


def test_unknown_and_suspended_accounts_cannot_be_reported_but_oneself_can(api: Api, ann: User, bea: Account) -> None:
    Account.objects.filter(id=bea.id).update(suspended_at=clock.now())
    for sent in ({}, {"account_id": "1"}, {"account_id": "abc"}, {"account_id": str(bea.id)}):
        assert refused(api, sent) == (404, "Record not found"), sent
    assert report(api, ann.account)["target_account"]["acct"] == "ann"


def test_only_reports_about_remote_accounts_are_forwarded(api: Api, bea: Account) -> None:
    assert report(api, bea, forward=True)["forwarded"] is False
    remote = make_remote("eve", domain="there.example")
    other = make_remote("fay", domain="third.example")
    post = make_remote_status(remote)
    Status.objects.filter(id=post.id).update(in_reply_to_account=other)
    assert report(api, remote)["forwarded"] is False
    assert report(api, remote, forward=True)["forwarded"] is True
    sent = {"forward": True, "status_ids": [str(post.id)]}
    report(api, remote, **sent, forward_to_domains=["Third.example", "elsewhere.example"])
    assert report(api, remote, **sent, forward_to_domains=["elsewhere.example"])["forwarded"] is False
    domains = list(Report.objects.order_by("id").values_list("forward_domains", flat=True))
    assert domains == [[], [], ["there.example"], ["third.example"], []]


def test_row_78_servers_to_forward_to_are_compared_without_normalising_them(
    api: Api, monkeypatch: pytest.MonkeyPatch
) -> None:
    remote = make_remote("eve", domain="xn--bcher-kva.example")
    monkeypatch.setattr(idna, "encode", None)
    others = [f"ü{number}.example" for number in range(1000)]
    for named in ("Bücher.example", "xn--bcher-kva.EXAMPLE"):
        sent = {"forward": True, "forward_to_domains": [*others, named]}
        assert report(api, remote, **sent)["forwarded"] is True, named
    assert report(api, remote, forward=True, forward_to_domains=others)["forwarded"] is False


def test_seed_143_staff_get_a_mail_and_a_notification_of_the_first_open_report(
    api: Api, bea: Account, ann: User
) -> None:
    owner, moderator, asleep = (
        make_user("boss", role="Owner"),
        make_user("mod", role="Moderator"),
        make_user("zed", role="Moderator"),
    )
    User.objects.filter(pk=asleep.pk).update(disabled_at=clock.now())
    make_user("carl")
    first = report(api, bea, comment="Look")
    report(api, bea, comment="Again")
    work()
    assert sorted(letter.to[0] for letter in mail.outbox) == ["boss@example.com", "mod@example.com"]
    assert "Look" in mail.outbox[0].body
    assert "@bea" in mail.outbox[0].subject
    shown = Api(make_token(owner)).get("/api/v1/notifications").json()
    assert [(one["type"], one["account"]["acct"], one["report"]["id"]) for one in shown if "report" in one] == [
        ("admin.report", "ann", first["id"])
    ]
    reported = Notification.objects.filter(type="admin.report")
    assert set(reported.values_list("account__username", flat=True)) == {"boss", "mod"}
    Report.objects.update(action_taken_at=clock.now())
    User.objects.filter(pk=owner.pk).update(preferences={"staff_mails": False})
    mail.outbox = []
    report(api, bea)
    work()
    assert [letter.to for letter in mail.outbox] == [["mod@example.com"]]
    assert reported.filter(account=moderator.account).count() == 2


def test_a_setting_mails_every_report(api: Api, bea: Account, settings: Any) -> None:
    settings.MAIL_EVERY_REPORT = True
    make_user("boss", role="Owner")
    report(api, bea)
    report(api, bea)
    work()
    assert len(mail.outbox) == 2


@pytest.mark.django_db(transaction=True)
def test_of_two_simultaneous_reports_only_one_counts_as_the_first() -> None:
    ann, bea = make_user("ann"), make_account("bea")
    make_user("boss", role="Owner")

    def file() -> None:
        file_report(account=ann.account, target=bea, draft=ReportDraft())
        connection.close()

    threads = [threading.Thread(target=file) for _number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    work()
    assert Report.objects.count() == 4
    assert len(mail.outbox) == 1
