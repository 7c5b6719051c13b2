"""Tests of the number of clicks for reports and appeals, and of the pages on which staff decide."""

import re
from typing import Any

import pytest
from django.test import Client

from accounts.models import AuditEntry, User
from moderation.models import Appeal, Decision, Report, Strike
from tests.factories.accounts import make_account, make_remote, make_user
from tests.factories.statuses import make_media, make_remote_status, make_status
from tests.moderation.inbox import INBOX, case, decided, open_of, report, strike
from tests.support.client import signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def client() -> Client:
    return signed_in(make_user("boss", role="Owner"))


class Clicks:
    """A moderator who uses the pages without scripts, with a count of clicks."""

    def __init__(self, client: Client, path: str) -> None:
        self.client = client
        self.count = 0
        self.show(client.get(path))

    def show(self, answer: Any) -> None:
        self.answer = answer
        self.page = answer.content.decode()
        self.path = answer.request["PATH_INFO"]
        forms = re.findall(r'<form method="post"[^>]*>(.*?)</form>', self.page, re.DOTALL)
        self.form = next((form for form in forms if 'name="acts"' in form), "")
        self.ticks = {
            (name, value)
            for name, value, checked in re.findall(
                r'<input type="(?:checkbox|hidden)" name="([a-z]+)" value="([^"]*)"( checked)?',
                self.form,
            )
            if checked or name in ("decide", "last", "confirmed") or 'name="confirmed"' in self.form
        }

    def open(self, path: str) -> None:
        self.count += 1
        assert f'href="{path}"' in self.page
        self.show(self.client.get(path))

    def tick(self, name: str, value: Any) -> None:
        self.count += 1
        assert re.search(f'name="{name}" value="{value}"', self.form), (name, value)
        self.ticks.add((name, str(value)))

    def press(self, **button: str) -> None:
        self.count += 1
        assert all(f'name="{name}" value="{value}"' in self.page for name, value in button.items())
        sent: dict[str, Any] = {}
        for name, value in self.ticks:
            sent.setdefault(name, []).append(value)
        sent = {"text": "", "note": ""} | sent | button
        self.show(self.client.post(self.path, sent, follow=True))


def test_a_hundred_reports_are_decided_in_thirty_clicks_with_posts_and_accounts_visible(client: Client) -> None:
    people = [make_remote(f"spammer{number}", note_html=f"<p>I sell {number}</p>") for number in range(10)]
    reporters = [make_remote() for _number in range(10)]
    for person in people:
        posts = [make_remote_status(person, f"Buy {person.username} {number}") for number in range(3)]
        for reporter in reporters:
            Report.objects.create(account=reporter, target_account=person, status_ids=[post.id for post in posts])
    hand = Clicks(client, INBOX)
    assert all(words in hand.page for person in people for words in (f"@{person.username}", f"Buy {person.username} 2"))
    hand.open(case(people[-1]))
    for left in range(10, 0, -1):
        person = people[left - 1]
        assert hand.path == case(person)
        assert f"I sell {left - 1}" in hand.page
        assert all(f"Buy {person.username} {number}" in hand.page for number in range(3))
        hand.tick("acts", "suspend" if left % 2 else "silence")
        hand.press()
    assert not Report.objects.filter(action_taken_at=None).exists()
    assert hand.count <= 30
    # Obvious spam of several accounts is deleted in one action.
    Report.objects.update(action_taken_at=None)
    hand = Clicks(client, INBOX)
    hand.press(select="posts")
    hand.tick("acts", "delete")
    hand.press()
    assert all(f"Buy {person.username} {number}" in hand.page for person in people for number in range(3))
    assert all(f"@{person.username}" in hand.page for person in people)
    hand.press()
    assert not Report.objects.filter(action_taken_at=None).exists()
    assert hand.count <= 6
    assert sum(len(one.status_ids) for one in Decision.objects.filter(acts=["delete"])) == 30


