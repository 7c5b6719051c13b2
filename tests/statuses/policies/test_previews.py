"""Tests of reading a page's metadata for cards, even from invalid HTML (behaviours section 9 "Cards")."""

import pytest

from statuses.policies.embeds import read_embed
from statuses.policies.previews import PagePicture, Preview, read_page

URL = "https://a.example/x/y?z"


def read(head: str, content_type: str = "text/html; charset=utf-8") -> Preview:
    return read_page(f"<html><head>{head}</head><body>words</body></html>".encode(), content_type, URL)


@pytest.mark.parametrize(
    ("written", "found"),
    [
        ("/p.png", "https://a.example/p.png"),
        ("p.png", "https://a.example/x/p.png"),
        ("//b.example/p.png", "https://b.example/p.png"),
        (" https://a.example/ü ö.png ", "https://a.example/%C3%BC%20%C3%B6.png"),
    ],
)
def test_the_address_of_a_picture_is_read_from_the_address_of_its_page(written: str, found: str) -> None:
    assert read(f'<title>t</title><meta property="og:image" content="{written}">').pictures == (PagePicture(found),)


def test_the_first_picture_that_can_be_fetched_is_used() -> None:
    none = '<meta property="og:image" content="data:image/png;base64,AA"><meta property="og:image" content="">'
    assert read(f'{none}<meta property="og:image" content="/2.png"><title>t</title>').pictures[0].url.endswith("/2.png")
    assert (
        read(f'{none}<meta name="twitter:image" content="/3.png"><title>t</title>').pictures[0].url.endswith("/3.png")
    )
    article = '<script type="application/ld+json">{"@type":"Article","image":["ftp://x","/4.png"]}</script>'
    assert read(f"{none}{article}<title>t</title>").pictures[0].url.endswith("/4.png")


RED, BLUE = "https://a.example/red.png", "https://a.example/blue.png"
_RED, _BLUE = f'<meta property="og:image" content="{RED}">', f'<meta property="og:image" content="{BLUE}">'
_ALT = '<meta property="og:image:alt" content="Words">'
_SIZE = '<meta property="og:image:width" content="1200"><meta property="og:image:type" content="image/png">'


@pytest.mark.parametrize(
    ("head", "red", "blue"),
    [
        (_RED + _SIZE + _ALT + _BLUE, "Words", ""),
        (_RED + _BLUE + _SIZE + _ALT, "", "Words"),
        (_ALT + _RED + _BLUE, "Words", ""),
        (_ALT + _RED + _ALT.replace("Words", "Others") + _BLUE, "Words", ""),
        (_RED + _RED + _ALT + _BLUE, "Words", ""),
        (_RED + f'<meta property="og:image:secure_url" content="{RED}">' + _ALT + _BLUE, "Words", ""),
        (_RED + _BLUE + '<meta name="twitter:image:alt" content="Words">', "Words", ""),
        (f'<meta name="twitter:image" content="{RED}">' + _BLUE.replace("og:", "twitter:") + _ALT, "Words", "Words"),
    ],
)
def test_a_description_belongs_to_the_picture_before_it(head: str, red: str, blue: str) -> None:
    assert read(f"{head}<title>t</title>").pictures == (PagePicture(RED, red), PagePicture(BLUE, blue))


@pytest.mark.parametrize(
    ("written", "read_as"),
    [
        ("2024-02-03T10:00:00+01:00", "2024-02-03T09:00:00+00:00"),
        ("2024-02-03", "2024-02-03T00:00:00+00:00"),
        ("Sat, 03 Feb 2024 10:00:00 +0100", "2024-02-03T09:00:00+00:00"),
        ("Sat, 03 Feb 2024 10:00:00 GMT", "2024-02-03T10:00:00+00:00"),
        ("2024-02-30T10:00:00Z", None),
        ("Oct 20, 2025", None),
        ("1707000000", None),
    ],
)
def test_the_date_of_an_article_is_read_if_it_is_unambiguous(written: str, read_as: str | None) -> None:
    found = read(f'<meta property="article:published_time" content="{written}"><title>t</title>').published_at
    assert (found.isoformat() if found else None) == read_as


