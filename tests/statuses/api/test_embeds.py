"""Tests of embedding posts in other sites: oEmbed, frames, and metadata of pages."""

import re
from html import unescape
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Account, SiteSetting
from accounts.services.changing import change_account
from social.kernel import clock
from social.kernel.identity import forget_identity
from statuses.models import PreviewCard, StatusCard
from tests.factories.accounts import make_remote
from tests.factories.statuses import make_media, make_reblog, make_remote_status, make_status
from tests.support.client import Api
from tests.support.federation_server import needs_federation

pytestmark = pytest.mark.usefixtures("media_root")
HTML = {"Accept": "text/html"}


def oembed(url: str, **sizes: Any) -> Any:
    return Api().get("/api/oembed", {"url": url, **sizes})


def test_a_public_post_can_be_embedded_by_each_of_its_addresses(alice: Account) -> None:
    Account.objects.filter(id=alice.id).update(display_name="<Alice>")
    for visibility in ("public", "unlisted"):
        status = make_status(alice, "hello", visibility=visibility)
        page = f"http://social.localhost/@alice/{status.id}"
        for url in (page, f"{page}/", f"{alice.uri}/statuses/{status.id}", f"{page}/embed", f"{page}?x=1#y"):
            found = oembed(url).json()
            html = found.pop("html")
            assert found == {
                "type": "rich",
                "version": "1.0",
                "author_name": "<Alice>",
                "author_url": "http://social.localhost/@alice",
                "provider_name": "social.localhost",
                "provider_url": "http://social.localhost/",
                "cache_age": 86400,
                "width": 400,
                "height": None,
            }
            assert f'data-embed-url="{page}/embed"' in html
            assert f'<a href="{page}"' in html
            assert 'src="http://social.localhost/static/embed.js"' in html
            assert "<Alice>" not in html
    sized = oembed(page, maxwidth=300, maxheight="200", format="json").json()
    assert (sized["width"], sized["height"]) == (300, 200)


@pytest.mark.parametrize("name", ["maxwidth", "maxheight"])
@pytest.mark.parametrize(
    ("size", "reason"),
    [
        ("1" * 30, "must be less than or equal to 65535"),
        ("65536", "must be less than or equal to 65535"),
        ("-1", "must be greater than or equal to 0"),
    ],
)
def test_an_invalid_frame_size_is_refused(alice: Account, name: str, size: str, reason: str) -> None:
    page = f"http://social.localhost/@alice/{make_status(alice).id}"
    assert oembed(page, **{name: "65535"}).json()[name[3:]] == 65535
    answer = oembed(page, **{name: size})
    assert (answer.status_code, answer.json()["error"]) == (422, f"Validation failed: {name.capitalize()} {reason}")


def test_row_40_only_public_and_unlisted_posts_can_be_embedded(alice: Account) -> None:
    public = make_status(alice)
    hidden = [make_status(alice, visibility=visibility) for visibility in ("private", "direct")]
    boost, remote = make_reblog(alice, public), make_remote_status(make_remote())
    deleted = make_status(alice)
    type(deleted).objects.filter(id=deleted.id).update(deleted_at=clock.now(), version=2)
    ids = [status.id for status in (*hidden, boost, remote, deleted)]
    for number in (*ids, 1):
        for path in (f"/@alice/{number}", f"/users/alice/statuses/{number}"):
            assert oembed(f"http://social.localhost{path}").json() == {"error": "Record not found"}
            answer = Api().get(f"{path}/embed", headers=HTML)
            assert (answer.status_code, b"hello" in answer.content) == (404, False), path
    for url in (
        "",
        "nonsense",
        "http://[",
        "http://social.localhost/@alice",
        f"https://there.example/@alice/{public.id}",
    ):
        assert oembed(url).status_code == 404, url
    assert Api().get("/api/oembed").status_code == 404
    assert oembed(f"http://social.localhost/@bob/{public.id}").status_code == 404
    Account.objects.filter(id=alice.id).update(suspended_at=clock.now())
    assert oembed(f"http://social.localhost/@alice/{public.id}").status_code == 404
    assert Api().get(f"/@alice/{public.id}/embed", headers=HTML).status_code == 404


def test_only_the_embed_page_may_be_framed(alice: Account) -> None:
    status = make_status(alice, "hello <b>", media=[make_media(alice, "a plate")], spoiler_text="food & more")
    for path in (f"/@alice/{status.id}/embed", f"/users/alice/statuses/{status.id}/embed"):
        answer = Api().get(path, headers=HTML)
        text = answer.content.decode()
        assert answer.status_code == 200
        assert "frame-ancestors *" in answer["Content-Security-Policy"]
        assert "default-src 'none'" in answer["Content-Security-Policy"]
        assert "X-Frame-Options" not in answer
        assert "hello &lt;b&gt;" in text
        assert "food &amp; more" in text
        assert "<form" not in text
        assert Api().post(path).status_code == 405
    for path in (f"/@alice/{status.id}", "/@alice", f"/@alice/{status.id + 1}/embed"):
        assert "frame-ancestors 'none'" in Api().get(path, headers=HTML)["Content-Security-Policy"], path


