"""What every endpoint promises, for the endpoints of this floor."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import Account
from tests.factories.accounts import make_account
from tests.factories.statuses import make_favourite, make_media, make_reblog, make_status
from tests.support.battery import Row, Scene, battery
from tests.support.callers import Callers
from tests.support.doors import NOBODYS_ID

pytestmark = pytest.mark.usefixtures("media_root")


def _foreign(door: Callers) -> dict[str, Any]:
    return {"id": make_status(door.stranger, "secret", visibility="private").id}


def nothing(door: Callers, size: int) -> Scene:
    return Scene(params={"status": "hello"})


def many_by_id(door: Callers, size: int) -> Scene:
    ids = [make_status(make_account(), f"#tag{number}").id for number in range(size)]
    return Scene(params={"id[]": [str(number) for number in ids]})


def one_post(door: Callers, size: int) -> Scene:
    return Scene(ids={"id": make_status(door.stranger).id}, foreign=_foreign(door))


def own_post(door: Callers, size: int) -> Scene:
    return Scene(ids={"id": make_status(door.account).id}, foreign={"id": make_status(door.stranger).id})


def favourited_post(door: Callers, size: int) -> Scene:
    status = make_status(door.stranger)
    make_favourite(door.account, status)
    return Scene(ids={"id": status.id}, foreign=_foreign(door))


def reblogged_post(door: Callers, size: int) -> Scene:
    status = make_status(door.stranger)
    make_reblog(door.account, status)
    return Scene(ids={"id": status.id}, foreign=_foreign(door))


def thread(door: Callers, size: int) -> Scene:
    root = make_status(door.stranger)
    for _number in range(size):
        make_status(make_account(), reply_to=root)
    return Scene(ids={"id": root.id}, foreign=_foreign(door))


def liked_by_many(door: Callers, size: int) -> Scene:
    status = make_status(door.account)
    for _number in range(size):
        make_favourite(make_account(), status)
    return Scene(ids={"id": status.id}, foreign=_foreign(door))


def boosted_by_many(door: Callers, size: int) -> Scene:
    status = make_status(door.account)
    for _number in range(size):
        make_reblog(make_account(), status)
    return Scene(ids={"id": status.id}, foreign=_foreign(door))


def posts_of_one(door: Callers, size: int) -> Scene:
    author = make_account()
    for number in range(size):
        make_status(author, f"@{door.account.username} #tag{number}")
        if number % 5 == 0:
            make_reblog(author, make_status(make_account()))
    return Scene(ids={"id": author.id})


def own_file(door: Callers, size: int) -> Scene:
    return Scene(
        ids={"id": make_media(door.account).id},
        params={"description": "a cat"},
        foreign={"id": make_media(door.stranger).id},
    )


def new_file(door: Callers, size: int) -> Scene:
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
