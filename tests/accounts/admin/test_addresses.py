"""Tests that unusual query parameters in the admin cause no server error and show no row that the role may not see (security
row 55).
"""

from urllib.parse import quote

import pytest
from django.contrib import admin

from accounts.models import User
from social.kernel.outbox import OutboxRow
from tests.factories.accounts import make_user
from tests.factories.statuses import make_status
from tests.support.client import signed_in

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner() -> User:
    return make_user("boss", role="Owner")


@pytest.mark.parametrize(
    ("path", "lookup"),
    [
        ("accounts/user/", "password__startswith"),
        ("accounts/user/", "email__regex"),
        ("accounts/user/", "account__id"),
        ("accounts/account/", "note__contains"),
        ("accounts/account/", "key_pair__private_key__startswith"),
        ("accounts/account/", "id"),
        ("statuses/status/", "content__regex"),
        ("statuses/status/", "text__startswith"),
        ("statuses/status/", "visibility__exact__regex"),
    ],
)
def test_row_55_query_lookups_reveal_no_hidden_column(path: str, lookup: str, caplog: pytest.LogCaptureFixture) -> None:
    moderator = make_user("mod", role="Moderator")
    make_status(moderator.account, "hello")
    answer = signed_in(moderator).get(f"/admin/{path}", {lookup: "a"})
    assert answer.status_code == 400
    assert "Show it without filters" in answer.content.decode()
    assert not [entry for entry in caplog.records if entry.exc_info]


def test_row_55_lookups_beyond_the_declared_filters_are_refused() -> None:
    tried = 0
    for staff_admin in admin.site._registry.values():
        for allowed in staff_admin.list_filter:
            column = allowed[0] if isinstance(allowed, tuple) else getattr(allowed, "parameter_name", allowed)
            for more in ("__startswith", "__regex", "__id__startswith", "__password__startswith", "_hash"):
                assert not staff_admin.lookup_allowed(f"{column}{more}", "a"), (staff_admin, column)
                tried += 1
    assert tried > 50


_WRONG = ["abc", "-1", "9" * 30, "\0", "²", "1,2", "%"]


_LISTS = ("accounts/user/", "accounts/account/", "statuses/status/", "social/outboxrow/")


_PARAMETERS = ("state", "role", "home", "queue", "queue__isnull", "q", "p", "o", "e")


@pytest.mark.parametrize("value", _WRONG)
def test_row_55_invalid_query_parameters_in_the_admin_cause_no_server_error(owner: User, value: str) -> None:
    """Request each list with some parameters, and one page or action of each list; `make verify` tries all parameters."""
    client = signed_in(owner)
    for place, path in enumerate(_LISTS):
        for name in _PARAMETERS[(place + _WRONG.index(value)) % len(_LISTS) :: len(_LISTS)]:
            answer = client.get(f"/admin/{path}", {name: value}, follow=True)
            assert answer.status_code in (200, 400), (path, name)
        turn = (place + _WRONG.index(value)) % 3
        if turn < 2:
            page = ("change", "history")[turn]
            answer = client.get(f"/admin/{path}{quote(value, safe='')}/{page}/", follow=True)
            assert answer.status_code in (200, 404), (path, page)
        else:
            action = ("disable", "remove", "discard", value)[place]
            answer = client.post(f"/admin/{path}", {"action": action, "_selected_action": [value]}, follow=True)
            assert answer.status_code in (200, 400), (path, action)


@pytest.mark.verify
@pytest.mark.parametrize("value", _WRONG)
def test_row_55_no_invalid_value_of_any_query_parameter_causes_a_server_error(owner: User, value: str) -> None:
    client = signed_in(owner)
    for path in _LISTS:
        for name in _PARAMETERS:
            answer = client.get(f"/admin/{path}", {name: value}, follow=True)
            assert answer.status_code in (200, 400), (path, name)
        assert client.get(f"/admin/{path}{quote(value, safe='')}/change/", follow=True).status_code in (200, 404)
        assert client.get(f"/admin/{path}{quote(value, safe='')}/history/", follow=True).status_code in (200, 404)
        for action in ("disable", "remove", "discard", value):
            answer = client.post(f"/admin/{path}", {"action": action, "_selected_action": [value]}, follow=True)
            assert answer.status_code in (200, 400), (path, action)


def test_row_55_the_filters_of_a_list_still_work(owner: User) -> None:
    for queue in ("default", "mailers"):
        OutboxRow.objects.create(queue=queue, key="k", subscriber="s", event="e", payload={})
    client = signed_in(owner)
    for name in ("queue", "queue__exact"):
        (row,) = client.get("/admin/social/outboxrow/", {name: "mailers"}).context["cl"].result_list
        assert row.queue == "mailers"


def test_a_nul_in_the_path_of_an_admin_page_causes_no_server_error(owner: User) -> None:
    client = signed_in(owner)
    for model in admin.site._registry:
        path = f"/admin/{model._meta.app_label}/{model._meta.model_name}"
        for part in ("", "change/", "history/"):
            assert client.get(f"{path}/%00/{part}").status_code in (302, 403, 404), (path, part)