@pytest.mark.parametrize(
    "head",
    [
        '<meta property="twitter:title" content="Right"><title>t</title>',
        '<meta name="twitter:title" content="Right"><title>t</title>',
        '<meta name="og:title" content="Right"><title>t</title>',
        '<meta property="og:title" content=""><meta name="twitter:title" content="Right"><title>t</title>',
        '<meta property="og:title" content=" "><title>Right</title>',
        '<meta property="og:title" content="&#160;"><meta property="og:title" content="Right"><title>t</title>',
        '<meta property="og:title" content="Right"><meta property="og:title" content="Wrong"><title>t</title>',
        "<svg><title>of a drawing</title></svg><title>Right</title>",
        '<noscript><meta property="og:title" content="Right"></noscript><title>t</title>',
        '</head><body><meta property="og:title" content="Right">',
        '<script type="application/ld+json">{"@graph":[{"@type":["Article"],"headline":"Right"}]}</script><title>t</title>',
        '<script type="application/ld+json; charset=utf-8">{"@type":"Article","name":"Right"}</script><title>t</title>',
    ],
)
def test_the_title_of_a_page_is_found_in_all_its_places(head: str) -> None:
    assert read(head).title == "Right"


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("It&#039;s", "It's"),
        ("It&amp;#8217;s", "It’s"),
        ("More&amp;nbsp;words", "More words"),
        ("&laquo;x&raquo; &hellip;", "«x» …"),
        ("a &lt;b&gt; c", "a <b> c"),
    ],
)
def test_references_to_characters_are_read(written: str, shown: str) -> None:
    assert read(f'<meta property="og:title" content="{written}">').title == shown
    assert read(f"<title>{written}</title>").title == shown


def test_a_long_title_ends_between_characters() -> None:
    title = read(f"<title>{'日' * 3000}</title>").title
    assert set(title) == {"日"}


def test_a_page_in_utf_8_that_says_only_its_language_is_read_as_utf_8() -> None:
    page = '<html lang="zh-Hant-TW"><head><title>蘋果技術</title>'.encode()
    assert read_page(page, "text/html", URL).title == "蘋果技術"


def test_the_valid_values_of_a_partly_invalid_oembed_document_are_used() -> None:
    found = read_embed(
        b'{"type":"photo","url":"https://a.example/p.png","title":5,"author_name":null}', Preview(title="x")
    )
    assert (found.title, found.type, found.pictures) == ("x", "photo", (PagePicture("https://a.example/p.png"),))
    latin = '<?xml version="1.0" encoding="iso-8859-1"?><oembed><title>Bär</title></oembed>'.encode("latin-1")
    assert read_embed(latin, Preview()).title == "Bär"
    assert read_embed(b"<html><p>not found", Preview(title="x")).title == "x"


@pytest.mark.parametrize(
    "author", ['"Ann"', '{"name":"Ann"}', '[{"name":"Ann"},{"name":"Bo"}]', '{"name":{"@type":"Person","name":"Ann"}}']
)
def test_the_author_of_an_article_is_named_however_it_is_written(author: str) -> None:
    script = f'<script type="application/ld+json">{{"@type":"Article","headline":"H","author":{author}}};</script>'
    assert read(script).author_name == "Ann"


def test_a_character_that_json_does_not_allow_does_not_cost_the_article() -> None:
    script = '<script type="application/ld+json">{"@type":"Article",\n"headline":"A\nlong\ttitle\x01"}</script>'
    assert read(script).title == "A long title"


_ARTICLE = (
    '{"@context":"https://schema.org","@type":"NewsArticle","headline":"H","author":{"@type":"Person","name":"A"},'
    '"publisher":{"name":"P"}}'
)


@pytest.mark.parametrize(
    ("start", "end"),
    [
        ("<!--//--><![CDATA[//><!--\n", "\n//--><!]]>"),
        ("\n<!--//--><![CDATA[// ><!--\n", "\n//--><!]]>\n"),
        ("/* <![CDATA[ */\n", "\n/* ]]> */"),
        ("<!--\n", "\n//-->"),
        ("\ufeff\xa0", "\xa0;"),
        ("[", "]"),
        ('{"@graph":', "}"),
    ],
)
def test_an_article_is_found_in_all_wrappings_that_content_management_systems_write(start: str, end: str) -> None:
    found = read(f'<title>t</title><script type="application/ld+json">{start}{_ARTICLE}{end}</script>')
    assert (found.title, found.author_name, found.provider_name) == ("H", "A", "P")


