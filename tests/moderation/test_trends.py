"""Tests of trends for staff, and of the effect of reviews for everyone (contract, endpoints.tsv "admin/trends")."""

from typing import Any

import pytest

from accounts.models import AuditEntry, Tag, User
from accounts.services.audit import write_setting
from accounts.services.blocking import block_account
from social.kernel import clock
from statuses.models import PreviewCard, Status
from tests.factories.accounts import make_token, make_user
from tests.factories.statuses import make_status
from tests.support.client import Api
from timelines.models import LinkPublisher, Trend, TrendKind
from timelines.queries.trends import TRENDS_SETTING

pytestmark = pytest.mark.django_db
PATH = "/api/v1/admin/trends"
SCOPES = "admin:read admin:write"


@pytest.fixture
def boss() -> Api:
    return Api(make_token(make_user("boss", role="Owner"), SCOPES))


@pytest.fixture
def trending() -> dict[str, int]:
    """The ids of trending items that have not been reviewed yet, one of each kind."""
    ann = make_user("ann").account
    block_account(account=ann, target=User.objects.get(account__username="boss").account)
    card = PreviewCard.objects.create(url="https://site.example/1", host="site.example", title="Page")
    found = {
        "tags": Tag.objects.create(name="rising", display_name="Rising").id,
        "statuses": make_status(ann, "hello").id,
        "links": card.id,
    }
    for kind, number in zip((TrendKind.TAG, TrendKind.STATUS, TrendKind.LINK), found.values(), strict=True):
        Trend.objects.create(kind=kind, object_id=number, score=5)
    return found


def seen(api: Api, path: str) -> list[Any]:
    answer = api.get(path)
    assert answer.status_code == 200, answer.content
    entities: list[Any] = answer.json()
    return entities


@pytest.mark.parametrize("kind", ["tags", "statuses", "links"])
def test_staff_see_and_review_trends_before_they_are_public(boss: Api, trending: dict[str, int], kind: str) -> None:
    number, public = trending[kind], f"/api/v1/trends/{kind}"
    plain = Api(make_token(make_user("plain"), SCOPES))
    write_setting(TRENDS_SETTING, False)
    assert [(one["id"], one["requires_review"]) for one in seen(boss, f"{PATH}/{kind}")] == [(str(number), True)]
    write_setting(TRENDS_SETTING, True)
    assert seen(plain, f"{PATH}/{kind}") == seen(Api(), f"{PATH}/{kind}") == seen(Api(), public) == []
    approved = boss.post(f"{PATH}/{kind}/{number}/approve").json()
    assert (approved["id"], approved["requires_review"]) == (str(number), False)
    assert seen(boss, f"{PATH}/{kind}") == [approved]
    (shown,) = seen(Api(), f"{PATH}/{kind}")
    assert [shown] == seen(Api(), public)
    assert "requires_review" not in shown
    assert "requires_review" not in seen(plain, f"{PATH}/{kind}")[0]
    assert boss.post(f"{PATH}/{kind}/{number}/reject").json()["requires_review"] is False
    assert seen(Api(), public) == []
    assert seen(boss, f"{PATH}/{kind}") != []
    assert list(AuditEntry.objects.filter(target_id=number).order_by("id").values_list("action", flat=True)) == [
        "approve_trend",
        "reject_trend",
    ]
    link = boss.get(f"{PATH}/{kind}", {"limit": 5, "offset": 11}).headers["Link"]
    assert link == f'<http://social.localhost{public}?limit=5&offset=6>; rel="prev"'


def test_reviewing_an_object_that_cannot_trend_does_not_reveal_it(boss: Api) -> None:
    author = make_user("ann").account
    bare = PreviewCard.objects.create(url="https://site.example/2", host="site.example")
    gone = make_status(author, "gone")
    Status.objects.filter(id=gone.id).update(deleted_at=clock.now())
    cases = [
        ("links", bare.id),
        ("statuses", make_status(author, "mine", visibility="private").id),
        ("statuses", gone.id),
    ]
    for kind, number in cases:
        assert boss.post(f"{PATH}/{kind}/{number}/approve").status_code == 404, (kind, number)
    assert not AuditEntry.objects.filter(action="approve_trend").exists()


def test_a_review_of_a_publisher_applies_to_its_pages(boss: Api, trending: dict[str, int]) -> None:
    publisher = LinkPublisher.objects.create(domain="site.example", requested_review_at=clock.now())
    (waiting,) = seen(boss, f"{PATH}/links/publishers")
    assert (waiting["id"], waiting["trendable"], waiting["requires_review"]) == (str(publisher.id), None, True)
    assert waiting["requested_review_at"] is not None
    path = f"{PATH}/links/publishers/{publisher.id}"
    approved = boss.post(f"{path}/approve").json()
    assert (approved["trendable"], approved["requires_review"]) == (True, False)
    assert [one["requires_review"] for one in seen(boss, f"{PATH}/links")] == [False]
    assert [one["url"] for one in seen(Api(), "/api/v1/trends/links")] == ["https://site.example/1"]
    assert boss.post(f"{path}/reject").json()["trendable"] is False
    assert seen(Api(), "/api/v1/trends/links") == []
    assert AuditEntry.objects.filter(target_id=publisher.id).count() == 2


def test_staff_without_approval_cannot_use_the_lists_for_staff() -> None:
    user = make_user("boss", role="Owner")
    User.objects.filter(pk=user.pk).update(approved=False)
    answer = Api(make_token(user, SCOPES)).get(f"{PATH}/tags")
    assert (answer.status_code, answer.json()) == (403, {"error": "Your login is currently pending approval"})