def test_a_report_is_resolved_with_one_of_three_posts_deleted_in_at_most_four_clicks(client: Client) -> None:
    target = make_account("target")
    posts = [make_status(target, f"post {number}") for number in range(3)]
    kept = report(target, *posts)
    for start in ("inbox", "case"):
        Report.objects.filter(pk=kept.pk).update(action_taken_at=None)
        hand = Clicks(client, INBOX)
        if start == "case":
            hand.open(case(target))
        hand.tick("post", posts[1].id)
        hand.tick("acts", "delete")
        hand.press()
        if start == "inbox":
            assert "post 1" in hand.page
            assert "post 0" not in hand.page
            hand.press()
        assert open_of(target) == 0
        assert Decision.objects.latest("id").status_ids == [posts[1].id]
        assert hand.count <= 4


def test_a_post_can_be_marked_as_sensitive_or_removed_from_a_report_that_stays_open(client: Client) -> None:
    target = make_account("target")
    shown, other = make_status(target, "a picture", media=[make_media(target)]), make_status(target, "harmless")
    kept = report(target, shown, other)
    question = f"{case(target)}{shown.id}/mark/"
    assert "a picture" in client.get(question).content.decode()
    client.post(question, {"confirmed": "yes", "text": "Cover this."})
    shown.refresh_from_db()
    mark = Strike.objects.get()
    assert (shown.sensitive, mark.text, mark.status_ids, mark.report_id) == (True, "Cover this.", [shown.id], kept.pk)
    assert open_of(target) == 1
    # The link is on every admin page.
    page = client.get("/admin/accounts/account/").content.decode()
    assert "data-undo" in page
    answer = client.post(f"{INBOX}undo/", {"page": "/admin/accounts/account/"})
    assert (answer.status_code, answer.headers["Location"]) == (303, "/admin/accounts/account/")
    shown.refresh_from_db()
    assert not shown.sensitive
    assert "data-undo" not in client.get("/admin/accounts/account/").content.decode()
    client.post(f"{case(target)}{other.id}/remove/", {"confirmed": "yes"})
    kept.refresh_from_db()
    assert kept.status_ids == [shown.id]
    page = client.get(case(target)).content.decode()
    assert "removed a post from a report about @target" in page
    assert client.get(f"{case(target)}{other.id}/remove/").status_code == 404
    assert client.get(f"/admin/moderation/report/{kept.pk}/change/").status_code == 200


def test_only_the_case_shows_private_posts_and_only_posts_of_its_account_are_decided(
    client: Client,
) -> None:
    target, other = make_account("target"), make_account("other")
    kept = report(target, make_status(target, "between us", visibility="private"))
    foreign = make_status(other, "foreign")
    page = client.get(INBOX).content.decode()
    assert "between us" not in page
    assert "1 more post" in page
    assert not AuditEntry.objects.filter(action="view").exists()
    decided(client, target, "delete", post=[foreign.id])
    assert open_of(target) == 1
    decided(client, target, "delete", post=[])
    assert open_of(target) == 1
    assert client.get(f"{case(target)}{foreign.id}/delete/").status_code == 404
    assert not Decision.objects.exists()
    assert kept.status_ids


def test_a_confirmation_page_shows_followers_strikes_and_accounts_with_the_same_address(client: Client) -> None:
    target = make_user("target", note_html="<p>About me</p>").account
    User.objects.filter(account__in=[target, make_user("twin").account]).update(sign_up_ip="192.0.2.7")
    strike(target, "silence")
    for path in (f"/admin/accounts/account/{target.pk}/suspend/", f"/admin/accounts/account/{target.pk}/change/"):
        page = client.get(path).content.decode()
        for words in ("About me", "account limited × 1", "@twin", "Followers"):
            assert words in page, (path, words)


def test_an_appeal_is_decided_in_three_clicks_from_its_row(client: Client) -> None:
    target = make_account("target")
    appeal = Appeal.objects.create(strike=strike(target, "none"), account=target, text="I did not")
    rows = "/admin/moderation/appeal/"
    question = f"{rows}{appeal.pk}/accept/"
    assert f'href="{question}"' in client.get(rows).content.decode()
    assert "I did not" in client.get(question).content.decode()
    client.post(question, {"confirmed": "yes"})
    appeal.refresh_from_db()
    assert appeal.approved_at is not None
