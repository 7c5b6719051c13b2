"""Who follows a link to a person or a post sees a page; machines are told where the document is."""

from __future__ import annotations

from typing import Any

import pytest

from accounts.models import Account
from social.kernel import clock
from tests.factories.statuses import make_status
from tests.support.client import Api

pytestmark = pytest.mark.django_db
HTML = {"Accept": "text/html"}


def get(path: str, **headers: str) -> Any:
    return Api().get(path, headers=headers or HTML)


def test_a_profile_shows_what_is_public(alice: Account) -> None:
    Account.objects.filter(id=alice.id).update(display_name="<Alice>", note_html="<p>I <b>am</b></p>")
    make_status(alice, "a public word")
    make_status(alice, "an unlisted word", visibility="unlisted")
    make_status(alice, "a private word", visibility="private")
    answer = get("/@alice")
    text = answer.content.decode()
    assert answer.status_code == 200
    assert "&lt;Alice&gt;" in text
    assert "<p>I <b>am</b></p>" in text
    assert "a public word" in text
    assert "a private word" not in text
    assert 'rel="lrdd"' in answer["Link"]
    assert f'<{alice.uri}>; rel="alternate"; type="application/activity+json"' in answer["Link"]
    assert "default-src 'none'" in answer["Content-Security-Policy"]


def test_a_post_has_a_page_and_a_private_one_has_none(alice: Account) -> None:
    status = make_status(alice, "hello <script>1</script>", spoiler_text="careful & slow")
    answer = get(f"/@alice/{status.id}")
    text = answer.content.decode()
    assert answer.status_code == 200
    assert "hello &lt;script&gt;" in text
    assert "careful &amp; slow" in text
    private = make_status(alice, "psst", visibility="private")
    for path in (f"/@alice/{private.id}", "/@alice/1", "/@nobody", f"/@nobody/{status.id}"):
        assert get(path).status_code == 404, path


def test_the_same_address_is_the_document_for_servers(alice: Account) -> None:
    status = make_status(alice, "hello")
    document = {"Accept": "application/activity+json"}
    assert get("/@alice", **document).json()["id"] == alice.uri
    assert get(f"/@alice/{status.id}", **document).json()["id"] == f"{alice.uri}/statuses/{status.id}"
    assert get("/@alice", Accept="image/png").status_code == 406


def test_a_suspended_account_has_no_page(alice: Account) -> None:
    Account.objects.filter(id=alice.id).update(suspended_at=clock.now())
    assert get("/@alice").status_code == 403
