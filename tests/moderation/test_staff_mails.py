"""Tests of mails to staff: a link in each unsubscribes the reader, and a mailbox that refuses mails does not delay others."""

import re
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

import pytest
from django.core import mail
from django.test import Client

from accounts.copies.models import QuarantinedFile
from accounts.models import Account, SiteSetting, User
from moderation.blocklists.models import Blocklist, BlocklistEntry
from moderation.policies.reports import ReportDraft
from moderation.services import mails
from moderation.services.reports import file_report
from social.kernel.outbox import OutboxRow, drain
from statuses.models import HeldPost
from tests.factories.accounts import make_account, make_user
from tests.support.client import signed_in
from tests.support.work import work

pytestmark = pytest.mark.django_db
ONE_CLICK = {"List-Unsubscribe": "One-Click"}


@pytest.fixture
def ann() -> Account:
    return make_user("ann").account


def reported(by: Account, comment: str = "") -> list[Any]:
    mail.outbox.clear()
    file_report(account=by, target=make_account(f"target{Account.objects.count()}"), draft=ReportDraft(comment=comment))
    work()
    return list(mail.outbox)


def address_in(letter: Any) -> str:
    found = re.fullmatch(r"<http://social\.localhost(/unsubscribe/\S+)>", letter.extra_headers["List-Unsubscribe"])
    assert found is not None
    return found[1]


def test_one_click_in_a_mail_program_ends_the_mails_without_signing_in(ann: Account, boss: User) -> None:
    (letter,) = reported(ann)
    assert letter.extra_headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    address = address_in(letter)
    assert address in letter.body
    assert Client(enforce_csrf_checks=True).post(address, ONE_CLICK).status_code == 200
    assert reported(ann) == []
    boss.refresh_from_db()
    assert boss.preferences == {"staff_mails": False}, "no other preference is stored"


def test_programs_that_open_the_links_of_a_mail_unsubscribe_nobody(ann: Account, boss: User) -> None:
    page = Client().get(address_in(reported(ann)[0]))
    assert page.status_code == 200
    assert "E-mails about reports and appeals" in page.content.decode()
    assert 'href="/settings/preferences"' in page.content.decode()
    assert len(reported(ann)) == 1


@pytest.mark.parametrize("change", [("staff_mails", "sign_up_mails"), ("staff_mails", "locale"), ("-", "0-")])
def test_a_forged_link_leads_nowhere(ann: Account, boss: User, change: tuple[str, str]) -> None:
    address = address_in(reported(ann)[0])
    assert Client().post(address.replace(*change, 1), ONE_CLICK).status_code == 404
    boss.refresh_from_db()
    assert boss.preferences == {}


def test_the_mail_is_sent_by_the_server_as_text_and_html_and_quotes_texts_of_strangers(
    ann: Account, boss: User
) -> None:
    SiteSetting.objects.create(key="site_title", value="Birds")
    (letter,) = reported(ann, "Look:\n\n<b>here</b>")
    assert letter.from_email == "Birds <notifications@social.localhost>"
    assert "\n> Look:\n>\n> <b>here</b>\n" in letter.body
    assert "Sent by Birds to @boss@social.localhost." in letter.body
    ((html, _kind),) = letter.alternatives
    assert '<blockquote dir="auto">Look:<br><br>&lt;b&gt;here&lt;/b&gt;</blockquote>' in html
    assert "View the report</a>" in html


def test_an_unreachable_recipient_does_not_delay_or_repeat_the_mails_of_others(
    ann: Account, boss: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_user("mod", role="Moderator")
    sent = mail.EmailMultiAlternatives.send

    def refuse_one(letter: mail.EmailMultiAlternatives, *args: Any) -> int:
        if letter.to == ["mod@example.com"]:
            raise ConnectionRefusedError
        return sent(letter, *args)

    monkeypatch.setattr(mail.EmailMultiAlternatives, "send", refuse_one)
    mail.outbox.clear()
    file_report(account=ann, target=make_account("target"), draft=ReportDraft())
    for _time in range(3):
        drain("mailers")
        OutboxRow.objects.filter(queue="mailers").update(due_at="2020-01-01T00:00Z")
    assert [letter.to for letter in mail.outbox] == [["boss@example.com"]]
    monkeypatch.undo()
    OutboxRow.objects.update(last_error="")
    work()
    assert sorted(letter.to[0] for letter in mail.outbox) == ["boss@example.com", "mod@example.com"]


def test_staff_can_get_a_daily_mail_about_pending_work(
    ann: Account, boss: User, monkeypatch: pytest.MonkeyPatch
) -> None:
    def sent(day: int, hour: int) -> list[Any]:
        moment = datetime(2026, 11, day, hour, tzinfo=UTC)
        monkeypatch.setattr(mails, "clock", SimpleNamespace(now=lambda: moment))
        mail.outbox.clear()
        mails.queue_digests()
        work()
        return list(mail.outbox)

    User.objects.filter(pk=make_user("mod", role="Moderator").pk).update(time_zone="No/Longer")
    page = "/settings/preferences"
    assert "digest_mails" in signed_in(boss).get(page).content.decode()
    assert "digest_mails" not in signed_in(ann.user).get(page).content.decode()
    assert sent(19, 9) == [], "nobody has enabled the mail"
    User.objects.filter(pk=boss.pk).update(
        preferences={"digest_mails": True, "staff_mails": False}, time_zone="Europe/Berlin"
    )
    assert sent(20, 9) == [], "nothing is pending"
    file_report(account=ann, target=make_account("target"), draft=ReportDraft())
    User.objects.filter(pk=make_user("waiting").pk).update(approved=False)
    HeldPost.objects.create(account=ann, visibility="public", written_at=datetime(2026, 11, 20, tzinfo=UTC))
    QuarantinedFile.objects.create(sha256="0" * 64, source="upload", account=ann)
    QuarantinedFile.objects.create(sha256="1" * 64, source="upload", account=ann, decision="destroyed")
    friends = Blocklist.objects.create(name="friends", url="https://friends.example/list.csv")
    BlocklistEntry.objects.create(blocklist=friends, domain="bad.example", severity="suspend", state="waiting")
    work()
    assert sent(20, 22) == [], "at most one mail a day is sent"
    assert sent(21, 5) == [], "it is six in the morning in that time zone"
    (letter,) = sent(21, 6)
    assert (letter.to, letter.subject) == (["boss@example.com"], "5 decisions wait at social.localhost")
    assert "Reports: 1\nSign-ups: 1\nHeld posts: 1\nFiles in quarantine: 1\nChanges by blocklists: 1\n" in letter.body
    assert "http://social.localhost/admin/" in letter.body
    assert "Open the administration</a>" in letter.alternatives[0][0]
    assert sent(21, 9) == []
    User.objects.filter(pk=boss.pk).update(locale="de")
    (letter,) = sent(22, 9)
    assert letter.body.startswith("Hallo @boss")
    assert Client(enforce_csrf_checks=True).post(address_in(letter), ONE_CLICK).status_code == 200
    assert sent(23, 9) == []


@pytest.mark.verify
def test_mails_about_reports_are_rate_limited(ann: Account, boss: User, settings: Any) -> None:
    settings.RATE_LIMITS = True
    for _time in range(30):
        assert len(reported(ann)) == 1
    assert reported(ann) == []
