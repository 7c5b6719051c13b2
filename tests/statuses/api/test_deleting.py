"""Tests of deleting posts over HTTP."""

import pytest

from accounts.models import Account
from statuses.models import Status
from tests.factories.statuses import (
    block,
    make_media,
    make_reblog,
    make_status,
)
from tests.statuses.conftest import api_of, post_as
from tests.support.entities import check

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("media_root")]

STATUSES = "/api/v1/statuses"


def test_trap_36_deleting_returns_the_source_and_reusable_files(alice: Account) -> None:
    media = make_media(alice)
    posted = post_as(alice, status="*hello* #x", media_ids=[str(media.id)])
    api = api_of(alice)
    body = api.delete(f"{STATUSES}/{posted['id']}").json()
    check("DeletedStatus", body)
    assert (body["text"], "content" in body) == ("*hello* #x", False)
    assert api.delete(f"{STATUSES}/{posted['id']}").status_code == 404
    assert api.get(f"{STATUSES}/{posted['id']}").status_code == 404
    again = post_as(alice, media_ids=[item["id"] for item in body["media_attachments"]])
    assert again["media_attachments"][0]["id"] == str(media.id)


def test_deleting_with_its_files_removes_them(alice: Account) -> None:
    media = make_media(alice)
    posted = post_as(alice, media_ids=[str(media.id)])
    api_of(alice).delete(f"{STATUSES}/{posted['id']}?delete_media=true")
    assert api_of(alice).post(STATUSES, {"media_ids": [str(media.id)]}).status_code == 422


def test_a_boost_can_be_deleted_by_its_own_id_even_if_the_post_is_unreadable(alice: Account, bob: Account) -> None:
    reblog = make_reblog(bob, make_status(alice))
    block(alice, bob)
    assert api_of(bob).delete(f"{STATUSES}/{reblog.id}").status_code == 200
    assert Status.objects.get(id=reblog.id).is_deleted


def test_only_the_author_can_delete_a_post(alice: Account, bob: Account) -> None:
    status = make_status(alice)
    assert api_of(bob).delete(f"{STATUSES}/{status.id}").status_code == 404
    assert not Status.objects.get(id=status.id).is_deleted
