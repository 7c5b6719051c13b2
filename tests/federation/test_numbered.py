"""Tests of actor documents at addresses that contain the account's id (contract, federation sections 1 and 2)."""

from typing import Any

import pytest

from tests.factories.accounts import make_account, make_remote
from tests.factories.statuses import make_status
from tests.support.client import Api

pytestmark = pytest.mark.django_db


def get(path: str, accept: str = "application/activity+json") -> Any:
    return Api().get(path, headers={"Accept": accept})


def test_paths_with_the_id_of_an_account_serve_the_same_documents_as_with_its_name() -> None:
    anna = make_account("anna", discoverable=True)
    post = make_status(anna, "Hello")
    paths = ("", "/outbox", "/outbox?page=true", "/followers", "/collections/featured", "/featured_collections")
    for end in (*paths, f"/statuses/{post.id}", f"/statuses/{post.id}/activity", f"/statuses/{post.id}/replies"):
        named, numbered = get(f"/users/anna{end}"), get(f"/ap/users/{anna.id}{end}")
        assert (numbered.status_code, numbered.json()) == (200, named.json()), end
    for end, page in (("", "/@anna"), (f"/statuses/{post.id}", f"/@anna/{post.id}")):
        answer = get(f"/ap/users/{anna.id}{end}", "text/html")
        assert (answer.status_code, answer["Location"]) == (302, f"http://social.localhost{page}")
    unknown, elsewhere = anna.id + 1, make_remote("zoe").id
    assert [get(f"/ap/users/{number}").status_code for number in (unknown, elsewhere, "9" * 19)] == [404, 404, 404]
    assert Api().post(f"/ap/users/{anna.id}/inbox", {"type": "Like"}).status_code == 401
