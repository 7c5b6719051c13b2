"""Tests of ids, pagination and paths of all endpoints (seed coverage: SEED-001, 041-046, 122-125, 146, 158, 161)."""

from itertools import pairwise

import pytest

from social.kernel import clock
from tests.conformance.people import Person, here, links, walk
from tests.conformance.world import everything
from tests.factories.accounts import make_application, make_token
from tests.factories.statuses import make_media
from tests.support.client import Api
from tests.support.entities import check_ids

pytestmark = pytest.mark.django_db


def test_seed_041_042_043_and_161_every_id_anywhere_is_a_string_and_never_also_a_number(
    alice: Person, bob: Person
) -> None:
    for path, body in everything(alice, bob):
        assert body, f"{path} has an empty body"
        assert not (isinstance(body, dict) and "error" in body), (path, body)
        check_ids(body, path)


def test_seed_001_every_answer_of_the_api_is_json(alice: Person) -> None:
    for path in ("v2/instance", "v1/timelines/public", "v1/accounts/1", "v1/nothing", "v1/accounts/verify_credentials"):
        assert Api().get(f"/api/{path}")["Content-Type"].startswith("application/json"), path
    assert alice.api.post("/api/v1/statuses", {"status": "hello"})["Content-Type"].startswith("application/json")


def test_seed_044_status_ids_are_time_ordered(alice: Person) -> None:
    before = 0
    for _number in range(3):
        body = alice.api.post("/api/v1/statuses", {"status": "hello"}).json()
        made = clock.now().timestamp() * 1000
        assert abs((int(body["id"]) >> 16) - made) < 2000
        assert int(body["id"]) > before
        before = int(body["id"])


def test_seed_045_and_046_a_hundred_quick_posts_have_distinct_ids_that_reveal_no_counts(alice: Person) -> None:
    ids = [int(alice.api.post("/api/v1/statuses", {"status": str(number)}).json()["id"]) for number in range(100)]
    assert len(set(ids)) == 100
    assert ids == sorted(ids)
    tails = [number & 0xFFFF for number in ids]
    assert tails != list(range(1, 101))
    assert max(tails) > 1000, "the low bits begin at zero"
    steps = {after - before for before, after in pairwise(tails)}
    assert len(steps) > 10, "the low bits reveal how many posts lie between two of them"


def test_seed_041_ids_of_accounts_and_files_are_of_the_same_kind(alice: Person, bob: Person) -> None:
    for number in (alice.id, bob.id, str(make_media(alice.account).id)):
        assert abs((int(number) >> 16) - clock.now().timestamp() * 1000) < 60_000


LISTS = ["timelines/public", "timelines/home", "timelines/tag/x", "accounts/{alice}/statuses"]


@pytest.mark.parametrize("path", LISTS)
def test_seed_122_and_123_max_id_since_id_and_min_id_mean_the_same_everywhere(alice: Person, path: str) -> None:
    one, two, three, four, five = (alice.post(f"{number} #x")["id"] for number in range(5))
    where = path.format(alice=alice.id)
    assert alice.ids(where) == [five, four, three, two, one]
    assert alice.ids(where, max_id=three) == [two, one]
    assert alice.ids(where, since_id=one, limit=2) == [five, four]
    assert alice.ids(where, min_id=one, limit=2) == [three, two]
    assert alice.ids(where, min_id=one, max_id=three) == [two]
    assert alice.ids(where, since_id=five) == []


@pytest.mark.parametrize("path", LISTS)
def test_seed_124_pages_have_both_links_and_next_shows_each_item_once(alice: Person, path: str) -> None:
    made = [alice.post(f"{number} #x")["id"] for number in range(5)]
    where = "/api/v1/" + path.format(alice=alice.id)
    first = alice.api.get(f"{where}?limit=2")
    assert list(links(first)) == ["next", "prev"]
    assert [item["id"] for item in walk(alice.api, f"{where}?limit=2")] == made[::-1]
    assert alice.api.get(here(links(first)["prev"])).json() == []


