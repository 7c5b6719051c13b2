"""Tests of the pages of an account: tabs, pinned posts, boosts, follow lists, and metadata for search engines and caches."""

import re
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from accounts.emojis.models import CustomEmoji
from accounts.models import Account, User
from accounts.services.changing import change_account
from social.kernel import clock
from statuses.models import MediaAttachment, Status
from statuses.queries.posts import load_posts
from statuses.services.changing import change_statuses
from statuses.services.pins import pin_status
from tests.factories.accounts import make_account, make_remote, make_user
from tests.factories.statuses import follow, make_media, make_poll, make_reblog, make_remote_media, make_status
from tests.support.client import Api, signed_in

pytestmark = pytest.mark.django_db
HTML = {"Accept": "text/html"}


def page(path: str) -> str:
    answer = Api().get(path, headers=HTML)
    assert answer.status_code == 200, path
    return str(answer.content.decode())


def status_of(path: str) -> int:
    return Api().get(path, headers=HTML).status_code


def words(path: str, *wanted: str) -> list[str]:
    """Return the wanted words that the page contains, in the order in which they appear."""
    body = page(path).partition("</head>")[2]
    return sorted((word for word in wanted if word in body), key=body.index)


def pin(status: Status) -> None:
    pin_status(account_id=status.account_id, status=load_posts([status.id])[0])


def test_a_profile_begins_with_pins_and_has_tabs_for_replies_and_files(
    alice: Account, settings: Any, tmp_path: Path
) -> None:
    settings.MEDIA_ROOT = tmp_path
    bob = make_account("bob", display_name="Bob B.")
    first = make_status(alice, "the first")
    make_status(alice, "a picture", media=[make_media(alice, "A tall tree")])
    make_status(alice, "an answer", reply_to=make_status(bob, "a question"))
    make_reblog(alice, make_status(bob, "of bob"))
    make_reblog(alice, make_status(bob, "for his followers", visibility="unlisted"))
    pin(first)
    every = ("Pinned post", "the first</p>", "a picture</p>", "an answer</p>", "of bob", "</bdi> boosted")
    assert words("/@alice", *every) == [*every[:2], "</bdi> boosted", "of bob", "a picture</p>"]
    assert page("/@alice").count("the first</p>") == 1
    assert words("/@alice/with_replies", *every) == ["an answer</p>", "a picture</p>", "the first</p>"]
    assert words("/@alice/media", *every) == []
    assert 'alt="A tall tree"' in page("/@alice/media")
    change_account(alice.id, show_media=False)
    assert status_of("/@alice/media") == 404
    assert "/@alice/media" not in page("/@alice")


def test_follow_lists_are_shown_page_by_page_unless_they_are_hidden(alice: Account) -> None:
    people = [make_remote(f"fan{number}") for number in range(45)]
    for person in people:
        follow(person, alice)
    follow(alice, people[3])
    gone = make_remote("gone", suspended_at=clock.now())
    follow(gone, alice)
    seen: list[str] = []
    path = "/@alice/followers"
    while path:
        text = page(path)
        seen += re.findall(r"@(fan\d+|gone)@remote.example", text)
        older = re.search(r'href="(\?max_id=\d+)" rel="next"', text)
        path = f"/@alice/followers{older[1]}" if older is not None else ""
    assert seen == [f"fan{number}" for number in reversed(range(45))]
    assert re.findall(r"@(fan\d+)@", page("/@alice/following")) == ["fan3"]
    assert 'href="/@alice/followers"' in page("/@alice")
    change_account(alice.id, hide_collections=True)
    assert status_of("/@alice/followers") == status_of("/@alice/following") == 404
    assert 'href="/@alice/followers"' not in page("/@alice")


@pytest.mark.parametrize("path", ["/@alice", "/@alice/with_replies", "/@alice/media", "/@alice/followers"])
def test_pages_take_the_same_queries_whatever_they_contain(
    alice: Account, settings: Any, tmp_path: Path, path: str
) -> None:
    settings.MEDIA_ROOT = tmp_path

    def write(number: int) -> None:
        make_status(alice, f"number {number}", media=[make_media(alice)])
        make_reblog(alice, make_status(make_account(), "of somebody"))
        make_poll(alice, "yes", "no")
        follow(make_account(), alice)

    def cost() -> int:
        with CaptureQueriesContext(connection) as queries:
            page(path)
        return len(queries)

    write(0)
    pin(Status.objects.filter(account=alice, reblog_of=None).earliest("id"))
    few = cost()
    for number in range(1, 6):
        write(number)
    assert cost() <= few <= 14


def test_pictures_are_cropped_around_the_focal_point_and_have_reserved_space(
    alice: Account, settings: Any, tmp_path: Path
) -> None:
    settings.MEDIA_ROOT = tmp_path
    media = [make_media(alice, "First"), make_media(alice)]
    status = make_status(alice, "two", media=media)
    MediaAttachment.objects.filter(id=media[0].id).update(
        meta={"focus": {"x": -0.62, "y": 1.0}, "small": {"width": 640, "height": 400}}
    )
    make_remote_media(status)
    MediaAttachment.objects.exclude(id__in=[each.id for each in media]).update(meta={})
    change_statuses([status.id])
    text = page(f"/@alice/{status.id}")
    assert '<img class="x2 y0" ' in text
    assert 'alt="First" width="640" height="400"' in text
    assert '<details class="alt"><summary>ALT</summary><p dir="auto">First</p></details>' in text
    assert text.count('aria-label="Picture without a description"') == 2, "links have accessible names"
    assert text.count("unsized") == 1
    assert '<div class="files many">' in text


