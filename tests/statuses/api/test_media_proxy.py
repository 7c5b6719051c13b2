"""Tests of the proxy for remote files (contract, behaviours section 10)."""

import io
import tempfile
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from PIL import Image

from accounts.copies.models import CopyFailure, CopyFetch, RemoteCopy
from accounts.copies.services import removal as copy_removal
from accounts.copies.services.removal import trim_copies
from accounts.models import Account
from social.api import later
from social.api.limits import Rule
from social.kernel import clock
from social.kernel.media import storage
from social.kernel.refusals import load_refusals
from statuses.models import MediaAttachment, MediaType
from statuses.services.deleting import delete_status
from tests.factories.accounts import make_remote
from tests.factories.recordings import moving_gif, noise, photograph, sample
from tests.factories.statuses import follow, make_media, make_remote_media, make_remote_status, make_status, picture
from tests.federation.remote_server import Answer, RemoteServer
from tests.statuses.conftest import api_of
from tests.support.client import Api
from tests.support.work import show as _show
from tests.support.work import work

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("media_root")]


@pytest.fixture
def elsewhere(settings: Any) -> Iterator[RemoteServer]:
    """A server on this machine that serves files."""
    settings.FEDERATION_LOOPBACK = True
    with RemoteServer().running() as server:
        yield server


def _file(server: RemoteServer, body: bytes, content_type: str = "image/png", name: str = "a.png") -> str:
    server.pages[f"/{name}"] = Answer(body, content_type)
    return f"{server.url}/{name}"


def _attached(url: str, visibility: str = "public", **media: Any) -> MediaAttachment:
    status = make_remote_status(make_remote(), visibility=visibility)
    return make_remote_media(status, url, copied=False, **media)


def _entity(media: MediaAttachment, viewer: Account) -> dict[str, Any]:
    answer = api_of(viewer).get(f"/api/v1/statuses/{media.status_id}")
    [found] = answer.json()["media_attachments"]
    return dict(found)


def _shown(media_root: Path, answer: Any) -> bytes:
    assert answer.status_code == 302, answer.content
    return (media_root / urlsplit(answer["Location"]).path.removeprefix("/system/")).read_bytes()


def _asked(server: RemoteServer) -> list[str]:
    return [request.path for request in server.asked]


def test_a_remote_picture_is_fetched_and_encoded_once_when_first_requested(
    elsewhere: RemoteServer, alice: Account, media_root: Path
) -> None:
    media = _attached(_file(elsewhere, photograph(600, 800), "image/jpeg"))
    entity = _entity(media, alice)
    base = f"http://social.localhost/media_proxy/{media.id}"
    assert entity["url"].startswith(f"{base}/original?key=")
    assert entity["preview_url"].startswith(f"{base}/small?key=")
    assert (entity["remote_url"], elsewhere.asked) == (media.remote_url, [])
    first = _show(entity["url"])
    original = Image.open(io.BytesIO(_shown(media_root, first)))
    assert (original.size, dict(original.getexif())) == ((800, 600), {}), (
        "the picture is rotated upright and its metadata removed"
    )
    assert first["Cache-Control"] == "public, max-age=600"
    small = Image.open(io.BytesIO(_shown(media_root, _show(entity["preview_url"]))))
    assert small.size == (554, 416), "about 230,400 pixels"
    assert _asked(elsewhere) == ["/a.png"], "both versions come from one fetch"
    part = Api().get(urlsplit(first["Location"]).path, headers={"Range": "bytes=0-9"})
    assert (part.status_code, len(b"".join(part.streaming_content))) == (206, 10)


def test_only_readers_of_a_post_see_its_files(elsewhere: RemoteServer, alice: Account) -> None:
    media = _attached(_file(elsewhere, picture()), "private")
    plain = f"/media_proxy/{media.id}/original"
    for outsider in (Api(), api_of(alice)):
        assert outsider.get(plain).status_code == 404
    assert elsewhere.asked == [], "nothing is fetched for users who cannot read the post"
    assert Api().get(f"{plain}?key=0123").status_code == 404
    follow(alice, media.account)
    # Pictures are requested without a token, because only readers of the post know the address.
    answer = _show(_entity(media, alice)["url"])
    assert (answer.status_code, answer["Cache-Control"]) == (302, "private, max-age=600")
    assert api_of(alice).get(plain).status_code == 302
    address = _entity(media, alice)["url"].removeprefix("http://social.localhost")
    delete_status(status_id=media.status_id, delete_media=False)
    assert Api().get(address).status_code == 404


