"""Tests of the inbox of reports in the admin: grouped by target account, decided in one step, undone within ten minutes."""

from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.core import mail
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import Account, AuditEntry, User
from accounts.policies.staff import staff_of
from moderation.models import Decision, Report, StaffNote, Strike
from moderation.services.decisions import decide, undo_decision
from social.kernel import clock
from social.kernel.errors import Forbidden
from social.kernel.outbox import OutboxRow
from statuses.models import Status
from tests.factories.accounts import make_account, make_remote, make_user
from tests.factories.statuses import make_media, make_remote_status, make_status
from tests.moderation.inbox import INBOX, case, decided, open_of, report, strike
from tests.moderation.strikes import notified
from tests.support.client import signed_in
from tests.support.work import work

pytestmark = pytest.mark.django_db


@pytest.fixture
def client() -> Client:
    return signed_in(make_user("boss", role="Owner"))


def test_reports_are_grouped_by_target_account(client: Client) -> None:
    first, second = make_account("first"), make_remote("second", "there.example")
    for _number in range(3):
        report(first, comment="They send spam.")
    report(second)
    page = client.get(INBOX).content.decode()
    assert page.index("@second@there.example") < page.index("@first")
    assert "3 reports" in page
    assert "They send spam." in page


def test_a_case_shows_the_posts_with_their_thread_and_covers_sensitive_files(client: Client) -> None:
    target = make_account("target")
    asked = make_status(make_account("asker"), "What do you think?")
    media = make_media(target, "A picture")
    post = make_status(target, "Buy this", reply_to=asked, media=[media], sensitive=True)
    make_status(make_account("other"), "Please stop", reply_to=post)
    report(target, post)
    page = client.get(case(target)).content.decode()
    for words in ("What do you think?", "Buy this", "Please stop"):
        assert words in page
    assert '<details class="staff-cover">' in page


def test_viewing_a_private_post_is_audited_and_unattached_posts_are_not_shown(
    client: Client,
) -> None:
    target = make_account("target")
    shown = make_status(target, "attached words", visibility="direct")
    make_status(target, "other private words", visibility="direct")
    make_status(target, "an answer in private", visibility="direct", reply_to=shown)
    report(target, shown)
    page = client.get(case(target)).content.decode()
    assert "attached words" in page
    assert "other private words" not in page
    assert "an answer in private" not in page
    assert AuditEntry.objects.filter(action="view", target_type="Status", target_id=shown.id).count() == 1


def test_several_actions_are_taken_together_and_lead_to_the_next_case(client: Client) -> None:
    target, other = make_account("target"), make_account("other")
    report(other)
    report(target, comment="a"), report(target, comment="b")
    answer = decided(client, target, "warn", "silence", text="No advertising.", note="Second time.")
    assert answer.headers["Location"] == case(other)
    target.refresh_from_db()
    assert target.limited_at is not None
    assert open_of(target) == 0
    assert sorted(Strike.objects.filter(target_account=target).values_list("action", flat=True)) == ["none", "silence"]
    assert StaffNote.objects.get(account=target).text == "Second time."


def test_many_accounts_are_decided_together_after_a_confirmation_that_names_them(client: Client) -> None:
    people = [make_account(f"spammer{number}") for number in range(3)]
    for person in people:
        report(person)
    last = Report.objects.latest("id").pk
    sent = {
        "decide": "yes",
        "last": last,
        "account": [person.pk for person in people],
        "acts": ["suspend"],
        "text": "",
        "note": "",
    }
    question = client.post(INBOX, sent).content.decode()
    assert all(f"@{person.username}" in question for person in people)
    assert not Decision.objects.exists()
    client.post(INBOX, sent | {"confirmed": "yes"})
    assert Account.objects.filter(pk__in=[person.pk for person in people], suspended_at__isnull=False).count() == 3


