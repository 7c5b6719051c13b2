"""Tests of previews of linked pages: fetched in the background, once for all posts."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from accounts.models import Account
from social.kernel import clock
from social.kernel.events import on
from social.kernel.outbox import OutboxRow
from social.kernel.refusals import load_refusals
from social.kernel.runner import TERMS
from social.kernel.subscriptions import registry
from statuses.events import CardAttached
from statuses.models import CardFetch, PreviewCard, Status, StatusCard
from statuses.policies.previews import PageReason
from statuses.serializers.presenting import present_statuses
from statuses.services.cards import attach_card
from tests.factories.statuses import make_media, make_remote_status, picture
from tests.statuses.services.cards import ARTICLE, card_of, fetch_now, link_to
from tests.support.site import Site, serving
from tests.support.work import work

pytestmark = pytest.mark.usefixtures("media_root")


@pytest.fixture
def attached() -> Iterator[list[int]]:
    """The ids of posts for which CardAttached was published."""
    received: list[int] = []

    def listen(event: CardAttached) -> bool:
        received.append(event.status_id)
        return False

    subscription = on(CardAttached, ignore, when=listen)
    yield received
    registry.remove(subscription)


def ignore(events: Any) -> None:
    raise AssertionError(events)


def test_a_post_shows_what_the_page_says_of_itself(stranger: Account, site: Site, media_root: Path) -> None:
    site.show("/picture.png", picture(1200, 800), Content_Type="image/png")
    link = site.show("/a?x=1", ARTICLE)
    status = link_to(stranger, f"{link.replace('&', '&amp;')}#part", before='<a href="https://b.example/@u">@u</a> ')
    assert card_of(status) is None
    fetch_now()
    card = card_of(status)
    image = card.pop("image")
    assert len(card.pop("blurhash")) == 36
    assert card == {
        "url": f"{link}#part",
        "title": "Great & small",
        "description": "What it is about",
        "language": "de",
        "type": "link",
        "author_name": "Ann",
        "author_url": "",
        "provider_name": "The Site",
        "provider_url": "",
        "html": "",
        "width": 588,
        "height": 392,
        "image_description": "A square",
        "embed_url": "",
        "published_at": "2024-03-01T09:00:00.000Z",
        "authors": [{"name": "Ann", "url": "", "account": None}],
    }
    [file] = [path for path in media_root.rglob("*") if path.is_file()]
    assert image.endswith(f"/preview_cards/{file.parent.parent.name}/{file.parent.name}/{file.name}")
    assert site.asked == ["/a?x=1", "/picture.png"]


def test_seed_081_posts_with_one_link_share_a_card_that_is_fetched_once(
    stranger: Account, site: Site, attached: list[int]
) -> None:
    link = site.show("/a", "<title>One</title>")
    first, second = link_to(stranger, link), link_to(stranger, link)
    fetch_now()
    third = link_to(stranger, f"{link}#else")
    work()
    cards = [card_of(status) for status in (first, second, third)]
    assert [card["title"] for card in cards] == ["One"] * 3
    assert cards[0] == cards[1] == cards[2] | {"url": link}
    assert (site.asked, PreviewCard.objects.count(), CardFetch.objects.count()) == (["/a"], 1, 0)
    # Each post is streamed once more: the first two after the fetch, the third at once.
    assert sorted(attached) == [first.id, second.id, third.id]


def test_a_page_is_fetched_again_two_weeks_later_and_keeps_what_was_known(stranger: Account, site: Site) -> None:
    link = site.show("/a", "<title>Old</title>")
    status = link_to(stranger, link)
    fetch_now()
    for days, title, answer, expected in (
        (13, "New", 200, "Old"),
        (15, "New", 200, "New"),
        (15, "Not found", 404, "New"),
        (0, "Newest", 200, "New"),
    ):
        site.show("/a", f"<title>{title}</title>", status=answer)
        PreviewCard.objects.update(fetched_at=clock.now() - timedelta(days=days))
        link_to(stranger, link)
        fetch_now()
        assert card_of(status)["title"] == expected, (days, title)
    assert len(site.asked) == 3


def test_posts_with_files_quotes_or_no_link_of_their_own_have_no_card(
    alice: Account, stranger: Account, site: Site
) -> None:
    link = site.show("/a", "<title>One</title>")
    quoted = make_remote_status(stranger)
    for content, values in (
        (f'<p><a href="{link}">x</a></p>', {"media_ids": [make_media(stranger).id]}),
        (f'<p class="quote-inline">RE: <a href="{link}">x</a></p>', {}),
        (f'<p>x<span class="quote-inline"><br>RE: <a href="{link}"><span>x</span></a></span></p>', {}),
        (f'<p><a href="{link}" class="mention hashtag">#x</a> <a href="{link}">@<span>x</span></a></p>', {}),
        ('<p><a href="http://social.localhost/@alice/1">ours</a> <a href="xmpp:a@b.example">chat</a></p>', {}),
    ):
        make_remote_status(stranger, content, has_link=True, **values)
    fetch_now()
    assert (StatusCard.objects.count(), PreviewCard.objects.count(), site.asked) == (0, 0, [])
    assert card_of(quoted) is None


def test_an_edit_of_the_text_changes_the_card(stranger: Account, site: Site) -> None:
    one, two = site.show("/1", "<title>One</title>"), site.show("/2", "<title>Two</title>")
    status = link_to(stranger, one)
    fetch_now()
    for link, title in ((two, "Two"), (one, "One")):
        Status.objects.filter(id=status.id).update(content=f'<a href="{link}">x</a>')
        attach_card(status.id)
        fetch_now()
        assert card_of(status)["title"] == title
    Status.objects.filter(id=status.id).update(content="nothing")
    attach_card(status.id)
    assert card_of(status) is None


def test_what_is_no_page_has_no_card_and_is_left_alone_for_a_day(stranger: Account, site: Site) -> None:
    for path, body, values in (
        ("/404", "<title>Not found</title>", {"status": 404}),
        ("/json", '{"title": "x"}', {"Content_Type": "application/json"}),
        ("/empty", "", {}),
        ("/nothing", "<p>no title</p>", {}),
        ("/away", "", {"status": 302, "Location": "http://10.0.0.1/"}),
        ("/loop", "", {"status": 302, "Location": "/loop"}),
    ):
        link = site.show(path, body, **values)
        status = link_to(stranger, link)
        fetch_now()
        assert card_of(status) is None
        asked = len(site.asked)
        link_to(stranger, link)
        fetch_now()
        assert (len(site.asked), CardFetch.objects.count()) == (asked, 0), path
        PreviewCard.objects.update(fetched_at=clock.now() - timedelta(days=2))
        link_to(stranger, link)
        fetch_now()
        assert len(site.asked) > asked


def test_a_server_in_trouble_is_asked_three_times_and_holds_up_no_other(stranger: Account, site: Site) -> None:
    broken = site.show("/503", "", status=503)
    with serving() as other:
        fine = other.show("/a", "<title>Fine</title>")
        link_to(stranger, broken)
        status = link_to(stranger, fine)
        fetch_now()
        assert card_of(status)["title"] == "Fine"
    for _more in range(4):
        fetch_now()
    waiting = CardFetch.objects.get()
    assert (len(site.asked), waiting.attempts, waiting.dead_at is None) == (3, 3, False)
    link_to(stranger, broken)
    fetch_now()
    assert len(site.asked) == 3


def test_of_one_server_a_bounded_number_of_pages_waits(
    stranger: Account, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(TERMS, "cards", replace(TERMS["cards"], waiting=3))
    for number in range(5):
        link_to(stranger, site.show(f"/{number}", "<title>x</title>"))
    work()
    assert CardFetch.objects.count() == 3


@pytest.mark.parametrize("address", ["http://127.0.0.1:1/", "http://10.1.2.3/", "http://[::1]/", "http://2130706433/"])
def test_row_10_previews_are_not_fetched_from_the_inside(stranger: Account, db: None, address: str) -> None:
    status = link_to(stranger, address)
    fetch_now()
    assert card_of(status) is None
    assert not PreviewCard.objects.exclude(title="").exists()


def test_row_02_nothing_of_a_providers_html_is_passed_on(stranger: Account, site: Site) -> None:
    evil = '<iframe src="{}" onload="alert(1)" srcdoc="<script>1</script>"></iframe><script>alert(2)</script>'
    players = {
        "https://www.youtube.com/embed/abc": "https://www.youtube.com/embed/abc",
        "https://www.youtube.com.evil.example/embed/abc": "",
        "https://www.youtube.com/redirect?to=evil": "",
        "https://user@www.youtube.com/embed/abc": "",
        "http://www.youtube.com/embed/abc": "",
        "javascript:alert(1)": "",
        "data:text/html,<script>alert(1)</script>": "",
        "https://evil.example/embed/": "",
    }
    for number, (player, shown) in enumerate(players.items()):
        site.show(
            f"/oembed/{number}",
            json.dumps(
                {
                    "type": "video",
                    "title": "<script>alert(3)</script>Film",
                    "html": evil.format(player),
                    "width": 200,
                    "height": "113",
                    "author_url": "javascript:alert(4)",
                    "provider_url": "data:text/html,x",
                    "thumbnail_url": "file:///etc/passwd",
                }
            ),
            Content_Type="application/json",
        )
        link = site.show(
            f"/film/{number}",
            f'<link rel="alternate" type="application/json+oembed" href="/oembed/{number}"><title>x</title>',
        )
        status = link_to(stranger, link)
        fetch_now()
        card = card_of(status)
        assert card["title"] == "<script>alert(3)</script>Film"
        assert (card["author_url"], card["provider_url"], card["image"]) == ("", "", None)
        if not shown:
            assert (card["type"], card["html"]) == ("link", ""), player
            continue
        assert (card["type"], card["width"], card["height"]) == ("video", 200, 113)
        assert card["html"] == (
            f'<iframe src="{shown}" width="200" height="113"'
            ' sandbox="allow-scripts allow-same-origin allow-popups allow-presentation"'
            ' referrerpolicy="strict-origin-when-cross-origin" allowfullscreen></iframe>'
        )


def test_a_photograph_is_shown_from_here(stranger: Account, site: Site) -> None:
    site.show("/full.jpg", picture(64, 64), Content_Type="image/jpeg")
    site.show(
        "/oembed", json.dumps({"type": "photo", "url": f"{site.address}/full.jpg"}), Content_Type="application/json"
    )
    head = '<link rel=alternate type="application/json+oembed" href="/oembed"><title>Photo</title>'
    status = link_to(stranger, site.show("/photo", head))
    fetch_now()
    card = card_of(status)
    assert (card["type"], card["embed_url"]) == ("photo", card["image"])
    assert site.address not in card["image"]


def test_row_01_a_picture_that_is_none_leaves_a_card_without_picture(
    stranger: Account, site: Site, media_root: Path
) -> None:
    site.show("/evil.png", "<svg onload=alert(1)>", Content_Type="image/png")
    site.show("/evil.svg", "<svg onload=alert(1)/>", Content_Type="image/svg+xml")
    site.show("/large.png", b"0" * (8 * 1024 * 1024 + 1), Content_Type="image/png")
    for name in ("evil.png", "evil.svg", "large.png", "missing.png"):
        status = link_to(
            stranger, site.show(f"/{name}.html", f'<meta property=og:image content="/{name}"><title>x</title>')
        )
        fetch_now()
        assert card_of(status) | {"image": None, "blurhash": None, "width": 0, "height": 0} == card_of(status)
    assert [path for path in media_root.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize("first", ["missing.png", "drawing.svg", "page.png"])
@pytest.mark.parametrize("others", [1, 2])
def test_of_the_pictures_of_a_page_the_first_that_can_be_shown_is(
    stranger: Account, site: Site, first: str, others: int
) -> None:
    shown = ""
    for number in range(others):
        site.show(f"/{number}drawing.svg", "<svg xmlns='http://www.w3.org/2000/svg'/>", Content_Type="image/svg+xml")
        site.show(f"/{number}page.png", "<!doctype html><title>Please sign in</title>", Content_Type="image/png")
        shown += f'<meta property="og:image" content="/{number}{first}">'
    site.show("/good.png", picture(40, 30), Content_Type="image/png")
    shown += '<meta property="og:image" content="/good.png"><meta property="og:image:alt" content="A square">'
    status = link_to(stranger, site.show("/a", f"{shown}<title>x</title>"))
    fetch_now()
    card = card_of(status)
    assert (card["width"], card["height"], card["image_description"]) == (40, 30, "A square")


def test_a_picture_of_an_oembed_document_that_is_not_there_leaves_that_of_its_page(
    stranger: Account, site: Site
) -> None:
    site.show("/good.png", picture(40, 30), Content_Type="image/png")
    site.show("/oembed", json.dumps({"type": "video", "thumbnail_url": f"{site.address}/maxresdefault.jpg"}))
    head = (
        '<link rel=alternate type="application/json+oembed" href="/oembed"><meta property=og:image content="/good.png">'
    )
    status = link_to(stranger, site.show("/a", f"{head}<title>x</title>"))
    fetch_now()
    assert (card_of(status)["width"], card_of(status)["height"]) == (40, 30)


def test_a_page_names_three_pictures_at_most(stranger: Account, site: Site) -> None:
    names = "".join(f'<meta property="og:image" content="/{number}.png">' for number in range(9))
    link_to(stranger, site.show("/a", f"{names}<title>x</title>"))
    fetch_now()
    assert [path for path in site.asked if path.endswith(".png")] == ["/0.png", "/1.png", "/2.png"]


@pytest.mark.parametrize("oembed", [{"status": 401, "body": '{"error": "no"}'}, {"body": "{}"}, {"body": "<p>Sign in"}])
def test_a_page_whose_oembed_document_is_kept_back_is_shown_by_what_it_says_itself(
    stranger: Account, site: Site, oembed: dict[str, Any]
) -> None:
    values = dict(oembed)
    site.show("/oembed", values.pop("body"), **values)
    site.show("/good.png", picture(40, 30), Content_Type="image/png")
    head = (
        '<link rel=alternate type="application/json+oembed" href="/oembed"><meta property=og:image content="/good.png">'
    )
    status = link_to(stranger, site.show("/a", f"{head}<title>x</title>"))
    fetch_now()
    assert (card_of(status)["title"], card_of(status)["width"]) == ("x", 40)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_short_address_shows_the_page_that_it_leads_to(stranger: Account, site: Site, status: int) -> None:
    site.show("/watch", ARTICLE)
    short = site.show("/short", "", status=status, Location="/watch", Content_Type="application/binary")
    shown = card_of_link(stranger, short)
    assert (shown["url"], shown["title"]) == (short, "Great & small")


@pytest.mark.parametrize("fragment", ["#section", "#/2/pad/view/abc", "#:~:text=words"])
def test_a_card_leads_where_the_link_of_its_post_leads(stranger: Account, site: Site, fragment: str) -> None:
    page = site.show("/a", ARTICLE.replace("<head>", '<head><link rel="canonical" href="/other">'))
    assert card_of_link(stranger, page + fragment)["url"] == page + fragment


def card_of_link(author: Account, url: str) -> Any:
    status = link_to(author, url)
    fetch_now()
    return card_of(status)


def test_row_33_each_text_of_a_page_has_an_end(stranger: Account, site: Site) -> None:
    long = "x" * 30_000
    names = ("og:title", "og:description", "og:site_name", "author", "fediverse:creator", "og:image:alt")
    metas = "".join(f'<meta name="{name}" content="{long}">' for name in names)
    addresses = (
        f'<meta name="og:image" content="/{long}"><meta name="article:author" content="https://a.example/{long}">'
    )
    status = link_to(stranger, site.show("/a", f"{metas}{addresses}<title>{long}</title>"))
    link_to(stranger, f"{site.address}/{'y' * 2048}")
    fetch_now()
    card = card_of(status)
    texts = ("title", "description", "provider_name", "author_name", "author_url", "image_description")
    assert [len(card[name]) for name in texts] == [500, 2000, 300, 300, 0, 0]
    assert PreviewCard.objects.count() == 1
    for name, length in (("title", 501), ("description", 2001), ("creator", 301), ("player_url", 2049)):
        with pytest.raises(IntegrityError), transaction.atomic():
            PreviewCard.objects.update(**{name: "x" * length})


def test_cards_take_as_many_queries_for_twenty_posts_as_for_two(alice: Account, stranger: Account) -> None:
    posts = [make_remote_status(stranger) for _number in range(20)]
    plain = len(_queries(posts[:2], alice.id))
    Account.objects.filter(id=alice.id).update(attribution_domains=["site.example"])
    for status in posts:
        card = PreviewCard.objects.create(
            url=f"https://site.example/{status.id}", host="site.example", title="x", creator="alice@social.localhost"
        )
        StatusCard.objects.create(status=status, card=card, url=card.url)
    few, many = _queries(posts[:2], alice.id), _queries(posts, alice.id)
    assert len(few) == len(many) == plain + 3, "\n".join(many)


def _queries(posts: list[Status], viewer_id: int) -> list[str]:
    present_statuses([post.id for post in posts], viewer_id)
    with CaptureQueriesContext(connection) as captured:
        assert len(present_statuses([post.id for post in posts], viewer_id)) == len(posts)
    return [query["sql"] for query in captured.captured_queries]


def test_row_04_a_page_that_drips_is_given_up(stranger: Account, site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(TERMS, "cards", replace(TERMS["cards"], row_seconds=0.3))

    def drip(request: Any) -> None:
        request.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<title>")
        # Block until the client disconnects.
        request.rfile.read(1)
        request.close_connection = True

    site.instead = drip
    link_to(stranger, f"{site.address}/drip")
    fetch_now()
    assert CardFetch.objects.get().attempts == 1
    assert OutboxRow.objects.filter(event="CardsDue", last_error="").exists()


def test_of_an_endless_page_the_beginning_is_read(stranger: Account, site: Site) -> None:
    link = site.show("/long", "<title>Long</title>" + "<p>words</p>" * 300_000)
    status = link_to(stranger, link)
    fetch_now()
    assert card_of(status)["title"] == "Long"


def test_what_a_page_cannot_show_is_counted_for_its_server(stranger: Account, site: Site) -> None:
    site.show("/broken.png", b"no picture", status=404, Content_Type="image/png")
    page = b'<html><head><meta property="og:title" content="A"><meta property="og:image" content="/broken.png"></head></html>'
    for link in (site.show("/a", page.decode()), site.show("/b", "<html></html>"), f"{site.address}/absent"):
        link_to(stranger, link)
        fetch_now()
    counts = {reason: number for _sender, reason, number in load_refusals([site.host])}
    assert counts == {
        PageReason.PICTURE_MISSING.key: 1,
        PageReason.PAGE_WITHOUT_TITLE.key: 1,
        PageReason.PAGE_MISSING.key: 1,
    }


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("//<![CDATA[\n", "\n//]]>"),
        ("/*<![CDATA[*/", "/*]]>*/"),
        ("<![CDATA[", "]]>;"),
        ("<!--\n", "\n-->"),
        ("// <!--\n//<![CDATA[\n", "//]]>\n// -->"),
        ("", ""),
    ],
)
def test_structured_data_is_read_however_it_is_wrapped(stranger: Account, site: Site, start: str, end: str) -> None:
    data = (
        '{"@type": "NewsArticle", "headline": "From\nJSON-LD", "author": {"name": "Ann"}, "publisher": {"name": "P"}}'
    )
    link = site.show("/a", f'<title>t</title><script type="application/ld+json">{start}{data}{end}</script>')
    status = link_to(stranger, link)
    fetch_now()
    card = card_of(status)
    assert (card["title"], card["author_name"], card["provider_name"]) == ("From JSON-LD", "Ann", "P")


_XML_EMBED = (
    '<?xml version="1.0" encoding="utf-8"?><oembed><type>video</type><title>Bäume &amp; mehr</title>'
    "<author_name>Ann</author_name><width>200</width><height>113</height>"
    '<html>&lt;iframe src="https://player.vimeo.com/video/1"&gt;&lt;/iframe&gt;</html></oembed>'
)


@pytest.mark.parametrize(
    "kind", ["text/xml+oembed", "application/xml+oembed", "application/json+oembed", "text/json+oembed"]
)
@pytest.mark.parametrize("content_type", ["text/xml", "application/octet-stream"])
def test_an_oembed_document_is_what_its_bytes_are(stranger: Account, site: Site, kind: str, content_type: str) -> None:
    json_embed = {"type": "video", "title": "Bäume & mehr", "author_name": "Ann", "width": 200, "height": 113}
    json_embed["html"] = '<iframe src="https://player.vimeo.com/video/1"></iframe>'
    body = b"\xef\xbb\xbf" + json.dumps(json_embed).encode() if "json" in kind else _XML_EMBED
    site.show("/o", body, Content_Type=content_type)
    link = site.show("/a", f'<link rel=alternate type="{kind}" href="/o"><title>x</title>')
    status = link_to(stranger, link)
    fetch_now()
    card = card_of(status)
    assert (card["type"], card["title"], card["author_name"]) == ("video", "Bäume & mehr", "Ann")
    assert (card["width"], card["height"]) == (200, 113)


def test_row_02_an_oembed_document_in_xml_names_no_file(stranger: Account, site: Site) -> None:
    entity = '<!DOCTYPE o [<!ENTITY x SYSTEM "file:///etc/passwd"><!ENTITY y "yy"><!ENTITY z "&y;&y;&y;&y;">]>'
    site.show("/o", f"{entity}<oembed><type>link</type><title>a&x;&z;</title></oembed>", Content_Type="text/xml")
    status = link_to(stranger, site.show("/a", '<link rel=alternate type="text/xml+oembed" href="/o"><title>x</title>'))
    fetch_now()
    assert "root:" not in card_of(status)["title"]


@pytest.mark.parametrize("content_type", ["application/octet-stream", "text/plain", "image/jpg", "binary/octet-stream"])
def test_the_picture_of_a_page_is_what_its_bytes_are(stranger: Account, site: Site, content_type: str) -> None:
    site.show("/p", picture(120, 80), Content_Type=content_type)
    status = link_to(stranger, site.show("/a", '<meta property="og:image" content="/p"><title>x</title>'))
    fetch_now()
    card = card_of(status)
    assert card["image"]
    assert (card["width"], card["height"]) == (120, 80)


@pytest.mark.parametrize("label", ["windows-874", "x-sjis", "euc-kr"])
def test_the_title_of_a_page_is_shown_as_people_there_read_it(stranger: Account, site: Site, label: str) -> None:
    codec, text = {"windows-874": ("cp874", "ข่าว"), "x-sjis": ("cp932", "①ニュース"), "euc-kr": ("cp949", "똠방각하")}[
        label
    ]
    link = site.show("/a", f"<meta charset={label}><title>{text}</title>".encode(codec), Content_Type="text/html")
    status = link_to(stranger, link)
    fetch_now()
    assert card_of(status)["title"] == text