def test_files_of_local_posts_have_an_address_too(alice: Account, bob: Account) -> None:
    media = [make_media(alice), make_media(alice), make_media(alice)]
    make_status(alice, media=[media[0]])
    make_status(alice, media=[media[1]], visibility="private")
    found = Api().get(f"/media/{media[0].id}")
    assert (found.status_code, found["Location"]) == (302, storage.url(media[0].file))
    for each in media[1:]:
        assert Api().get(f"/media/{each.id}").status_code == 404
        assert api_of(bob).get(f"/media/{each.id}").status_code == 404
    assert api_of(alice).get(f"/media/{media[1].id}").status_code == 302
    assert Api().get(f"/media_proxy/{media[0].id}/original").status_code == 404, "the file belongs to a local post"


@pytest.mark.parametrize(
    "content_type",
    ["", "application/octet-stream", "text/html", "text/plain", "application/json", "video/mp4", "nonsense"],
)
def test_a_file_is_recognised_by_its_first_bytes_not_by_its_declared_type(
    elsewhere: RemoteServer, alice: Account, content_type: str
) -> None:
    media = _attached(_file(elsewhere, picture(), content_type))
    assert _show(_entity(media, alice)["url"]).status_code == 302


@pytest.mark.parametrize("head", [b"<!doctype html><title>x</title>", b"%PDF-1.7 ", b"\x7fELF", b"words and words "])
def test_only_the_beginning_of_a_file_that_cannot_be_shown_is_fetched(
    elsewhere: RemoteServer, head: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[int] = []
    write = tempfile.SpooledTemporaryFile.write
    monkeypatch.setattr(
        tempfile.SpooledTemporaryFile, "write", lambda file, data: written.append(len(data)) or write(file, data)
    )
    media = _attached(_file(elsewhere, head * 100_000, "image/png"))
    assert _show(f"/media_proxy/{media.id}/original").status_code == 404
    assert written == []


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"<svg xmlns='http://www.w3.org/2000/svg'><script/></svg>", "image/svg+xml"),
        (b"<!doctype html><script>alert(1)</script>", "image/png"),
        (b"#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n", "video/mp4"),
        (b"ffconcat version 1.0\nfile /etc/passwd\n", "video/mp4"),
        (picture()[:60], "image/png"),
        (sample("video/mp4")[:200], "video/mp4"),
        (b"", "image/png"),
    ],
    ids=["svg", "html", "playlist", "concat", "cut-picture", "cut-video", "empty"],
)
def test_row_10_only_pictures_videos_and_audio_files_are_shown(
    elsewhere: RemoteServer, media_root: Path, body: bytes, content_type: str
) -> None:
    media = _attached(_file(elsewhere, body, content_type))
    for _again in range(2):
        assert _show(f"/media_proxy/{media.id}/original").status_code == 404
    assert len(elsewhere.asked) == 1, "the file is not requested again immediately"
    [(_sender, _reason, number)] = load_refusals([RemoteCopy.objects.get().host])
    assert number == 1, "the refusal is counted for the operator"
    assert [path for path in media_root.rglob("*") if path.is_file()] == []


@pytest.mark.parametrize(
    "address",
    ["http://10.0.0.1/a.png", "http://169.254.169.254/latest/meta-data", "http://social.localhost/a.png", "ftp://a/b"],
)
def test_row_10_files_at_internal_addresses_are_not_fetched(elsewhere: RemoteServer, address: str) -> None:
    assert _show(f"/media_proxy/{_attached(address).id}/original").status_code == 404
    assert RemoteCopy.objects.get().failure == CopyFailure.REFUSED


def test_row_10_a_redirect_into_the_network_is_not_followed(elsewhere: RemoteServer) -> None:
    url = _file(elsewhere, b"")
    elsewhere.pages["/a.png"] = Answer(b"", status=302, headers={"Location": "http://169.254.169.254/"})
    assert _show(f"/media_proxy/{_attached(url).id}/original").status_code == 404


