"""Rows for `tests.support.battery`: the API for blocklists."""

from collections.abc import Callable
from typing import Any, ClassVar

import pytest

from accounts.models import Role, User
from tests.moderation.blocklists import listed, make_draft, make_exception, make_list
from tests.support.battery import Row, Scene, battery
from tests.support.callers import Callers
from tests.support.site import Site

Maker = Callable[[int], Any]


class _Lists:
    """A holder for the site that serves the list, so that scenes can use the site."""

    site: ClassVar[Site]


@pytest.fixture(autouse=True)
def _list_of_others(site: Site) -> None:
    _Lists.site = site


def rows(make: Maker | None = None, **params: Any) -> Callable[[Callers, int], Scene]:
    def setting(callers: Callers, size: int) -> Scene:
        User.objects.filter(pk=callers.user.pk).update(role=Role.objects.get(name="Owner"))
        made = [make(number) for number in range(size)] if make is not None else []
        return Scene(ids={"id": made[-1].pk} if made else {}, params=params)

    return setting


def fetched(callers: Callers, size: int) -> Scene:
    url = _Lists.site.show("/list", listed(*(f"s{number}.example" for number in range(size))))
    return rows(lambda number: make_list(number, url=f"{url}?{number}" if number else url))(callers, 1)


_LISTS = "api/v1/admin/domain_permission_subscriptions"
_DRAFTS = "api/v1/admin/domain_permission_drafts"
_EXCLUSIONS = "api/v1/admin/domain_permission_excludes"
_NEW_LIST = {"uri": "https://new.example/list", "permission_type": "block", "content_type": "text/csv"}

ROWS = [
    Row(f"GET {_LISTS}", rows(make_list)),
    Row(f"GET {_LISTS}/preview", rows(make_list, permission_type="block")),
    Row(f"POST {_LISTS}", rows(**_NEW_LIST)),
    Row(f"GET {_LISTS}/<id>", rows(make_list)),
    Row(f"PUT {_LISTS}/<id>", rows(make_list, title="Theirs")),
    Row(f"PATCH {_LISTS}/<id>", rows(make_list, title="Theirs")),
    Row(f"POST {_LISTS}/<id>/remove", rows(make_list)),
    Row(f"POST {_LISTS}/<id>/test", fetched, flat=False),
    Row(f"GET {_DRAFTS}", rows(make_draft)),
    Row(f"POST {_DRAFTS}", rows(domain="new.example", permission_type="block")),
    Row(f"GET {_DRAFTS}/<id>", rows(make_draft)),
    Row(f"POST {_DRAFTS}/<id>/accept", rows(make_draft)),
    Row(f"POST {_DRAFTS}/<id>/remove", rows(make_draft)),
    Row(f"GET {_EXCLUSIONS}", rows(make_exception)),
    Row(f"POST {_EXCLUSIONS}", rows(domain="new.example")),
    Row(f"GET {_EXCLUSIONS}/<id>", rows(make_exception)),
    Row(f"DELETE {_EXCLUSIONS}/<id>", rows(make_exception)),
]
test_promises = battery(ROWS)