@pytest.mark.parametrize(
    ("kind", "title"),
    [
        ("http://schema.org/NewsArticle", "H"),
        ("schema:Article", "H"),
        ("LiveBlogPosting", "H"),
        ("https://schema.org/OpinionNewsArticle", "H"),
        ("BreadcrumbList", "t"),
    ],
)
def test_a_kind_of_article_is_known_by_its_full_name_and_by_its_end(kind: str, title: str) -> None:
    data = _ARTICLE.replace("NewsArticle", kind)
    assert read(f'<title>t</title><script type="application/ld+json">{data}</script>').title == title


@pytest.mark.parametrize("author", ['{"@id":"#a"}', '[{"@id":"#a"}]', '{"@id":"#a","name":"A"}'])
def test_author_and_publisher_may_be_other_items_of_the_graph(author: str) -> None:
    article = f'{{"@type":"Article","headline":"H","author":{author},"publisher":{{"@id":"#p"}}}}'
    others = '{"@type":"Person","@id":"#a","name":"A"},{"@type":"Organization","@id":"#p","name":"P"},{"@id":7}'
    found = read(f'<title>t</title><script type="application/ld+json">{{"@graph":[{article},{others}]}}</script>')
    assert (found.title, found.author_name, found.provider_name) == ("H", "A", "P")


def test_authors_without_an_id_are_not_resolved_in_the_graph() -> None:
    data = '[{"@type":"WebSite","name":"W"},{"@type":"Article","headline":"H","author":{},"publisher":{"@id":"#x"}}]'
    found = read(f'<title>t</title><script type="application/ld+json">{data}</script>')
    assert (found.title, found.author_name, found.provider_name) == ("H", "", "")


@pytest.mark.parametrize(
    "head",
    [
        '<script type="application/ld+json">{"@type":"Article","headline":{"@value":"x"}}</script><title>News</title>',
        '<script type="application/ld+json">{"@type":"Article","headline":["News"]}</script><title>other</title>',
        '<meta property="og:title" content="&#8203;"><meta name="twitter:title" content="News"><title>other</title>',
    ],
)
def test_a_title_that_is_no_text_does_not_hide_the_next(head: str) -> None:
    assert read(head).title == "News"


@pytest.mark.parametrize(
    "image",
    [
        '{"@id":"#p"}',
        '{"@type":"ImageObject","contentUrl":"/p.png"}',
        '[{"@type":"ImageObject","url":["/p.png"]}]',
        '["/p.png"]',
    ],
)
def test_the_picture_of_an_article_is_found_however_it_is_written(image: str) -> None:
    graph = (
        f'[{{"@type":"Article","headline":"a","image":{image}}},{{"@id":"#p","@type":"ImageObject","url":"/p.png"}}]'
    )
    found = read(f'<script type="application/ld+json">{{"@graph":{graph}}}</script>')
    assert found.pictures == (PagePicture("https://a.example/p.png"),)


@pytest.mark.parametrize(
    "language", ['"de"', '["de","en"]', '{"@type":"Language","name":"German","alternateName":"de"}']
)
def test_the_language_of_an_article_is_read_however_it_is_written(language: str) -> None:
    article = f'{{"@type":"Article","headline":"a","inLanguage":{language}}}'
    assert read(f'<script type="application/ld+json">{article}</script>').language == "de"


@pytest.mark.parametrize("written", ["@ann@b.example", "ann@b.example", "acct:ann@b.example"])
def test_a_page_names_its_author_by_an_address_in_any_form(written: str) -> None:
    assert read(f'<title>t</title><meta name="fediverse:creator" content="{written}">').creator == "ann@b.example"


def test_addresses_in_an_oembed_document_may_be_relative_to_it() -> None:
    page = Preview(title="t", embed_url="https://www.youtube.com/oembed?u=1")
    html = '"html":"<iframe src=\'//www.youtube.com/embed/x\'></iframe>"'
    found = read_embed(f'{{"type":"video",{html},"thumbnail_url":"/i.png"}}'.encode(), page)
    assert found.player_url == "https://www.youtube.com/embed/x"
    assert found.pictures == (PagePicture("https://www.youtube.com/i.png"),)
    assert not read_embed(b'{"type":"photo","url":"//[x","thumbnail_url":5}', page).pictures
