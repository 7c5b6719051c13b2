"""Tests of paths that must return a JSON 404, with and without a token (SEED-006, 007, SEED-082, SEED-107 to 109, 159)."""

import pytest

from tests.factories.accounts import make_token, make_user
from tests.support.client import Api

pytestmark = pytest.mark.django_db
GONE = [
    ("GET", "/api/v1/search?q=a"),
    ("GET", "/api/v1/statuses/1/card"),
    ("GET", "/api/v1/timelines/direct"),
    ("GET", "/api/v2/mutes"),
    ("DELETE", "/api/v1/notifications/destroy_multiple"),
    ("POST", "/api/salmon/1"),
    ("POST", "/api/push"),
    ("GET", "/api/subscriptions/1"),
    ("POST", "/api/subscriptions/1"),
    ("GET", "/api/proofs"),
    ("GET", "/api/v2_alpha/notifications"),
    ("GET", "/api/v1/no/such/thing"),
    ("POST", "/api"),
    ("DELETE", "/api/v2/instance"),
]


@pytest.mark.parametrize(("method", "path"), GONE)
def test_removed_endpoints_answer_404_as_json(method: str, path: str) -> None:
    for token in (None, "wrong", make_token(make_user())):
        answer = Api(token).request(method, path)
        assert answer.status_code == 404
        assert answer["Content-Type"] == "application/json; charset=utf-8"
        assert set(answer.json()) == {"error"}


def test_the_atom_feed_of_an_account_does_not_exist() -> None:
    make_user("alice")
    assert Api().get("/users/alice.atom").status_code in (404, 406)


def test_a_trailing_slash_changes_nothing_and_causes_no_redirect() -> None:
    assert Api().get("/api/v2/instance/").status_code == 200
    assert Api().post("/api/v1/statuses/").status_code == 401
