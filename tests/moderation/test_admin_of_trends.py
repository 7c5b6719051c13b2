"""Tests of the admin for trends: several items can be reviewed in one step, and pages describe actions in sentences."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.models import AuditEntry, Role, Tag
from accounts.models.user import Permission
from moderation.admin.audit_sentences import sentence
from statuses.models import PreviewCard
from tests.factories.accounts import make_remote, make_user
from tests.factories.statuses import make_remote_status, make_status
from tests.support.client import signed_in
from timelines.models import LinkPublisher, Trend, TrendKind
from timelines.queries.trends import list_allowed_ids, list_trending

pytestmark = pytest.mark.django_db
TRENDS, PUBLISHERS, TAGS = "/admin/timelines/trend/", "/admin/timelines/linkpublisher/", "/admin/accounts/tag/"


@pytest.fixture
def boss(settings: Any) -> Client:
    settings.STAFF_SECOND_FACTOR = False
    return signed_in(make_user("boss", role="Owner"))


def trending(kind: TrendKind, object_id: int) -> Trend:
    return Trend.objects.create(kind=kind, object_id=object_id, score=1)


def link(number: int) -> PreviewCard:
    url = f"https://site{number}.example/"
    return PreviewCard.objects.create(url=url, host=f"site{number}.example", title=f"Page {number}")


def answer(client: Client, page: str, action: str, rows: list[Any]) -> str:
    """Choose an action and confirm it, and return the confirmation page's text."""
    sent: dict[str, Any] = {"action": action, "_selected_action": [row.pk for row in rows]}
    asked = client.post(page, sent)
    assert asked.status_code == 200
    assert client.post(page, sent | {asked.context["confirmed"]: "yes"}).status_code == 302
    return asked.content.decode()


def test_many_posts_links_and_hashtags_are_reviewed_together(boss: Client) -> None:
    tag = Tag.objects.create(name="rising", display_name="Rising")
    post = make_status(make_user("ann").account, "hello world")
    far = make_remote_status(make_remote("zoe", "far.example"), "<p>from afar</p>")
    card = link(1)
    rows = [
        trending(TrendKind.TAG, tag.pk),
        trending(TrendKind.STATUS, post.pk),
        trending(TrendKind.STATUS, far.pk),
        trending(TrendKind.LINK, card.pk),
    ]
    listed = boss.get(TRENDS).content.decode()
    for words in ("#Rising", "hello world", "@ann<", "from afar", "@zoe@far.example", "Page 1", "site1.example"):
        assert words in listed
    asked = answer(boss, TRENDS, "approve", rows)
    assert "hello world (@ann)" in asked
    assert "@zoe@far.example" in asked
    allowed = [list_allowed_ids(kind) for kind in ("tag", "status", "link")]
    assert allowed == [[tag.pk], sorted([post.pk, far.pk]), [card.pk]]
    assert "hello world" in boss.get(f"{TRENDS}?state=approved").content.decode()
    answer(boss, TRENDS, "reject", rows[:1])
    assert list_trending("tag")[0].allowed is False
    said = {sentence(entry) for entry in AuditEntry.objects.filter(target_type__one_of=["Tag", "Status", "Link"])}
    assert "@boss approved a post of @ann as trending" in said
    assert "@boss approved the page https://site1.example/ as trending" in said
    assert "@boss rejected the hashtag #Rising as trending" in said
    post.delete()
    assert boss.get(TRENDS).content.decode().count("hello world") == 0


def test_the_review_of_a_publisher_applies_to_pages_without_their_own(boss: Client) -> None:
    card = link(1)
    trending(TrendKind.LINK, card.pk)
    publisher = LinkPublisher.objects.create(domain="site1.example")
    assert "Not reviewed" in boss.get(f"{PUBLISHERS}{publisher.pk}/change/").content.decode()
    assert "site1.example" in answer(boss, PUBLISHERS, "approve", [publisher])
    assert list_allowed_ids("link") == [card.pk]
    assert "Page 1" in boss.get(f"{TRENDS}?state=approved").content.decode()
    answer(boss, PUBLISHERS, "reject", [publisher])
    assert list_allowed_ids("link") == []


def test_the_spelling_of_a_hashtag_can_be_changed_but_not_its_name(boss: Client) -> None:
    tag = Tag.objects.create(name="blackcat", display_name="blackcat")
    assert "#blackcat" in boss.get(TAGS, {"q": "#BlackC"}).content.decode()
    page = f"{TAGS}{tag.pk}/change/"
    refused = boss.post(page, {"display_name": "whitecat", "usable": "on", "trendable": "unknown"})
    assert "does not match the previous name" in refused.content.decode()
    sent = {"display_name": "#BlackCat", "listable": "on", "trendable": "true"}
    assert boss.post(page, sent).status_code == 302
    tag.refresh_from_db()
    assert (tag.display_name, tag.usable, tag.listable, tag.trendable) == ("BlackCat", False, True, True)
    assert AuditEntry.objects.get(target_type="Tag").details["after"]["usable"] is False


def test_pages_cost_the_same_for_two_and_seven_rows(boss: Client) -> None:
    def costs() -> list[int]:
        counted = []
        for page in (TRENDS, PUBLISHERS, TAGS):
            with CaptureQueriesContext(connection) as queries:
                assert boss.get(page).status_code == 200
            counted.append(len(queries))
        return counted

    def add(numbers: range) -> None:
        for number in numbers:
            trending(TrendKind.LINK, link(number).pk)
            LinkPublisher.objects.create(domain=f"site{number}.example")
            trending(TrendKind.TAG, Tag.objects.create(name=f"tag{number}", display_name=f"tag{number}").pk)
            trending(TrendKind.STATUS, make_remote_status(make_remote()).pk)

    add(range(2))
    costs()
    few = costs()
    add(range(2, 7))
    assert costs() == few
    assert max(few) <= 20


def test_trends_are_neither_shown_nor_reviewed_without_the_permission(boss: Client) -> None:
    Role.objects.create(name="Reports", permissions=Permission.MANAGE_REPORTS, position=50)
    trend = trending(TrendKind.LINK, link(1).pk)
    other = signed_in(make_user("ann", role="Reports"))
    assert other.get("/admin/moderation/report/").status_code == 200
    for page in (TRENDS, PUBLISHERS, TAGS):
        assert other.get(page).status_code == 403
        sent = {"action": "approve", "_selected_action": [trend.pk], "confirmed": "yes"}
        assert other.post(page, sent).status_code == 403
    assert list_allowed_ids("link") == []