def test_only_shown_reports_are_decided_and_a_sanction_lists_the_others(client: Client) -> None:
    target = make_account("target")
    shown = report(target, comment="spam")
    Report.objects.filter(pk=shown.pk).update(category="spam")
    hidden = report(target)
    last = Report.objects.latest("id").pk
    later = report(target)
    Report.objects.filter(pk=later.pk).update(category="spam")
    sent = {"decide": "yes", "last": last, "account": [target.pk], "acts": ["resolve"], "text": "", "note": ""}
    for sanction, named in (("resolve", False), ("silence", True)):
        question = client.post(f"{INBOX}?category=spam", sent | {"acts": [sanction]}).content.decode()
        assert (f"/admin/moderation/report/{hidden.pk}/change/" in question) is named
    client.post(f"{INBOX}?category=spam", sent | {"confirmed": "yes"})
    assert set(Report.objects.filter(action_taken_at=None).values_list("id", flat=True)) == {hidden.pk, later.pk}


@pytest.mark.parametrize(
    ("sent", "words"), [({"note": "Hm."}, "note has been saved"), ({"acts": ["assign"]}, "assigned to you")]
)
def test_a_decision_that_changes_nothing_offers_no_undo(client: Client, sent: Any, words: str) -> None:
    target = make_account("target")
    kept = report(target)
    client.post(case(target), {"report": [kept.pk], "acts": [], "text": "", "note": "", **sent})
    page = client.get(INBOX).content.decode()
    assert words in page
    assert "staff-undo" not in page
    assert open_of(target) == 1


def test_a_decision_can_be_undone_for_ten_minutes_only(client: Client) -> None:
    target = make_account("target")
    report(target)
    with time_machine.travel(clock.now(), tick=False) as traveller:
        decided(client, target, "suspend")
        decision = Decision.objects.get()
        client.post(f"{INBOX}undo/{decision.pk}/")
        target.refresh_from_db()
        assert not target.suspended
        assert open_of(target) == 1
        assert Strike.objects.get().overruled_at is not None
        decided(client, target, "suspend")
        traveller.shift(timedelta(minutes=10))
        answer = client.post(f"{INBOX}undo/{Decision.objects.latest('id').pk}/", follow=True)
        assert "too late" in answer.content.decode()
        target.refresh_from_db()
        assert target.suspended


def test_the_mail_is_sent_when_the_decision_can_no_longer_be_undone(client: Client) -> None:
    target = make_user("target")

    def ten_minutes_later() -> int:
        OutboxRow.objects.filter(event="StrikeIssued").update(due_at=clock.now() - timedelta(days=1))
        return len(notified(target))

    report(target.account)
    decided(client, target.account, "silence", "warn", text="A mistake.")
    assert (notified(target), mail.outbox) == ([], [])
    client.post(f"{INBOX}undo/{Decision.objects.get().pk}/")
    assert ten_minutes_later() == 0
    assert mail.outbox == [], "nobody is notified of an undone decision"
    decided(client, target.account, "silence", text="Advertising.")
    waiting = OutboxRow.objects.filter(event="StrikeIssued")
    assert {row.due_at for row in waiting} == {Decision.objects.latest("id").ends_at}
    assert ten_minutes_later() == 1
    (letter,) = mail.outbox
    assert letter.to == ["target@example.com"]
    assert "Advertising." in letter.body
    assert not OutboxRow.objects.filter(event="StrikeIssued").exists()


def test_the_second_of_two_simultaneous_decisions_does_nothing(client: Client) -> None:
    target = make_account("target")
    kept = report(target)
    sent = {"report": [kept.pk], "acts": ["silence"], "text": "", "note": ""}
    client.post(case(target), sent)
    answer = client.post(case(target), sent | {"acts": ["suspend"]})
    assert "already resolved these reports" in answer.content.decode()
    assert Strike.objects.get().action == "silence"
    answer = client.post(case(target), sent | {"report": [kept.pk, report(target).pk], "acts": ["suspend"]})
    assert "resolved some of these reports" in answer.content.decode()
    assert open_of(target) == 1


