"""Tests of how staff see accounts and reported posts, and search for accounts (contract, endpoints.tsv "admin/accounts")."""

import pytest

from accounts.models import (
    User,
)
from moderation.models import Report
from social.kernel import clock
from tests.factories.accounts import make_account, make_remote, make_token, make_user
from tests.factories.statuses import make_status
from tests.support.client import Api
from tests.support.work import work

pytestmark = pytest.mark.django_db
WRITE = "admin:read admin:write"


@pytest.fixture
def boss() -> Api:
    return Api(make_token(make_user("boss", role="Owner"), WRITE))


def test_reported_posts_are_shown_to_staff_newest_first_also_when_their_author_has_deleted_them(boss: Api) -> None:
    ann = make_user("ann")
    posts = [make_status(ann.account, word) for word in ("one", "two", "three")]
    Report.objects.create(account=make_account(), target_account=ann.account, status_ids=[post.id for post in posts])
    Api(make_token(ann)).delete(f"/api/v1/statuses/{posts[1].id}")
    work()
    (report,) = boss.get("/api/v1/admin/reports").json()
    assert [post["content"] for post in report["statuses"]] == ["<p>three</p>", "<p>two</p>", "<p>one</p>"]
    assert Api().get(f"/api/v1/statuses/{posts[1].id}").status_code == 404


def test_seed_038_staff_see_accounts_and_reports(boss: Api) -> None:
    ann, zoe = make_user("ann", display_name="gnu the first"), make_remote("zoe")
    Report.objects.create(account=ann.account, target_account=zoe, comment="Enough")
    listed = {one["username"] for one in boss.get("/api/v1/admin/accounts").json()}
    assert {"ann", "boss"} <= listed
    assert "zoe" not in listed
    (report,) = boss.get("/api/v1/admin/reports").json()
    assert (report["comment"], report["target_account"]["email"], report["account"]["email"]) == (
        "Enough",
        None,
        "ann@example.com",
    )


@pytest.mark.parametrize(
    ("path", "wanted", "found"),
    [
        ("v1", {"display_name": "gnu"}, {"ann"}),
        ("v1", {"username": "AN"}, {"ann"}),
        ("v1", {"username": "nn"}, set()),
        ("v1", {"email": "ann@example.com"}, {"ann"}),
        ("v1", {"ip": "203.0.113.0/24"}, {"ann"}),
        ("v1", {"ip": "203.0.113.8"}, set()),
        ("v1", {"ip": "nonsense"}, set()),
        ("v1", {"remote": "true"}, {"zoe"}),
        ("v1", {"remote": "true", "by_domain": "REMOTE.example"}, {"zoe"}),
        ("v1", {"staff": "true"}, {"boss"}),
        ("v1", {"silenced": "true"}, {"bea"}),
        ("v1", {"disabled": "true"}, set()),
        ("v1", {"active": "true", "suspended": "true"}, set()),
        ("v2", {}, {"ann", "bea", "boss", "zoe"}),
        ("v2", {"origin": "remote"}, {"zoe"}),
        ("v2", {"status": "silenced"}, {"bea"}),
        ("v2", {"permissions": "staff"}, {"boss"}),
        ("v2", {"role_ids[]": "-99", "origin": "local"}, {"ann", "bea"}),
        ("v2", {"invited_by": "1"}, set()),
    ],
)
def test_accounts_are_found_by_every_filter(boss: Api, path: str, wanted: dict[str, str], found: set[str]) -> None:
    ann = make_user("ann", display_name="gnu the first")
    User.objects.filter(pk=ann.pk).update(sign_up_ip="203.0.113.7")
    make_account("bea", limited_at=clock.now())
    make_remote("zoe")
    answer = boss.get(f"/api/{path}/admin/accounts", wanted)
    assert {one["username"] for one in answer.json()} == found


@pytest.mark.parametrize("word", ["origin", "status"])
def test_an_unknown_state_is_a_bad_request(boss: Api, word: str) -> None:
    answer = boss.get("/api/v2/admin/accounts", {word: "nonsense"})
    assert (answer.status_code, answer.json()["error"]) == (400, f"Unknown {word}: nonsense")
