"""What every endpoint promises, for the endpoints of this floor."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import Account
from statuses.urls import urlpatterns
from tests.factories.accounts import make_account
from tests.factories.statuses import make_favourite, make_media, make_reblog, make_status
from tests.statuses.conftest import Tokens
from tests.support.battery import Row, Scene, battery
from tests.support.doors import NOBODYS_ID

pytestmark = pytest.mark.usefixtures("media_root")


def _foreign(door: Tokens) -> dict[str, Any]:
    return {"id": make_status(door.stranger, "secret", visibility="private").id}


def nothing(door: Tokens, size: int) -> Scene:
    return Scene(params={"status": "hello"})


def many_by_id(door: Tokens, size: int) -> Scene:
    ids = [make_status(make_account(), f"#tag{number}").id for number in range(size)]
    return Scene(params={"id[]": [str(number) for number in ids]})


def one_post(door: Tokens, size: int) -> Scene:
    return Scene(ids={"id": make_status(door.stranger).id}, foreign=_foreign(door))


def own_post(door: Tokens, size: int) -> Scene:
    return Scene(ids={"id": make_status(door.account).id}, foreign={"id": make_status(door.stranger).id})


def favourited_post(door: Tokens, size: int) -> Scene:
    status = make_status(door.stranger)
    make_favourite(door.account, status)
    return Scene(ids={"id": status.id}, foreign=_foreign(door))


def reblogged_post(door: Tokens, size: int) -> Scene:
    status = make_status(door.stranger)
    make_reblog(door.account, status)
    return Scene(ids={"id": status.id}, foreign=_foreign(door))


def thread(door: Tokens, size: int) -> Scene:
    root = make_status(door.stranger)
    for _number in range(size):
        make_status(make_account(), reply_to=root)
    return Scene(ids={"id": root.id}, foreign=_foreign(door))


def liked_by_many(door: Tokens, size: int) -> Scene:
    status = make_status(door.account)
    for _number in range(size):
        make_favourite(make_account(), status)
    return Scene(ids={"id": status.id}, foreign=_foreign(door))


def boosted_by_many(door: Tokens, size: int) -> Scene:
    status = make_status(door.account)
    for _number in range(size):
        make_reblog(make_account(), status)
    return Scene(ids={"id": status.id}, foreign=_foreign(door))


def posts_of_one(door: Tokens, size: int) -> Scene:
    author = make_account()
    for number in range(size):
        make_status(author, f"@{door.account.username} #tag{number}")
        if number % 5 == 0:
            make_reblog(author, make_status(make_account()))
    return Scene(ids={"id": author.id})


def own_file(door: Tokens, size: int) -> Scene:
    return Scene(
        ids={"id": make_media(door.account).id},
        params={"description": "a cat"},
        foreign={"id": make_media(door.stranger).id},
    )


def new_file(door: Tokens, size: int) -> Scene:
    import base64

    from tests.factories.statuses import picture

    return Scene(params={"file": f"data:image/png;base64,{base64.b64encode(picture()).decode()}"})


STATUS = "api/v1/statuses/<id>"
ROWS = [
    Row("POST api/v1/statuses", nothing, entity="StatusOfUser"),
    Row("GET api/v1/statuses", many_by_id, entity="StatusOfUser", many=True),
    Row(f"GET {STATUS}", one_post, entity="StatusOfUser"),
    Row(f"DELETE {STATUS}", own_post, entity="DeletedStatus"),
    Row(f"GET {STATUS}/context", thread, entity="Context", flat=True),
    Row(f"GET {STATUS}/favourited_by", liked_by_many, entity="Account", many=True, pages="since_id"),
    Row(f"GET {STATUS}/reblogged_by", boosted_by_many, entity="Account", many=True, pages="since_id"),
    Row(f"POST {STATUS}/favourite", one_post, entity="StatusOfUser"),
    Row(f"POST {STATUS}/unfavourite", favourited_post, entity="StatusOfUser"),
    Row(f"POST {STATUS}/reblog", one_post, entity="StatusOfUser"),
    Row(f"POST {STATUS}/unreblog", reblogged_post, entity="StatusOfUser"),
    Row("GET api/v1/accounts/<id>/statuses", posts_of_one, entity="StatusOfUser", many=True, pages="min_id"),
    Row("POST api/v1/media", new_file, entity="MediaAttachment"),
    Row("POST api/v2/media", new_file, entity="MediaAttachment"),
    Row("GET api/v1/media/<id>", own_file, entity="MediaAttachment"),
    Row("PUT api/v1/media/<id>", own_file, entity="MediaAttachment"),
    Row("PATCH api/v1/media/<id>", own_file, entity="MediaAttachment"),
    Row("DELETE api/v1/media/<id>", own_file),
]
test_promises = battery(ROWS)


def test_every_endpoint_of_the_floor_has_its_row() -> None:
    declared = {f"{method.upper()} {pattern.path}" for pattern in urlpatterns for method in pattern.actions}
    assert declared == {row.endpoint for row in ROWS}


def test_nobodys_id_is_nobodys(db: None) -> None:
    assert not Account.objects.filter(id=NOBODYS_ID).exists()
