"""Tests of hashtags on profiles, and of their usage numbers (SEED-034, SEED-079, SEED-080; contract, entities "Tag")."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import time_machine
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Account, FeaturedTag, TagUse, User
from accounts.services.tags import forget_old_uses
from social.kernel import clock
from tests.factories.accounts import make_remote, make_token, make_user
from tests.factories.statuses import make_remote_status
from tests.support.client import Api

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("noon")]
PATH = "/api/v1/featured_tags"


def post(api: Api, text: str, visibility: str = "public") -> str:
    answer = api.post("/api/v1/statuses", {"status": text, "visibility": visibility})
    assert answer.status_code == 200, answer.content
    number: str = answer.json()["id"]
    return number


def feature(api: Api, name: str) -> dict[str, Any]:
    answer = api.post(PATH, {"name": name})
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()
    return found


def test_seed_034_a_hashtag_is_featured_on_a_profile_and_removed(ann: User, api: Api) -> None:
    made = feature(api, "#Cats")
    assert made == {
        "id": made["id"],
        "name": "Cats",
        "url": "http://social.localhost/@ann/tagged/cats",
        "statuses_count": "0",
        "last_status_at": None,
    }
    assert feature(api, "cats") == made
    assert api.get(PATH).json() == [made]
    assert Api().get(f"/api/v1/accounts/{ann.account_id}/featured_tags").json() == [made]  # SEED-079
    assert Api(make_token(make_user())).delete(f"{PATH}/{made['id']}").status_code == 404
    gone = api.delete(f"{PATH}/{made['id']}")
    assert (gone.status_code, gone.json()) == (200, {})
    assert api.delete(f"{PATH}/{made['id']}").status_code == 404
    assert api.get(PATH).json() == []


def test_featured_hashtags_count_earlier_and_later_posts_but_not_deleted_ones(api: Api) -> None:
    first = post(api, "#cats")
    post(api, "#cats unlisted", "unlisted")
    private = post(api, "#cats for followers", "private")
    today = clock.now().date().isoformat()
    assert (feature(api, "cats")["statuses_count"], feature(api, "cats")["last_status_at"]) == ("2", today)
    post(api, "#cats and #dogs")
    post(api, "#cats secret", "direct")
    for deleted in (first, private):
        api.delete(f"/api/v1/statuses/{deleted}")
    assert api.get(PATH).json()[0]["statuses_count"] == "2"


def test_featured_hashtags_are_ordered_by_use(api: Api) -> None:
    for name in ("one", "two", "three"):
        feature(api, name)
    post(api, "#three")
    post(api, "#three #two")
    assert [featured["name"] for featured in api.get(PATH).json()] == ["three", "two", "one"]


@pytest.mark.parametrize(
    ("sent", "status", "error"),
    [
        ({}, 400, "param is missing or the value is empty or invalid: name"),
        ({"name": ""}, 400, "param is missing or the value is empty or invalid: name"),
        ({"name": ["x"]}, 400, "param is missing or the value is empty or invalid: name"),
        ({"name": "two words"}, 422, "Validation failed: Name is invalid"),
        ({"name": "123"}, 422, "Validation failed: Name is invalid"),
    ],
)
def test_an_invalid_hashtag_is_refused(api: Api, sent: dict[str, Any], status: int, error: str) -> None:
    answer = api.post(PATH, sent)
    assert (answer.status_code, answer.json()) == (status, {"error": error})


def test_a_profile_shows_ten_hashtags_at_most(api: Api) -> None:
    for number in range(10):
        feature(api, f"tag{number}")
    answer = api.post(PATH, {"name": "eleven"})
    error = "Validation failed: You have already featured the maximum number of hashtags"
    assert (answer.status_code, answer.json()) == (422, {"error": error})
    assert feature(api, "tag3")["name"] == "tag3"
    assert FeaturedTag.objects.count() == 10


def test_suspended_people_show_no_hashtags(ann: User, api: Api) -> None:
    feature(api, "cats")
    Account.objects.filter(id=ann.account_id).update(suspended_at=clock.now())
    assert Api().get(f"/api/v1/accounts/{ann.account_id}/featured_tags").json() == []
    assert Api().get("/api/v1/accounts/1/featured_tags").status_code == 404


def test_seed_080_suggestions_are_recently_used_hashtags_most_used_first(ann: User, api: Api) -> None:
    assert api.get(f"{PATH}/suggestions").json() == []
    for text in ("#dogs", "#cats", "#cats #birds", "#birds", "#birds"):
        post(api, text)
    feature(api, "cats")
    found = api.get(f"{PATH}/suggestions").json()
    assert [tag["name"] for tag in found] == ["birds", "dogs"]
    midnight = datetime.combine(clock.now().date(), datetime.min.time(), UTC)
    assert found[0] | {"id": ""} == {
        "id": "",
        "name": "birds",
        "url": "http://social.localhost/tags/birds",
        "history": [
            {
                "day": str(int((midnight - timedelta(days=number)).timestamp())),
                "accounts": "0" if number else "1",
                "uses": "0" if number else "3",
            }
            for number in range(7)
        ],
        "following": False,
        "featuring": False,
    }


def test_history_counts_people_and_public_posts_by_day(api: Api) -> None:
    now = clock.now()
    with time_machine.travel(now - timedelta(days=2), tick=True):
        post(api, "#cats")
    post(api, "#cats")
    post(api, "#cats")
    post(api, "#cats", "unlisted")
    post(Api(make_token(make_user())), "#Cats")
    make_remote_status(make_remote(), "#cats", tags=[("cats", "cats")])
    history = api.get(f"{PATH}/suggestions").json()[0]["history"]
    assert [(day["accounts"], day["uses"]) for day in history[:4]] == [("3", "4"), ("0", "0"), ("1", "1"), ("0", "0")]
    with time_machine.travel(now + timedelta(days=6), tick=True):
        assert forget_old_uses() == 1
    assert TagUse.objects.count() == 3


def test_featured_tags_require_a_users_token_with_a_matching_scope(ann: User, api: Api) -> None:
    assert Api().get(PATH).status_code == 401
    assert Api(make_token(None)).get(PATH).status_code == 422
    assert Api(make_token(ann, "write")).get(PATH).status_code == 403
    assert Api(make_token(ann, "read")).post(PATH, {"name": "x"}).status_code == 403


def test_lists_cost_the_same_for_few_and_for_many(ann: User, api: Api) -> None:
    def queries(path: str) -> int:
        api.get(path)
        with CaptureQueriesContext(connection) as seen:
            api.get(path)
        return len(seen)

    post(api, "#a1 #b1")
    feature(api, "c1")
    few = [queries(path) for path in (PATH, f"{PATH}/suggestions")]
    for number in range(2, 9):
        post(api, f"#a{number} #b{number}")
        feature(api, f"c{number}")
    assert [queries(path) for path in (PATH, f"{PATH}/suggestions")] == few
