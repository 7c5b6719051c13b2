"""Tests of previews of linked pages: fetched in the background, once for all posts."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
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


def test_a_post_shows_a_preview_from_the_metadata_of_the_page(stranger: Account, site: Site, media_root: Path) -> None:
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
    # Each post is streamed once more: the first two after the fetch, the third immediately.
    assert sorted(attached) == [first.id, second.id, third.id]


def test_a_page_is_fetched_again_after_two_weeks_and_known_values_stay(stranger: Account, site: Site) -> None:
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


def test_an_address_without_a_page_has_no_card_and_is_not_requested_for_a_day(stranger: Account, site: Site) -> None:
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


def test_a_failing_server_is_tried_three_times_and_delays_no_other(stranger: Account, site: Site) -> None:
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


def test_the_number_of_queued_pages_of_one_server_is_limited(
    stranger: Account, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(TERMS, "cards", replace(TERMS["cards"], waiting=3))
    for number in range(5):
        link_to(stranger, site.show(f"/{number}", "<title>x</title>"))
    work()
    assert CardFetch.objects.count() == 3


@pytest.mark.parametrize("address", ["http://127.0.0.1:1/", "http://10.1.2.3/", "http://[::1]/", "http://2130706433/"])
def test_row_10_previews_are_not_fetched_from_internal_addresses(stranger: Account, db: None, address: str) -> None:
    status = link_to(stranger, address)
    fetch_now()
    assert card_of(status) is None
    assert not PreviewCard.objects.exclude(title="").exists()


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_shortened_address_shows_the_page_to_which_it_redirects(stranger: Account, site: Site, status: int) -> None:
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


def test_row_04_a_page_that_is_sent_too_slowly_is_given_up(
    stranger: Account, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
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


def test_only_the_beginning_of_an_endless_page_is_read(stranger: Account, site: Site) -> None:
    link = site.show("/long", "<title>Long</title>" + "<p>words</p>" * 300_000)
    status = link_to(stranger, link)
    fetch_now()
    assert card_of(status)["title"] == "Long"


def test_failures_of_previews_are_counted_for_the_server(stranger: Account, site: Site) -> None:
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
