"""What staff send that cannot be meant, and what it is answered with."""

from __future__ import annotations

import pytest

from tests.factories.accounts import make_token, make_user
from tests.support.client import Api

pytestmark = pytest.mark.django_db


@pytest.fixture
def boss() -> Api:
    return Api(make_token(make_user("boss", role="Owner"), "admin:read admin:write"))


@pytest.mark.parametrize("start", ["0001-01-01", "2026-01-01", "9999-12-31"])
@pytest.mark.parametrize("end", ["0001-01-01", "9999-12-31"])
def test_figures_can_be_asked_for_up_to_the_ends_of_the_calendar(boss: Api, start: str, end: str) -> None:
    time = {"start_at": start, "end_at": end}
    for path, keys in (("measures", ["active_users", "new_users"]), ("dimensions", ["languages"]), ("retention", [])):
        answer = boss.post(f"/api/v1/admin/{path}", {"keys": keys, **time})
        assert answer.status_code == 200, answer.content


def test_an_address_of_one_interface_is_no_network(boss: Api) -> None:
    sent = {"ip": "fe80::1%eth0", "severity": "sign_up_block"}
    answer = boss.post("/api/v1/admin/ip_blocks", sent)
    assert (answer.status_code, answer.json()) == (422, {"error": "Validation failed: Ip can't be blank"})
    assert boss.get("/api/v2/admin/accounts", {"ip": "fe80::1%eth0"}).json() == []