def test_custom_emojis_are_shown_as_pictures_but_not_inside_attributes(alice: Account) -> None:
    CustomEmoji.objects.create(shortcode="blob", image="e/blob.gif", static_image="e/still.png")
    note = '<p>:blob: <a href="https://a.example/>:blob:">x :blob:</a> :blobs: a:blob:b</p>'
    change_account(alice.id, display_name="Alice :blob:", note=":blob:", note_html=note)
    status = make_status(alice, "I :blob: you", spoiler_text=":blob: <b>")
    picture = '<img class="emoji" src="/system/e/still.png" alt=":blob:" title=":blob:" width="20" height="20">'
    text = page("/@alice")
    assert f"<bdi>Alice {picture}</bdi>" in text
    assert f'<p>{picture} <a href="https://a.example/>:blob:">x {picture}</a> :blobs: a:blob:b</p>' in text
    post = page(f"/@alice/{status.id}")
    assert f"I {picture} you" in post
    assert f"{picture} &lt;b&gt;" in post
    assert "<title>Alice :blob:: :blob: &lt;b&gt;" in post


def indexed(path: str) -> bool:
    return 'name="robots"' not in page(path)


def test_search_engines_may_index_only_pages_whose_author_allows_it(alice: Account) -> None:
    status = make_status(alice, "hello")
    paths = ("/@alice", f"/@alice/{status.id}")
    change_account(alice.id, indexable=True)
    assert [indexed(path) for path in paths] == [True, True]
    assert not indexed("/@alice/followers")
    for values in ({"indexable": False}, {"discoverable": False}, {"limited_at": clock.now()}):
        before = {name: getattr(Account.objects.get(id=alice.id), name) for name in values}
        change_account(alice.id, **values)
        assert [indexed(path) for path in paths] == [False, False], values
        change_account(alice.id, **before)
    User.objects.filter(account=alice).update(preferences={"noindex": True})
    change_account(alice.id, discoverable=True)
    assert [indexed(path) for path in paths] == [False, False]


def test_every_page_has_metadata_for_previews_and_home_screens(alice: Account) -> None:
    status = make_status(alice, "hello")
    for path, kind in (
        ("/@alice", "profile"),
        (f"/@alice/{status.id}", "article"),
        ("/about", "website"),
        ("/", "website"),
    ):
        head = page(path).partition("</head>")[0]
        for name in ("og:url", "og:title", "og:description", "og:image", "twitter:card", "description"):
            found = re.findall(rf'<meta (?:property|name)="{name}" content="[^"]+">', head)
            assert len(found) == 1, (path, name)
        assert f'<meta property="og:type" content="{kind}">' in head
        assert f'<link rel="canonical" href="http://social.localhost{path}">' in head
        assert '<link rel="manifest" href="/manifest">' in head
        assert 'rel="apple-touch-icon"' in head
    answer = Api().get("/manifest", headers={"Accept-Language": "ar"})
    assert answer["Content-Type"] == "application/manifest+json"
    document = answer.json()
    assert (document["start_url"], document["dir"], document["share_target"]["action"]) == ("/", "rtl", "/share")
    assert {icon["sizes"] for icon in document["icons"]} >= {"192x192", "512x512"}


def test_caches_may_store_pages_only_for_readers_without_cookies(alice: Account) -> None:
    status = make_status(alice, "hello")
    reader = signed_in(make_user("reader"))
    for path in ("/@alice", f"/@alice/{status.id}", "/@alice/with_replies", "/about"):
        answer = Client().get(path, headers=HTML)
        assert (answer["Cache-Control"], len(answer.cookies)) == ("public, max-age=15", 0), path
        varied = {name.strip() for name in answer["Vary"].split(",")}
        assert varied >= {"Cookie", "Accept-Language"}, path
        assert ("Accept" in varied) == (path != "/about" and "with" not in path)
        own = reader.get(path, headers=HTML)
        assert own["Cache-Control"] == "private, no-store"
        assert 'aria-label="Your profile: reader @reader@social.localhost"' in own.content.decode()
        assert 'href="/auth/sign_in"' in answer.content.decode()
        assert Client().get(path, {"lang": "de"}, headers=HTML)["Cache-Control"] == "private, no-store"
    assert Client().get("/@nobody", headers=HTML)["Cache-Control"] == "private, no-store"
    packed = Client().get("/@alice", headers=HTML | {"Accept-Encoding": "gzip"})
    assert packed["Content-Encoding"] == "gzip"
    assert "Content-Encoding" not in reader.get("/@alice", headers=HTML | {"Accept-Encoding": "gzip"})


def test_tabs_have_no_activitypub_documents(alice: Account) -> None:
    assert Api().get("/@alice/media", headers={"Accept": "application/activity+json"}).status_code == 406


def test_a_long_thread_is_read_page_by_page(alice: Account, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make_status(alice, "the root")
    replies = [make_status(alice, f"reply {number}.", reply_to=root) for number in range(65)]
    answer = make_status(alice, "below an early one", reply_to=replies[0])
    seen: list[str] = []
    path = f"/@alice/{root.id}"
    for _page in range(3):
        text = page(path).partition('<section class="thread">')[2]
        seen += re.findall(r"reply \d+\.|below an early one", text)
        more = re.search(r'href="(\?after=\d+)" rel="next"', text)
        if more is None:
            break
        path = f"/@alice/{root.id}{more[1]}"
    assert sorted(seen) == sorted([*(f"reply {number}." for number in range(65)), "below an early one"])
    deepest = answer
    for number in range(42):
        deepest = make_status(alice, f"deeper {number}", reply_to=deepest)
    assert "Earlier posts in this thread" in page(f"/@alice/{deepest.id}")
    assert "Earlier posts in this thread" not in page(f"/@alice/{answer.id}")
    for odd in ("abc", "-1", "9" * 30):
        assert status_of(f"/@alice/{root.id}?after={odd}") == 200
