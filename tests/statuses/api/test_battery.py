"""What every endpoint promises, for the endpoints of this app."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import Account
from tests.factories.accounts import make_account
from tests.factories.statuses import make_favourite, make_media, make_reblog, make_status
from tests.support.access_checks import NOBODYS_ID
from tests.support.battery import Row, Scene, battery
from tests.support.callers import Callers

pytestmark = pytest.mark.usefixtures("media_root")


def _foreign(callers: Callers) -> dict[str, Any]:
    return {"id": make_status(callers.stranger, "secret", visibility="private").id}


def nothing(callers: Callers, size: int) -> Scene:
    return Scene(params={"status": "hello"})


def many_by_id(callers: Callers, size: int) -> Scene:
    ids = [make_status(make_account(), f"#tag{number}").id for number in range(size)]
    return Scene(params={"id[]": [str(number) for number in ids]})


def one_post(callers: Callers, size: int) -> Scene:
    return Scene(ids={"id": make_status(callers.stranger).id}, foreign=_foreign(callers))


def own_post(callers: Callers, size: int) -> Scene:
    return Scene(ids={"id": make_status(callers.account).id}, foreign={"id": make_status(callers.stranger).id})


def favourited_post(callers: Callers, size: int) -> Scene:
    status = make_status(callers.stranger)
    make_favourite(callers.account, status)
    return Scene(ids={"id": status.id}, foreign=_foreign(callers))


def reblogged_post(callers: Callers, size: int) -> Scene:
    status = make_status(callers.stranger)
    make_reblog(callers.account, status)
    return Scene(ids={"id": status.id}, foreign=_foreign(callers))


def thread(callers: Callers, size: int) -> Scene:
    root = make_status(callers.stranger)
    for _number in range(size):
        make_status(make_account(), reply_to=root)
    return Scene(ids={"id": root.id}, foreign=_foreign(callers))


def liked_by_many(callers: Callers, size: int) -> Scene:
    status = make_status(callers.account)
    for _number in range(size):
        make_favourite(make_account(), status)
    return Scene(ids={"id": status.id}, foreign=_foreign(callers))


def boosted_by_many(callers: Callers, size: int) -> Scene:
    status = make_status(callers.account)
    for _number in range(size):
        make_reblog(make_account(), status)
    return Scene(ids={"id": status.id}, foreign=_foreign(callers))


def posts_of_one(callers: Callers, size: int) -> Scene:
    author = make_account()
    for number in range(size):
        make_status(author, f"@{callers.account.username} #tag{number}")
        if number % 5 == 0:
            make_reblog(author, make_status(make_account()))
    return Scene(ids={"id": author.id})


def own_file(callers: Callers, size: int) -> Scene:
    return Scene(
        ids={"id": make_media(callers.account).id},
        params={"description": "a cat"},
        foreign={"id": make_media(callers.stranger).id},
    )


def new_file(callers: Callers, size: int) -> Scene:
    import base64

    from tests.factories.statuses import picture

    return Scene(params={"file": f"data:image/png;base64,{base64.b64encode(picture()).decode()}"})


STATUS = "api/v1/statuses/<id>"
ROWS = [
    Row("POST api/v1/statuses", nothing),
    Row("GET api/v1/statuses", many_by_id),
    Row(f"GET {STATUS}", one_post),
    Row(f"DELETE {STATUS}", own_post),
    Row(f"GET {STATUS}/context", thread, flat=True),
    Row(f"GET {STATUS}/favourited_by", liked_by_many),
    Row(f"GET {STATUS}/reblogged_by", boosted_by_many),
    Row(f"POST {STATUS}/favourite", one_post),
    Row(f"POST {STATUS}/unfavourite", favourited_post),
    Row(f"POST {STATUS}/reblog", one_post),
    Row(f"POST {STATUS}/unreblog", reblogged_post),
    Row("GET api/v1/accounts/<id>/statuses", posts_of_one),
    Row("POST api/v1/media", new_file),
    Row("POST api/v2/media", new_file),
    Row("GET api/v1/media/<id>", own_file),
    Row("PUT api/v1/media/<id>", own_file),
    Row("PATCH api/v1/media/<id>", own_file),
    Row("DELETE api/v1/media/<id>", own_file),
]
test_promises = battery(ROWS)


def test_nobodys_id_is_nobodys(db: None) -> None:
    assert not Account.objects.filter(id=NOBODYS_ID).exists()
