"""Tests of a server with closed timelines or limited federation, and of archives and XML that attack their readers."""

import bz2
import gzip
import io
import lzma
import tarfile
import tracemalloc
import zipfile
from pathlib import Path
from typing import Any

import pytest

from accounts.emojis.models import CustomEmoji
from accounts.emojis.services.packs import Terms, UnreadablePack, import_emojis, read_archive
from accounts.policies.staff import OPERATOR
from accounts.services.audit import write_setting
from federation.remote.webfinger import place_in_host_meta
from tests.conformance.people import Person
from tests.factories.accounts import make_remote
from tests.factories.statuses import make_remote_status, picture
from tests.support.client import Api
from tests.support.federation_server import needs_federation
from timelines.queries import public

pytestmark = pytest.mark.django_db
PAGE = {"Accept": "text/html"}
DOCUMENT = {"Accept": "application/activity+json"}
FEEDS = ("live_feeds", "hashtag_feeds", "trending_link_feeds")


@needs_federation
@pytest.mark.parametrize("openness", ["authenticated", "disabled"])
def test_row_40_a_timeline_closed_to_clients_is_shown_by_no_page_feed_or_document(
    alice: Person, settings: Any, openness: str
) -> None:
    settings.LIMITED_FEDERATION = True
    post = alice.post("hidden here #garden")
    make_remote_status(make_remote("zoe"), "<p>hidden there</p>", tags=[("garden", "garden")])
    kept = [alice.post(f"hidden {name} #garden", visibility=name) for name in ("private", "direct")]
    write_setting("timelines_access", {feed: {"local": openness, "remote": openness} for feed in FEEDS})
    public.forget_access()
    for path in ("/api/v1/timelines/public", "/api/v1/timelines/tag/garden"):
        assert Api().get(path).status_code in (401, 422), "clients without a token see nothing"
    closed = [
        "/public",
        "/public/local",
        "/public/remote",
        "/tags/garden",
        "/tags/garden.rss",
        "/explore",
        "/explore/tags",
    ]
    closed += ["/explore/links", "/", "/about", "/manifest", "/robots.txt", "/nodeinfo/2.0", "/nodeinfo/2.1"]
    for status in kept:
        page = f"/@alice/{status['id']}"
        closed += [page, f"{page}/embed", f"{page}/interact", f"/api/oembed?url=http://social.localhost{page}"]
    for path in closed:
        assert "hidden" not in Api().get(path, headers=PAGE).content.decode(), path
    for path in ("/@alice", "/@alice/with_replies", "/@alice/media", "/@alice.rss", f"/@alice/{post['id']}"):
        shown = Api().get(path, headers=PAGE).content.decode()
        assert ("hidden private" in shown, "hidden direct" in shown) == (False, False), path
    for path in ("/users/alice", "/users/alice/outbox?page=true", f"/users/alice/statuses/{post['id']}", "/@alice"):
        assert Api().get(path, headers=DOCUMENT).status_code == 401, "documents are served only to allowed servers"
    usage = Api().get("/nodeinfo/2.0").json()["usage"]["users"]
    assert (usage["activeMonth"], usage["activeHalfyear"]) == (0, 0)


def _tar(name: str, data: bytes, **pax: str) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w", format=tarfile.PAX_FORMAT, pax_headers=pax) as pack:
        entry = tarfile.TarInfo(name)
        entry.size = len(data)
        pack.addfile(entry, io.BytesIO(data))
    return file.getvalue()


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lambda data: lzma.compress(data, preset=0)])
def test_row_35_an_archive_that_unpacks_to_more_than_its_limit_is_refused_before_it_is_read(
    compress: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("accounts.emojis.services.packs.UNPACKED_LIMIT", 8 * 1024 * 1024)
    # Python reads such a header as a whole, whatever size it declares.
    bomb = compress(_tar("cat.png", b"", comment="a" * 24 * 1024 * 1024))
    assert len(bomb) < 1024 * 1024
    tracemalloc.start()
    try:
        with pytest.raises(UnreadablePack):
            list(read_archive(bomb))
        assert tracemalloc.get_traced_memory()[1] < 20 * 1024 * 1024
    finally:
        tracemalloc.stop()


def test_row_35_many_large_pictures_in_a_zip_are_refused_and_so_is_what_cannot_be_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("accounts.emojis.services.packs.UNPACKED_LIMIT", 1024 * 1024)
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for number in range(8):
            archive.writestr(f"{number}.png", b"\0" * 10_000_000)
    with pytest.raises(UnreadablePack):
        list(read_archive(file.getvalue()))
    damaged = bytearray(file.getvalue())
    damaged[damaged.index(b"PK\1\2") + 8] |= 1  # sets the flag "encrypted" in the archive's central directory
    for data in (bytes(damaged), b"", b"\x1f\x8b\0", b"BZh\0", b"\xfd7zXZ\0\0", b"PK\3\4", gzip.compress(b"x")[:-12]):
        with pytest.raises(UnreadablePack):
            list(read_archive(data))


def test_row_35_names_in_an_archive_cannot_lead_outside_of_it(settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path / "inner" / "media"
    settings.MEDIA_ROOT.mkdir(parents=True)
    for name in ("../../up.png", "/up.png", "a/../../../up.png", "..\\..\\up.png"):
        outcomes = [*import_emojis(by=OPERATOR, files=read_archive(_tar(name, picture())), terms=Terms(overwrite=True))]
        assert [outcome.result for outcome in outcomes if outcome.shortcode != "up"] == [], name
    assert set(CustomEmoji.objects.values_list("shortcode", flat=True)) == {"up"}
    assert [path for path in tmp_path.rglob("*") if path.is_file() and settings.MEDIA_ROOT not in path.parents] == []
    link = io.BytesIO()
    with tarfile.open(fileobj=link, mode="w") as pack:
        entry = tarfile.TarInfo("secret.png")
        entry.type, entry.linkname = tarfile.SYMTYPE, "/etc/passwd"
        pack.addfile(entry)
    assert list(read_archive(link.getvalue())) == []


ENTITIES = "".join(f'<!ENTITY e{number} "{f"&e{number - 1};" * 10}">' for number in range(1, 12))
XRD = '<XRD xmlns="http://docs.oasis-open.org/ns/xri/xrd-1.0"><Link rel="lrdd" template="https://a.example/{}?r={{uri}}"/></XRD>'


def test_row_35_a_document_type_definition_in_xml_is_ignored() -> None:
    assert place_in_host_meta(XRD.format("x").encode(), "acct:a@a.example") == "https://a.example/x?r=acct:a@a.example"
    bomb = f'<!DOCTYPE x [<!ENTITY e0 "{"a" * 1000}">{ENTITIES}]>'
    file = '<!DOCTYPE x [<!ENTITY f SYSTEM "file:///etc/passwd">]>'
    for prolog, name in ((bomb, "&e11;"), (file, "&f;")):
        found = place_in_host_meta((prolog + XRD.format(name)).encode(), "acct:a@a.example")
        assert found is None or len(found) < 100, name
        assert "root:" not in (found or "")
    for garbage in (b"", b"\0", b"<", b"\xff\xfe", b"<a" * 50_000, b"<a>" * 50_000):
        assert place_in_host_meta(garbage, "acct:a@a.example") is None
