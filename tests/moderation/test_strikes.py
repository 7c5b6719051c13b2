"""Tests of strikes: the user sees them, and can appeal once, within 20 days."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.test import Client

from accounts.identity.services import staff
from accounts.models import Account, AuditEntry, User
from accounts.policies.staff import staff_of
from moderation.models import Appeal, InstanceRule, Strike
from moderation.services.acting import act_on_account, act_on_posts
from moderation.services.strikes import accept_appeal, file_appeal, issue_strike, reject_appeal
from social.kernel import clock
from social.kernel.errors import Conflict, Forbidden
from tests.factories.accounts import make_remote, make_user
from tests.factories.reports import make_report
from tests.factories.statuses import make_status
from tests.moderation.strikes import link, notified
from tests.support.client import signed_in
from tests.support.work import work

pytestmark = pytest.mark.django_db


def warn(boss: User, target: Account, action: str = "none", **more: Any) -> Strike:
    return issue_strike(by=staff_of(boss), target=target, action=action, **more)


def test_a_warned_user_is_notified_and_gets_a_mail(boss: User, ann: User) -> None:
    strike = warn(boss, ann.account, text="Mind your words")
    (shown,) = notified(ann)
    assert shown["account"]["acct"] == "ann", "the acting member of staff is not named"
    warning = shown["moderation_warning"]
    assert warning["target_account"]["acct"] == "ann"
    assert warning | {"created_at": "", "target_account": {}} == {
        "id": str(strike.id),
        "action": "none",
        "text": "Mind your words",
        "status_ids": None,
        "created_at": "",
        "target_account": {},
        "appeal": None,
    }
    (letter,) = mail.outbox
    assert letter.to == ["ann@example.com"]
    assert "Mind your words" in letter.body
    file_appeal(strike=strike, text="No")
    assert notified(ann)[0]["moderation_warning"]["appeal"] == {"text": "No", "state": "pending"}


def test_without_notification_there_is_neither_notification_nor_mail(boss: User, ann: User) -> None:
    warn(boss, ann.account, notify=False)
    warn(boss, make_remote())
    assert notified(ann) == []
    assert mail.outbox == []


def test_a_strike_names_the_posts_of_its_report(boss: User, ann: User) -> None:
    post = make_status(ann.account, "Bad words")
    report = make_report(boss.account, ann.account, post)
    warn(boss, ann.account, report=report)
    assert notified(ann)[0]["moderation_warning"]["status_ids"] == [str(post.id)]
    assert "Bad words" in Client().get(link()).content.decode()


def test_a_user_sees_only_their_own_strikes(boss: User, ann: User) -> None:
    strike = warn(boss, ann.account, text="Mind your words")
    own, other = signed_in(ann), signed_in(make_user("bob"))
    assert f"/disputes/strikes/{strike.id}" in own.get("/disputes/strikes").content.decode()
    assert str(strike.id) not in other.get("/disputes/strikes").content.decode()
    page = f"/disputes/strikes/{strike.id}"
    assert "Mind your words" in own.get(page).content.decode()
    assert other.get(page).status_code == 404
    anonymous = Client().get(page)
    assert anonymous.status_code == 302
    assert "/auth/sign_in" in anonymous["Location"]


def test_the_link_in_the_mail_opens_only_its_strike_even_without_signing_in(boss: User, ann: User) -> None:
    staff.disable(by=staff_of(boss), user=ann)
    other = warn(boss, ann.account, notify=False)
    warn(boss, ann.account, action="disable")
    path = link()
    assert Client().get(path).status_code == 200
    assert Client().get(path[:-1] + "x").status_code == 404
    key = path.partition("?")[2]
    assert Client().get(f"/disputes/strikes/{other.id}?{key}").status_code == 404
    answer = Client().post(path, {"text": "It was not me"})
    assert (answer.status_code, answer["Location"]) == (303, path)
    assert Appeal.objects.get().text == "It was not me"


def test_a_strike_can_be_appealed_once_in_time_and_with_a_text(boss: User, ann: User) -> None:
    strike, old = warn(boss, ann.account), warn(boss, ann.account)
    Strike.objects.filter(id=old.id).update(created_at=clock.now() - timedelta(days=20))
    browser, page = signed_in(ann), f"/disputes/strikes/{strike.id}"
    assert browser.post(page, {"text": "  "}).status_code == 422
    assert browser.post(page, {"text": "x" * 2001}).status_code == 422
    assert browser.post(page, {"text": "Please"}).status_code == 303
    assert browser.post(page, {"text": "Again"}).status_code == 403
    assert browser.post(f"/disputes/strikes/{old.id}", {"text": "Late"}).status_code == 403
    assert '<form method="post">' not in browser.get(f"/disputes/strikes/{old.id}").content.decode()
    assert list(Appeal.objects.values_list("text", flat=True)) == ["Please"]


def test_an_accepted_appeal_undoes_the_action(boss: User, ann: User) -> None:
    staff.disable(by=staff_of(boss), user=ann)
    strike = warn(boss, ann.account, action="disable", notify=False)
    appeal = file_appeal(strike=strike, text="It was not me")
    work()
    assert [letter.to for letter in mail.outbox] == [["boss@example.com"]]
    accept_appeal(by=staff_of(boss), appeal=appeal)
    work()
    ann.refresh_from_db()
    strike.refresh_from_db()
    assert ann.disabled_at is None
    assert strike.overruled_at is not None
    assert mail.outbox[-1].to == ["ann@example.com"]
    assert "approved" in mail.outbox[-1].body
    entry = AuditEntry.objects.get(target_type="Appeal")
    assert (entry.account_name, entry.action, entry.details["undone"]) == ("@boss", "accept", "disable")
    with pytest.raises(Conflict):
        reject_appeal(by=staff_of(boss), appeal=appeal)


@pytest.mark.parametrize(
    ("action", "column"),
    [
        ("disable", "user__disabled_at"),
        ("sensitive", "sensitized_at"),
        ("silence", "limited_at"),
        ("suspend", "suspended_at"),
    ],
)
def test_each_sanction_is_undone_by_an_accepted_appeal(boss: User, ann: User, action: str, column: str) -> None:
    act_on_account(by=staff_of(boss), account=ann.account, action=action, text="Because")
    sanctioned = Account.objects.filter(**{"id": ann.account_id, f"{column}__isnull": False})
    assert sanctioned.exists()
    path = link()
    assert Client().post(path, {"text": "No"}).status_code == 303
    accept_appeal(by=staff_of(boss), appeal=Appeal.objects.get())
    assert not sanctioned.exists()
    assert "Your appeal was approved" in Client().get(path).content.decode()


def test_a_rejected_appeal_leaves_everything_as_it_is(boss: User, ann: User) -> None:
    staff.disable(by=staff_of(boss), user=ann)
    strike = warn(boss, ann.account, action="disable", notify=False)
    appeal = file_appeal(strike=strike, text="It was not me")
    equal = replace(staff_of(boss), permissions=0x200, position=ann.role.position)
    for by in (replace(equal, permissions=0x10, position=5), equal):
        with pytest.raises(Forbidden):
            reject_appeal(by=by, appeal=appeal)
    reject_appeal(by=staff_of(boss), appeal=appeal)
    ann.refresh_from_db()
    assert ann.disabled_at is not None
    assert Appeal.objects.get().state == "rejected"


def test_an_overruled_strike_cannot_be_appealed(boss: User, ann: User) -> None:
    strike = warn(boss, ann.account)
    Strike.objects.filter(id=strike.id).update(overruled_at=clock.now())
    with pytest.raises(Forbidden, match="undone already"):
        file_appeal(strike=strike, text="No")
    page = signed_in(ann).get(f"/disputes/strikes/{strike.id}").content.decode()
    assert "This has been undone already." in page
    assert "It is too late" not in page


def test_deciding_an_appeal_requires_outranking_the_person(boss: User) -> None:
    aide, equal = make_user("aide", role="Admin"), make_user("equal", role="Admin")
    appeal = file_appeal(strike=warn(boss, aide.account), text="No")
    for decide in (accept_appeal, reject_appeal):
        with pytest.raises(Forbidden):
            decide(by=staff_of(equal), appeal=appeal)
    reject_appeal(by=staff_of(boss), appeal=appeal)
    assert Appeal.objects.get().state == "rejected"


def test_staff_decide_appeals_in_the_admin_and_viewing_private_posts_is_audited(
    boss: User, ann: User, settings: Any
) -> None:
    settings.STAFF_SECOND_FACTOR = False
    hidden = make_status(ann.account, "Hidden words", visibility="private")
    report = make_report(boss.account, ann.account, hidden, comment="Look <b>")
    appeals = [file_appeal(strike=warn(boss, ann.account), text="No") for _number in range(2)]
    browser = signed_in(boss)
    for path in (
        "",
        "report/",
        "strike/",
        "appeal/",
        f"appeal/{appeals[0].id}/change/",
        f"strike/{appeals[0].strike_id}/change/",
    ):
        assert browser.get(f"/admin/moderation/{path}").status_code == 200, path
    assert AuditEntry.objects.filter(action="view").count() == 0
    page = browser.get(f"/admin/moderation/report/{report.id}/change/").content.decode()
    assert "Hidden words" in page
    assert "Look &lt;b&gt;" in page
    seen = AuditEntry.objects.get(action="view")
    assert (seen.target_type, seen.target_id, seen.target_name) == ("Status", hidden.id, "@ann")
    for action, appeal in zip(("accept", "reject"), appeals, strict=True):
        chosen = {"action": action, "_selected_action": [appeal.id], "confirmed": "yes"}
        assert browser.post("/admin/moderation/appeal/", chosen, follow=True).status_code == 200
    assert sorted(appeal.state for appeal in Appeal.objects.all()) == ["approved", "rejected"]
    listed = browser.get("/admin/moderation/strike/").content.decode().partition("</table>")[0]
    assert (listed.count("Undone"), listed.count("Rejected")) == (1, 1)
    federation = make_user("fed", role="Moderator")
    federation.role.permissions = 0x20
    federation.role.save()
    other = signed_in(federation)
    for path in ("report/", "strike/", "appeal/"):
        assert other.get(f"/admin/moderation/{path}").status_code == 403, path


def test_staff_can_disable_these_mails_on_the_preferences_page(boss: User, ann: User) -> None:
    page = "/settings/preferences"
    assert "staff_mails" not in signed_in(ann).get(page).content.decode()
    browser = signed_in(boss)
    form = browser.get(page).context["form"]
    assert form["staff_mails"].value() is True
    sent = {name: form[name].value() for name in form.fields if form[name].value() and name != "staff_mails"}
    assert browser.post(page, sent).status_code == 303
    file_appeal(strike=warn(boss, ann.account, notify=False), text="No")
    work()
    assert mail.outbox == []


def test_reading_the_audit_log_requires_the_permission_and_nobody_can_change_it(
    boss: User, ann: User, settings: Any
) -> None:
    settings.STAFF_SECOND_FACTOR = False
    act_on_account(by=staff_of(boss), account=ann.account, action="silence", text="")
    entry = AuditEntry.objects.get(action="limit")
    browser = signed_in(boss)
    listed = browser.get("/admin/accounts/auditentry/?q=@ann").content.decode()
    assert "limit" in listed
    assert "limit" in browser.get("/admin/accounts/auditentry/?by=staff").content.decode()
    page = browser.get(f"/admin/accounts/auditentry/{entry.pk}/change/").content.decode()
    assert "limited_at" in page, "the values before and after are shown"
    assert browser.post(f"/admin/accounts/auditentry/{entry.pk}/delete/", {"post": "yes"}).status_code == 403
    moderator = make_user("mod", role="Moderator")
    moderator.role.permissions = 0x10
    moderator.role.save()
    assert signed_in(moderator).get("/admin/accounts/auditentry/").status_code == 403


def test_the_mail_about_a_strike_states_reasons_source_and_appeal(boss: User, ann: User, settings: Any) -> None:
    settings.STAFF_SECOND_FACTOR = False
    rule = InstanceRule.objects.create(text="Be kind to <everybody>")
    post = make_status(ann.account, "Bad words")
    report = make_report(boss.account, ann.account, post)
    act_on_posts(by=staff_of(boss), account=ann.account, action="delete_statuses", status_ids=[post.id], report=report)
    work()
    letter = mail.outbox[-1].body
    for words in ("These posts were deleted", "Bad words", "Somebody has reported it", "A person made the decision"):
        assert words in letter
    bob = make_user("bob")
    User.objects.filter(pk=bob.pk).update(locale="de")
    warn(boss, bob.account)
    work()
    assert "Was geschehen ist" in mail.outbox[-1].body
    page = f"/admin/accounts/account/{ann.account_id}/limit/"
    browser = signed_in(boss)
    asked = browser.get(page)
    sent = {asked.context["confirmed"]: "yes", "house_rule_ids": [rule.pk], "notify": "on"}
    assert browser.post(page, sent).status_code == 302
    strike = Strike.objects.get(action="silence")
    InstanceRule.objects.update(text="Another rule")
    assert strike.statement["house_rules"] == ["Be kind to <everybody>"], "the statement has the rule as it was then"
    shown = signed_in(ann).get(f"/disputes/strikes/{strike.id}").content.decode()
    for words in (
        "Rule of this server: Be kind to &lt;everybody&gt;",
        "do not appear in public timelines",
        "You can appeal until",
    ):
        assert words in shown
    assert "on their own initiative" in shown