def test_a_missing_file_is_404_and_a_failing_server_is_retried_later(
    elsewhere: RemoteServer,
) -> None:
    missing = _attached(f"{elsewhere.url}/nothing.png")
    assert _show(f"/media_proxy/{missing.id}/original").status_code == 404
    broken = _attached(_file(elsewhere, b"", name="b.png"))
    elsewhere.pages["/b.png"] = Answer(b"", status=503)
    assert _show(f"/media_proxy/{broken.id}/original").status_code == 500
    _file(elsewhere, picture(), name="b.png")
    assert Api().get(f"/media_proxy/{broken.id}/original").status_code == 500
    RemoteCopy.objects.filter(url=broken.remote_url).update(retry_at=clock.now())
    assert _show(f"/media_proxy/{broken.id}/original").status_code == 302


def test_an_unreachable_server_delays_nobody(elsewhere: RemoteServer) -> None:
    gone = RemoteServer()
    gone.http.server_close()
    one, two = _attached(f"{gone.url}/1.png"), _attached(f"{gone.url}/2.png")
    assert _show(f"/media_proxy/{one.id}/original").status_code == 500
    assert Api().get(f"/media_proxy/{two.id}/original").status_code == 500, "the file is not even requested"
    assert _show(f"/media_proxy/{_attached(_file(elsewhere, picture())).id}/original").status_code == 302


def test_a_request_waits_for_the_file_without_a_thread(elsewhere: RemoteServer) -> None:
    media = _attached(_file(elsewhere, picture()))
    waits: list[later.Wait] = []
    address = f"/media_proxy/{media.id}/original"
    for _somebody in range(2):
        Api().client.get(address, **{later.KEY: waits})  # type: ignore[arg-type]  # no header, but the server's
    assert [wait.poll() for wait in waits] == [None, None]
    assert CopyFetch.objects.count() == 1
    work()
    assert [wait.poll().status_code for wait in waits] == [302, 302]  # type: ignore[union-attr]  # none waits
    assert len(elsewhere.asked) == 1, "many simultaneous requests cause one fetch"
    assert not CopyFetch.objects.exists()


def test_a_large_recording_is_stored_byte_for_byte(elsewhere: RemoteServer, alice: Account, media_root: Path) -> None:
    data = noise(1_100_000)
    media = _attached(_file(elsewhere, data, "audio/wav"))
    assert _shown(media_root, _show(_entity(media, alice)["url"])) == data


@pytest.mark.parametrize("content_type", ["video/mp4", "audio/ogg", "video/webm"])
def test_videos_and_audio_files_are_copied_unchanged(
    elsewhere: RemoteServer, alice: Account, media_root: Path, content_type: str
) -> None:
    body, kind = sample(content_type), MediaType(content_type.partition("/")[0])
    media = _attached(_file(elsewhere, body, content_type), type=kind)
    entity = _entity(media, alice)
    answer = _show(entity["url"])
    assert _shown(media_root, answer) == body
    assert Api().get(urlsplit(answer["Location"]).path)["Content-Type"] == content_type
    if kind == MediaType.VIDEO:
        assert Image.open(io.BytesIO(_shown(media_root, _show(entity["preview_url"])))).size == (96, 64)
    else:
        assert entity["preview_url"] is None
        assert Api().get(f"/media_proxy/{media.id}/small").status_code == 404


def test_the_preview_that_another_server_offers_is_shown(
    elsewhere: RemoteServer, alice: Account, media_root: Path
) -> None:
    cover = _file(elsewhere, picture(), name="cover.png")
    media = _attached(_file(elsewhere, b"large", "video/mp4"), type=MediaType.VIDEO, preview_remote_url=cover)
    assert Image.open(io.BytesIO(_shown(media_root, _show(_entity(media, alice)["preview_url"])))).size == (40, 30)
    assert _asked(elsewhere) == ["/cover.png"]


def test_profile_pictures_of_remote_accounts_are_served_by_this_server(
    elsewhere: RemoteServer, alice: Account, media_root: Path
) -> None:
    zoe = make_remote(avatar_remote_url=_file(elsewhere, moving_gif(), "image/gif"))
    entity = api_of(alice).get(f"/api/v1/accounts/{zoe.id}").json()
    moving = Image.open(io.BytesIO(_shown(media_root, _show(entity["avatar"]))))
    still = Image.open(io.BytesIO(_shown(media_root, _show(entity["avatar_static"]))))
    assert (moving.size, moving.is_animated, still.size, still.format) == ((400, 400), True, (400, 400), "PNG")  # type: ignore[attr-defined]  # WebP has it
    assert _asked(elsewhere) == ["/a.png"]
    assert entity["header"].endswith("/headers/original/missing.png"), "without a header the default one is shown"
    base = f"/media_proxy/accounts/{zoe.id}"
    assert Api().get(f"{base}/header").status_code == Api().get(f"{base}/nose").status_code == 404
    Account.objects.filter(id=zoe.id).update(suspended_at=clock.now())
    assert Api().get(entity["avatar"].removeprefix("http://social.localhost")).status_code == 404