def heads(path: str) -> dict[str, str]:
    text = Api().get(path, headers=HTML).content.decode()
    metas = re.findall(r'<meta (?:property|name)="([^"]+)" content="([^"]*)"', text)
    found = {name: unescape(value) for name, value in metas}
    link = re.search(r'<link rel="alternate" type="application/json\+oembed" href="([^"]*)"', text)
    return found | ({"oembed": unescape(link[1])} if link else {})


@needs_federation
def test_pages_describe_themselves_in_preview_metadata(alice: Account) -> None:
    Account.objects.filter(id=alice.id).update(display_name="Al <i>", note_html="<p>I write</p><p>much</p>")
    text = "one two\nthree " + "word " * 90
    status = make_status(alice, text, media=[make_media(alice, "a plate")])
    found = heads(f"/@alice/{status.id}")
    assert found["og:title"] == "Al <i> (@alice@social.localhost)"
    assert found["og:description"].startswith("one two three word")
    assert (len(found["og:description"]), found["og:description"][-1]) == (299, "…")
    assert found["og:url"] == f"http://social.localhost/@alice/{status.id}"
    assert found["og:image"].startswith("http://social.localhost/")
    assert (found["og:image:alt"], found["twitter:card"]) == ("a plate", "summary_large_image")
    assert Api().get(found["oembed"].removeprefix("http://social.localhost")).json()["version"] == "1.0"
    profile = heads("/@alice")
    assert (profile["og:type"], profile["og:description"]) == ("profile", "I write much")
    assert profile["profile:username"] == "alice@social.localhost"


@needs_federation
def test_content_behind_a_warning_is_in_no_preview(alice: Account) -> None:
    covered = make_status(alice, "the end", spoiler_text="spoiler", media=[make_media(alice, "a plate")])
    sensitive = make_status(alice, "look", sensitive=True, media=[make_media(alice, "a plate")])
    for status, description in ((covered, "spoiler"), (sensitive, "look")):
        found = heads(f"/@alice/{status.id}")
        assert (found["og:description"], found["twitter:card"]) == (description, "summary")
        assert found["og:image"].endswith("/thumbnail.png"), "the author has no picture"
        assert "og:image:alt" not in found or found["og:image:alt"] != "a plate"


@needs_federation
def test_a_profile_preview_shows_the_header_or_else_the_avatar_and_never_a_placeholder(alice: Account) -> None:
    status = make_status(alice, "hello")
    for header, avatar, of_profile, of_post in (
        ("", "", "/static/thumbnail.png", "/static/thumbnail.png"),
        ("", "a/face.png", "/a/face.png", "/a/face.png"),
        ("a/wide.png", "a/face.png", "/a/wide.png", "/a/face.png"),
    ):
        change_account(alice.id, header=header, avatar=avatar)
        profile, post = heads("/@alice"), heads(f"/@alice/{status.id}")
        assert (profile["og:image"].endswith(of_profile), post["og:image"].endswith(of_post)) == (True, True)
        assert profile["twitter:card"] == ("summary_large_image" if header else "summary")
    change_account(alice.id, header="", avatar="")
    SiteSetting.objects.create(key="site_thumbnail", value="site/of-staff.png")
    forget_identity()
    for path in ("/@alice", f"/@alice/{status.id}", "/about", "/"):
        assert heads(path)["og:image"].endswith("/site/of-staff.png"), path


@needs_federation
def test_the_preview_of_a_quote_shows_its_text_without_the_quoted_address(alice: Account) -> None:
    status = make_status(alice, "Look there", quoted_status_id=make_status(alice, "over here").id)
    page = Api().get(f"/@alice/{status.id}", headers=HTML).content.decode()
    assert heads(f"/@alice/{status.id}")["og:description"] == "Look there"
    assert "<title>alice: Look there" in page


@needs_federation
def test_a_page_shows_the_preview_of_a_link_with_the_host_it_leads_to(alice: Account) -> None:
    posts = [make_status(alice, f"https://xn--e1awd7f.com/{number}") for number in range(3)]
    for status in posts:
        card = PreviewCard.objects.create(
            url=f"https://xn--e1awd7f.com/{status.id}", title="<Title>", description="About"
        )
        StatusCard.objects.create(status=status, card=card, url=card.url)
    text = Api().get(f"/@alice/{posts[0].id}", headers=HTML).content.decode()
    assert "&lt;Title&gt;" in text
    assert ">xn--e1awd7f.com (" in text
    assert text.count('class="preview"') == 1
    with CaptureQueriesContext(connection) as captured:
        assert Api().get("/@alice", headers=HTML).content.decode().count('class="preview"') == 3
    assert len([query for query in captured.captured_queries if "statuses_previewcard" in query["sql"]]) == 1
