"""The page of a hashtag: what anybody may read, and nothing else."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.services.site_settings import write_setting
from tests.factories.accounts import make_account, make_remote
from tests.factories.statuses import make_media, make_remote_status, make_status
from timelines.queries import access

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _fresh_access() -> Iterator[None]:
    access.forget_access()
    yield
    access.forget_access()


def page(name: str) -> str:
    answer = Client().get(f"/tags/{name}")
    assert answer.status_code == 200
    return answer.content.decode()


def test_it_shows_public_posts_with_the_hashtag_newest_first() -> None:
    anna = make_account("anna")
    make_status(anna, "first #Garden")
    make_status(anna, "second #garden")
    make_status(anna, "quiet #garden", visibility="unlisted")
    make_status(anna, "secret #garden", visibility="private")
    make_status(anna, "other #house")
    shown = page("garden")
    assert shown.index("second") < shown.index("first")
    for words in ("quiet", "secret", "other"):
        assert words not in shown
    assert "second" in page("GARDEN/")


def test_posts_of_other_servers_lead_to_where_they_are() -> None:
    url = "https://remote.example/@zoe/1"
    make_remote_status(make_remote("zoe"), "<p>far away</p>", url=url, tags=[("garden", "garden")])
    shown = page("garden")
    assert "far away" in shown
    assert f'href="{url}"' in shown


def test_a_hashtag_that_nobody_has_used_has_an_empty_page_and_what_is_none_has_no_page() -> None:
    assert "No public post" in page("nobody")
    for name in ("1234", "a b", "a.b", "%23a"):
        assert Client().get(f"/tags/{name}").status_code == 404


@pytest.mark.parametrize(
    ("openness", "words"),
    [
        ({"local": "authenticated", "remote": "authenticated"}, []),
        ({"local": "public", "remote": "disabled"}, ["here"]),
    ],
)
def test_it_follows_the_access_setting_of_the_timeline(openness: dict[str, str], words: list[str]) -> None:
    write_setting("timelines_access", {"hashtag_feeds": openness})
    make_status(make_account("anna"), "here #garden")
    make_remote_status(make_remote("zoe"), "<p>there</p>", tags=[("garden", "garden")])
    shown = page("garden")
    assert [word for word in ("here", "there") if f">{word}" in shown] == words


def test_many_posts_cost_as_many_queries_as_few() -> None:
    def cost() -> int:
        with CaptureQueriesContext(connection) as queries:
            page("garden")
        return len(queries)

    def grow(number: int) -> None:
        for _time in range(number):
            make_status(make_account(), "more #garden")

    grow(2)
    page("garden")
    few = cost()
    grow(12)
    assert cost() == few


def test_posts_with_a_content_warning_are_collapsed(settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path
    anna = make_account("anna")
    make_status(anna, "plain #garden", media=[make_media(anna, description="roses")])
    make_status(anna, "bare #garden", sensitive=True, media=[make_media(anna, description="thorns")])
    make_status(anna, "warned #garden", spoiler_text="slugs", media=[make_media(anna, description="slime")])
    covered = " ".join(re.findall(r"<details>.*?</details>", page("garden"), re.DOTALL))
    assert [word for word in ("plain", "roses", "bare", "thorns", "warned", "slime") if word in covered] == [
        "thorns",
        "warned",
        "slime",
    ]


def test_what_others_wrote_stays_inside_its_post() -> None:
    make_remote_status(make_remote("zoe", display_name="<b>zoe</b>"), "<p>hi</p>", tags=[("garden", "garden")])
    assert "&lt;b&gt;zoe" in page("garden")
