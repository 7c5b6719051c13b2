"""Tests of the content of cards: pictures, and data of the page's provider (security rows 1, 2, 33)."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.db import IntegrityError, transaction

from accounts.models import Account
from statuses.models import PreviewCard
from tests.factories.statuses import picture
from tests.statuses.services.cards import card_of, fetch_now, link_to
from tests.support.site import Site

pytestmark = pytest.mark.usefixtures("media_root")


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


def test_the_picture_of_a_page_is_served_by_this_server(stranger: Account, site: Site) -> None:
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


def test_row_01_a_card_whose_picture_is_no_image_has_no_picture(
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
def test_the_first_picture_of_a_page_that_can_be_shown_is_used(
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


def test_if_the_picture_of_the_oembed_document_is_missing_that_of_the_page_is_used(
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


def test_at_most_three_pictures_of_a_page_are_tried(stranger: Account, site: Site) -> None:
    names = "".join(f'<meta property="og:image" content="/{number}.png">' for number in range(9))
    link_to(stranger, site.show("/a", f"{names}<title>x</title>"))
    fetch_now()
    assert [path for path in site.asked if path.endswith(".png")] == ["/0.png", "/1.png", "/2.png"]


@pytest.mark.parametrize("oembed", [{"status": 401, "body": '{"error": "no"}'}, {"body": "{}"}, {"body": "<p>Sign in"}])
def test_a_page_whose_oembed_document_is_unavailable_is_shown_by_its_own_metadata(
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


def test_row_33_each_text_of_a_page_is_truncated(stranger: Account, site: Site) -> None:
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
def test_an_oembed_document_is_recognised_by_its_bytes(
    stranger: Account, site: Site, kind: str, content_type: str
) -> None:
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
def test_the_picture_of_a_page_is_recognised_by_its_bytes(stranger: Account, site: Site, content_type: str) -> None:
    site.show("/p", picture(120, 80), Content_Type=content_type)
    status = link_to(stranger, site.show("/a", '<meta property="og:image" content="/p"><title>x</title>'))
    fetch_now()
    card = card_of(status)
    assert card["image"]
    assert (card["width"], card["height"]) == (120, 80)


@pytest.mark.parametrize("label", ["windows-874", "x-sjis", "euc-kr"])
def test_the_title_of_a_page_is_decoded_from_its_character_encoding(stranger: Account, site: Site, label: str) -> None:
    codec, text = {"windows-874": ("cp874", "ข่าว"), "x-sjis": ("cp932", "①ニュース"), "euc-kr": ("cp949", "똠방각하")}[
        label
    ]
    link = site.show("/a", f"<meta charset={label}><title>{text}</title>".encode(codec), Content_Type="text/html")
    status = link_to(stranger, link)
    fetch_now()
    assert card_of(status)["title"] == text