def test_posts_are_deleted_when_the_decision_can_no_longer_be_undone(client: Client) -> None:
    target = make_account("target")
    kept, gone = make_status(target, "kept"), make_status(target, "gone")
    with time_machine.travel(clock.now(), tick=False) as traveller:
        report(target, kept)
        decided(client, target, "delete")
        client.post(f"{INBOX}undo/{Decision.objects.get().pk}/")
        Report.objects.update(action_taken_at=clock.now())
        report(target, gone)
        decided(client, target, "delete", text="Advertising.")
        work()
        assert not Status.objects.filter(deleted_at__isnull=False).exists()
        traveller.shift(timedelta(minutes=11))
        OutboxRow.objects.filter(event="DecisionEnded").update(due_at=clock.now() - timedelta(days=1))
        work()
        assert list(Status.objects.filter(deleted_at__isnull=False).values_list("id", flat=True)) == [gone.id]
        assert Strike.objects.get(action="delete_statuses").text == "Advertising."


def test_a_moderator_cannot_decide_about_higher_ranks_and_others_see_no_inbox() -> None:
    owner = make_user("owner", role="Owner").account
    report(owner, make_status(owner))
    moderator = signed_in(make_user("moderator", role="Moderator"))
    for act in ("suspend", "warn", "mark", "delete"):
        decided(moderator, owner, act)
        assert open_of(owner) == 1
    owner.refresh_from_db()
    assert not owner.suspended
    assert not Decision.objects.exists()
    decided(moderator, owner, "resolve")
    assert open_of(owner) == 0
    nobody = signed_in(make_user("nobody"))
    for path in (INBOX, case(owner)):
        assert nobody.get(path).status_code in (302, 403)


def test_undoing_a_decision_requires_outranking_the_person() -> None:
    aide, owner, moderator = (make_user(name, role=name) for name in ("Admin", "Owner", "Moderator"))
    number = report(aide.account).id
    decision = decide(by=staff_of(owner), target=aide.account, report_ids=[number], acts=["warn"], text="No")
    with pytest.raises(Forbidden):
        undo_decision(by=staff_of(moderator), decision=decision)
    assert Decision.objects.get().undone_at is None
    undo_decision(by=staff_of(owner), decision=decision)
    assert open_of(aide.account) == 1


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ({"acts": []}, 422),
        ({"acts": ["explode"]}, 422),
        ({"acts": ["resolve", "suspend"]}, 422),
        ({"acts": ["warn"], "text": "x" * 10_001}, 422),
        ({"acts": ["resolve"], "report": ["abc"]}, 400),
        ({"acts": ["resolve"], "report": ["1"]}, 200),
    ],
)
def test_wrong_decisions_are_refused_with_the_reason(client: Client, sent: Any, status: int) -> None:
    target = make_account("target")
    kept = report(target)
    answer = client.post(case(target), {"report": [kept.pk], "text": "", "note": "", **sent})
    assert answer.status_code == status
    assert open_of(target) == 1
    assert not Decision.objects.exists()


@pytest.mark.parametrize("path", ["999/", "99999999999999999999/", "undo/5/", "?category=x", "?page=0", "?page=x"])
def test_impossible_addresses_of_the_inbox_are_refused(client: Client, path: str) -> None:
    assert client.get(INBOX + path).status_code in (400, 404)


def test_pages_of_the_inbox_take_a_fixed_number_of_statements(client: Client) -> None:
    User.objects.filter(account=make_account("neighbour")).update(sign_up_ip="192.0.2.7")
    counts, reporter = [], make_account()
    for size in (1, 3):
        for number in range(size):
            for target in (
                make_user(f"here{size}x{number}").account,
                make_remote(f"there{size}x{number}", "x.example"),
            ):
                User.objects.filter(account=target).update(sign_up_ip="192.0.2.7")
                make_post = make_status if target.local else make_remote_status
                for _number in range(size):
                    Report.objects.create(
                        account=reporter, target_account=target, status_ids=[make_post(target).id], comment="spam"
                    )
                strike(target, "silence")
        # Open the case of the local account with the second most recent report.
        path = case(Account.objects.get(username=f"here{size}x{number}"))
        client.get(INBOX), client.get(path)
        found = []
        for page in (INBOX, path):
            with CaptureQueriesContext(connection) as queries:
                assert client.get(page).status_code == 200
            found.append(len(queries))
        counts.append(found)
    assert counts[0] == counts[1]
    assert max(map(max, counts)) <= 26