def test_seed_124_notifications_are_walked_both_ways(alice: Person, bob: Person) -> None:
    for number in range(5):
        bob.post(f"{number} @alice")
    newest = [item["id"] for item in walk(alice.api, "/api/v1/notifications?limit=2")]
    assert len(set(newest)) == 5
    oldest = alice.api.get(f"/api/v1/notifications?limit=2&max_id={newest[3]}")
    assert [item["id"] for item in oldest.json()] == newest[4:]
    back = walk(alice.api, here(links(oldest)["prev"]), rel="prev")
    assert sorted(item["id"] for item in back) == sorted(newest[:4])


@pytest.mark.parametrize(
    "path",
    [
        "custom_emojis",
        "instance/rules",
        "timelines/home",
        "timelines/public",
        "timelines/tag/nothing",
        "notifications",
        "accounts/search?q=nobody",
        "accounts/relationships",
        "accounts/{alice}/statuses",
    ],
)
def test_seed_125_an_empty_page_has_no_link_header(alice: Person, path: str) -> None:
    answer = alice.api.get("/api/v1/" + path.format(alice=alice.id))
    assert (answer.status_code, answer.json()) == (200, [])
    assert not answer.has_header("Link")


def test_seed_125_lists_without_pages_have_no_link_header_either(alice: Person, bob: Person) -> None:
    for path in (f"accounts?id[]={bob.id}", f"accounts/relationships?id[]={bob.id}", "accounts/search?q=bob"):
        answer = alice.api.get(f"/api/v1/{path}")
        assert len(answer.json()) == 1
        assert not answer.has_header("Link"), path


@pytest.mark.parametrize(
    "path", ["statuses/1", "accounts/1", "accounts/1/statuses", "statuses/1/context", "notifications/1", "media/1"]
)
def test_seed_146_an_unknown_id_is_404_with_an_error(alice: Person, path: str) -> None:
    answer = alice.api.get(f"/api/v1/{path}")
    assert answer.status_code == 404
    assert set(answer.json()) == {"error"}


def test_seed_136_a_granular_scope_opens_its_endpoints_and_no_others(alice: Person, bob: Person) -> None:
    post = alice.post()
    narrow = Api(make_token(bob.user, "write:favourites"))
    assert narrow.post(f"/api/v1/statuses/{post['id']}/favourite").status_code == 200
    for path in (f"statuses/{post['id']}/reblog", f"accounts/{alice.id}/follow", "statuses"):
        refused = narrow.post(f"/api/v1/{path}")
        assert (refused.status_code, refused.json()) == (
            403,
            {"error": "This action is outside the authorized scopes"},
        ), path
    reader = Api(make_token(bob.user, "read:notifications"))
    assert reader.get("/api/v1/notifications").status_code == 200
    assert reader.get("/api/v1/timelines/home").status_code == 403
    bookmarks = Api(make_token(bob.user, "read:bookmarks write:bookmarks"))
    assert bookmarks.post(f"/api/v1/statuses/{post['id']}/bookmark").status_code == 200
    assert [found["id"] for found in bookmarks.get("/api/v1/bookmarks").json()] == [post["id"]]
    assert bookmarks.get("/api/v1/favourites").status_code == 403


def test_seed_135_and_138_a_wrong_token_is_401_everywhere_and_no_token_where_one_is_needed() -> None:
    for path in ("accounts/verify_credentials", "verify_credentials", "apps/verify_credentials", "timelines/home"):
        for api in (Api(), Api("wrong")):
            answer = api.get(f"/api/v1/{path}")
            assert answer.status_code == 401, path
            assert answer["WWW-Authenticate"].startswith("Bearer"), path
            assert answer.json()["error"] == "The access token is invalid", path


def test_seed_092_an_application_can_read_its_registration() -> None:
    application = make_application(name="Cat pictures", website="https://cats.example/")
    answer = Api(make_token(None, "read", application)).get("/api/v1/apps/verify_credentials")
    assert answer.status_code == 200
    body = answer.json()
    assert (body["id"], body["name"], body["website"]) == (str(application.id), "Cat pictures", "https://cats.example/")
    assert "client_secret" not in body
