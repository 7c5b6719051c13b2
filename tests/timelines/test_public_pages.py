"""Tests of the pages of hashtags and of the public timelines: public posts only."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.test import Client
from lxml import etree

from accounts.services.audit import write_setting
from tests.factories.accounts import make_account, make_remote
from tests.factories.statuses import make_media, make_remote_status, make_status
from timelines.queries import public

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _fresh_access() -> Iterator[None]:
    public.forget_access()
    yield
    public.forget_access()


def page(name: str) -> str:
    answer = Client().get(f"/tags/{name}")
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_hashtag_page_shows_public_posts_newest_first() -> None:
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


def test_a_hashtag_has_an_rss_feed() -> None:  # contract, endpoints, GET /tags/:name
    anna = make_account("anna")
    for number in range(22):
        make_status(anna, f"number {number} #Garden")
    make_status(anna, "quiet #garden", visibility="unlisted")
    answer = Client().get("/tags/garden.rss")
    assert (answer.status_code, answer["Content-Type"]) == (200, "application/rss+xml; charset=utf-8")
    channel = etree.fromstring(answer.content).find("channel")
    assert (channel.findtext("title"), channel.findtext("link")[-12:]) == (
        "#garden – social.localhost",
        "/tags/garden",
    )
    shown = [re.search(r"number \d+", item.findtext("description"))[0] for item in channel.findall("item")]
    assert shown == [f"number {number}" for number in range(21, 1, -1)]
    assert 'type="application/rss+xml" href="/tags/garden.rss"' in page("garden")
    assert Client().get("/tags/1234.rss").status_code == 404
    assert etree.fromstring(Client().get("/tags/nobody.rss").content).findall("channel/item") == []
    write_setting("timelines_access", {"hashtag_feeds": {"local": "authenticated", "remote": "authenticated"}})
    public.forget_access()
    assert Client().get("/tags/garden.rss").status_code == 404
    assert "application/rss+xml" not in page("garden")


def test_remote_posts_link_to_their_own_server() -> None:
    url = "https://remote.example/@zoe/1"
    make_remote_status(make_remote("zoe"), "<p>far away</p>", url=url, tags=[("garden", "garden")])
    shown = page("garden")
    assert "far away" in shown
    assert f'href="{url}"' in shown


def test_an_unused_hashtag_has_an_empty_page_and_an_invalid_one_has_none() -> None:
    assert "No public post" in page("nobody")
    for name in ("1234", "a b", "a.b", "%23%23a", "a" * 501):
        for path in (f"/tags/{name}", f"/tags/{name}.rss", f"/api/v1/tags/{name}"):
            assert Client().get(path).status_code == 404, path


@pytest.mark.parametrize(
    ("openness", "words"),
    [
        ({"local": "authenticated", "remote": "authenticated"}, []),
        ({"local": "public", "remote": "disabled"}, ["here"]),
    ],
)
def test_the_access_setting_of_the_timeline_applies_to_the_page(openness: dict[str, str], words: list[str]) -> None:
    write_setting("timelines_access", {"hashtag_feeds": openness})
    make_status(make_account("anna"), "here #garden")
    make_remote_status(make_remote("zoe"), "<p>there</p>", tags=[("garden", "garden")])
    shown = page("garden")
    assert [word for word in ("here", "there") if f">{word}" in shown] == words


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


def test_html_in_names_is_escaped() -> None:
    make_remote_status(make_remote("zoe", display_name="<b>zoe</b>"), "<p>hi</p>", tags=[("garden", "garden")])
    assert "&lt;b&gt;zoe" in page("garden")


def ours_and_theirs() -> None:
    make_status(make_account("anna"), "here #garden")
    make_remote_status(make_remote("zoe"), "<p>there</p>", tags=[("garden", "garden")])


def words_of(path: str) -> list[str]:
    """Return which of the two posts, identified by a word in each, a page shows."""
    answer = Client().get(path)
    assert answer.status_code == 200
    shown = answer.content.decode()
    return [word for word in ("here", "there") if f">{word}" in shown]


def test_there_are_pages_of_all_local_and_remote_public_posts() -> None:
    anna = make_account("berta")
    make_status(anna, "quiet", visibility="unlisted")
    make_status(anna, "secret", visibility="private")
    ours_and_theirs()
    paths = ("/public", "/public/", "/public/local", "/public/remote/")
    assert [words_of(path) for path in paths] == [["here", "there"], ["here", "there"], ["here"], ["there"]]
    everything = Client().get("/public").content.decode()
    assert "quiet" not in everything
    assert "secret" not in everything
    assert re.findall(r'href="(/public[^"]*)"', everything) == ["/public/local", "/public/remote"]


@pytest.mark.parametrize(
    ("openness", "pages"),
    [
        ({"local": "authenticated", "remote": "authenticated"}, {}),
        ({"local": "disabled", "remote": "disabled"}, {}),
        ({"local": "public", "remote": "authenticated"}, {"/public": ["here"], "/public/local": ["here"]}),
        ({"local": "disabled", "remote": "public"}, {"/public": ["there"], "/public/remote": ["there"]}),
    ],
)
def test_a_timeline_closed_to_visitors_has_no_page_and_no_links(
    openness: dict[str, str], pages: dict[str, list[str]]
) -> None:
    ours_and_theirs()
    assert 'href="/public/local"' in Client().get("/about").content.decode()
    write_setting("timelines_access", {"live_feeds": openness})
    public.forget_access()
    for path in ("/public", "/public/local", "/public/remote"):
        if path in pages:
            assert words_of(path) == pages[path]
            assert 'href="/public' not in Client().get(path).content.decode()
        else:
            assert Client().get(path).status_code == 404
    assert ('href="/public/local"' in Client().get("/about").content.decode()) == ("/public/local" in pages)


@pytest.mark.parametrize("path", ["/tags/garden", "/public", "/public/local"])
def test_links_lead_from_the_newest_posts_to_the_oldest(path: str) -> None:
    author = make_account()
    posts = [make_status(author, f"number {number} #garden") for number in range(45)]
    seen: list[str] = []
    address = path
    for _page in range(5):
        answer = Client().get(address)
        assert answer.status_code == 200
        shown = answer.content.decode()
        assert (f'href="{path}"' in shown) == (address != path)
        seen += re.findall(r"number (\d+)", re.sub(r"<head>.*</head>", "", shown, flags=re.DOTALL))
        # The next page does not shift when a post is added.
        make_status(author, f"later #garden {address}")
        older = re.search(r'href="(\?max_id=\d+)" rel="next"', shown)
        if older is None:
            break
        address = f"{path}{older[1]}"
    assert seen == [str(number) for number in reversed(range(len(posts)))]


@pytest.mark.parametrize("wrong", ["abc", "-1", "", "99999999999999999999", "%00"])
def test_an_invalid_cursor_shows_the_first_page(wrong: str) -> None:
    ours_and_theirs()
    assert words_of(f"/public?max_id={wrong}") == ["here", "there"]
    assert words_of(f"/tags/garden?max_id={wrong}") == ["here", "there"]