def test_a_video_is_never_shown_as_a_profile_picture(elsewhere: RemoteServer, alice: Account) -> None:
    zoe = make_remote(avatar_remote_url=_file(elsewhere, sample("video/mp4"), "image/png"))
    entity = api_of(alice).get(f"/api/v1/accounts/{zoe.id}").json()
    assert _show(entity["avatar"]).status_code == 404


def test_guessed_addresses_are_rate_limited_and_addresses_from_entities_are_not(alice: Account, settings: Any) -> None:
    settings.RATE_LIMITS = True
    media = make_remote_media(make_remote_status(make_remote()))
    address = _entity(media, alice)["url"].removeprefix("http://social.localhost")
    plain = Api().client
    assert [plain.get(f"/media_proxy/{media.id}/original").status_code for _ in range(31)] == [302] * 30 + [429]
    assert {plain.get(address).status_code for _ in range(10)} == {302}
    assert Api().get("/api/v1/timelines/public")["X-RateLimit-Remaining"] == "299", (
        "requests for pictures of pages are not counted"
    )


@pytest.mark.parametrize("path", ["123/original", "accounts/123/avatar", "emojis/123/static", "x/original"])
def test_row_84_requests_for_missing_files_are_rate_limited(settings: Any, path: str) -> None:
    settings.RATE_LIMITS = True
    plain = Api().client
    assert [plain.get(f"/media_proxy/{path}").status_code for _ in range(31)] == [404] * 30 + [429]


def test_fetching_remote_files_is_rate_limited(
    elsewhere: RemoteServer, alice: Account, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("accounts.copies.viewsets.FETCHED_FILES", Rule("few_files", 1, 600, "address"))
    one, two = (_entity(_attached(_file(elsewhere, picture(), name=name)), alice)["url"] for name in ("1.png", "2.png"))
    settings.RATE_LIMITS = True
    assert [_show(address).status_code for address in (one, two, one, two)] == [302, 429, 302, 429]


def test_beyond_the_budget_the_least_recently_served_copies_are_removed(
    settings: Any, media_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(copy_removal, "_BATCH", 2)
    status = make_remote_status(make_remote())
    for number in range(5):
        make_remote_media(status, f"https://files.example/{number}.png")
    one = 2 * len(picture())
    for number, copy in enumerate(RemoteCopy.objects.order_by("id")):
        age = timedelta(days=10 if number == 2 else number)
        RemoteCopy.objects.filter(id=copy.id).update(served_at=clock.now() - age)
    settings.REMOTE_MEDIA_BUDGET = 5 * one
    assert trim_copies() == 0
    settings.REMOTE_MEDIA_BUDGET = 2 * one + 1
    assert trim_copies() == 3
    assert [copy.url[-5] for copy in RemoteCopy.objects.order_by("id")] == ["0", "1"]
    assert sum(path.stat().st_size for path in media_root.rglob("*") if path.is_file()) <= settings.REMOTE_MEDIA_BUDGET


def test_a_requested_copy_stays_longer(media_root: Path) -> None:
    media = make_remote_media(make_remote_status(make_remote()))
    day_ago = clock.now() - timedelta(days=1)
    RemoteCopy.objects.update(served_at=day_ago)
    assert Api().get(f"/media_proxy/{media.id}/small").status_code == 302
    assert RemoteCopy.objects.get().served_at > day_ago + timedelta(hours=23)


def test_copies_are_removed_with_the_post(media_root: Path, django_capture_on_commit_callbacks: Any) -> None:
    media = make_remote_media(make_remote_status(make_remote()))
    with django_capture_on_commit_callbacks(execute=True):
        delete_status(status_id=media.status_id, delete_media=True)
    assert not RemoteCopy.objects.exists()
    assert [path for path in media_root.rglob("*") if path.is_file()] == []
