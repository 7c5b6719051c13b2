"""Tests of changing the user's own profile, its pictures and texts, with `update_credentials` and with `/api/v1/profile`
(contract, parameters section 2).
"""

import base64
import io
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from PIL import Image

from accounts.models import Account, User
from accounts.services import profiles
from social.kernel.media.limits import ANIMATION_PIXELS
from tests.factories.recordings import saved
from tests.factories.statuses import make_status
from tests.support.client import Api
from tests.support.entities import check

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("media_root")]

UPDATE = "/api/v1/accounts/update_credentials"
PROFILE = "/api/v1/profile"
MEDIA = "http://social.localhost/system/"


def still(image_format: str = "PNG", size: tuple[int, int] = (64, 48), **options: Any) -> bytes:
    return saved(Image.new("RGB", size, "red"), image_format, **options)


def moving(image_format: str, frames: int = 3, size: tuple[int, int] = (60, 40)) -> bytes:
    drawn = [Image.new("RGB", size, (80 * number % 256, 10, 10)) for number in range(frames)]
    return saved(drawn[0], image_format, save_all=True, append_images=drawn[1:], duration=50, loop=0, lossless=True)


def file(data: bytes, name: str = "a.png", content_type: str = "image/png") -> SimpleUploadedFile:
    return SimpleUploadedFile(name, data, content_type)


def files(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*") if path.is_file())


def opened(root: Path, url: str) -> Image.Image:
    assert url.startswith(MEDIA), url
    image = Image.open(io.BytesIO((root / url.removeprefix(MEDIA)).read_bytes()))
    image.load()
    return image


def changed(api: Api, path: str = UPDATE, **fields: Any) -> dict[str, Any]:
    answer = api.upload("PATCH", path, **fields)
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()
    return found


def enormous(image_format: str = "PNG") -> bytes:
    """Return a picture of a few bytes that declares 30000 x 30000 pixels (WebP: 16383 x 16383, its maximum)."""
    if image_format == "JPEG":
        small = bytearray(still("JPEG"))
        begin = small.index(b"\xff\xc0") + 5
        small[begin : begin + 4] = struct.pack(">HH", 30_000, 30_000)
        return bytes(small)
    if image_format == "GIF":
        side = struct.pack("<HH", 30_000, 30_000)
        return b"GIF89a" + side + b"\x00\x00\x00,\0\0\0\0" + side + b"\0\x02\x02D\x01\0;"
    if image_format == "WEBP":
        frame = b"\x2f" + struct.pack("<I", 16_382 | 16_382 << 14) + b"\0" * 16
        chunk = b"VP8L" + struct.pack("<I", len(frame)) + frame
        return b"RIFF" + struct.pack("<I", 4 + len(chunk)) + b"WEBP" + chunk + b"\0" * (len(chunk) % 2)

    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", 30_000, 30_000, 1, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0")) + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    ("image_format", "extension"), [("JPEG", "jpg"), ("PNG", "png"), ("WEBP", "webp"), ("GIF", "png")]
)
def test_an_avatar_is_cut_to_a_square_and_a_header_keeps_its_form(
    api: Api, media_root: Path, image_format: str, extension: str
) -> None:
    kind = f"image/{image_format.lower()}"
    body = changed(
        api,
        avatar=file(still(image_format, (90, 60)), "a", kind),
        header=file(still(image_format, (3000, 1000)), "b", kind),
    )
    check("CredentialAccount", body)
    assert opened(media_root, body["avatar"]).size == (400, 400)
    assert opened(media_root, body["header"]).size == (1500, 500)
    assert (body["avatar_static"], body["header_static"]) == (body["avatar"], body["header"])
    assert {name.rpartition(".")[2] for name in files(media_root)} == {extension}
    assert Api().get(f"/api/v1/accounts/{body['id']}").json()["avatar"] == body["avatar"]


def test_a_small_header_is_not_enlarged(api: Api, media_root: Path) -> None:
    assert opened(media_root, changed(api, header=file(still(size=(600, 200))))["header"]).size == (600, 200)


@pytest.mark.parametrize(("image_format", "frames"), [("GIF", 3), ("WEBP", 3)])
def test_an_animated_picture_stays_animated_and_gets_a_still_version(
    api: Api, media_root: Path, image_format: str, frames: int
) -> None:
    kind = f"image/{image_format.lower()}"
    body = changed(api, avatar=file(moving(image_format), "a", kind), header=file(moving(image_format), "b", kind))
    for name in ("avatar", "header"):
        shown, first = opened(media_root, body[name]), opened(media_root, body[f"{name}_static"])
        assert (shown.format, getattr(shown, "n_frames", 1)) == (image_format, frames)
        assert (first.format, getattr(first, "n_frames", 1)) == ("PNG", 1)
        assert shown.size == first.size == ((400, 400) if name == "avatar" else (60, 40))


def test_an_avatar_may_be_sent_as_a_base64_data_url_in_a_form_or_in_json(api: Api, media_root: Path) -> None:
    written = f"data:image/png;base64,{base64.b64encode(still()).decode()}"
    for answer in (api.patch(UPDATE, {"avatar": written}), api.upload("PATCH", PROFILE, avatar=written)):
        assert answer.status_code == 200, answer.content
        assert opened(media_root, answer.json()["avatar"]).size == (400, 400)


def test_metadata_of_an_uploaded_picture_are_not_stored(api: Api, media_root: Path) -> None:
    exif = Image.Exif()
    exif[0x010E] = "my secret place"
    exif[0x0112] = 6  # the value of this orientation means "rotated by 90 degrees"
    data = still("JPEG", (60, 30), exif=exif, comment=b"my secret words") + b"PK\x03\x04 my secret archive"
    body = changed(api, header=file(data, "a.jpg", "image/jpeg"))
    assert opened(media_root, body["header"]).size == (30, 60)
    assert all(b"my secret" not in (media_root / name).read_bytes() for name in files(media_root))


def test_the_files_of_a_replaced_or_deleted_picture_are_removed(
    ann: User, api: Api, media_root: Path, django_capture_on_commit_callbacks: Any
) -> None:
    with django_capture_on_commit_callbacks(execute=True):
        changed(
            api, avatar=file(moving("GIF"), "a.gif", "image/gif"), header=file(still()), avatar_description="A face"
        )
    before = files(media_root)
    version = Account.objects.get(id=ann.account_id).version
    assert len(before) == 3
    with django_capture_on_commit_callbacks(execute=True):
        body = changed(api, avatar=file(still()))
    assert body["avatar_static"] == body["avatar"]
    assert len(files(media_root)) == 2
    assert not set(before[:2]) & set(files(media_root))
    for name in ("avatar", "header", "avatar"):
        with django_capture_on_commit_callbacks(execute=True):
            answer = api.delete(f"{PROFILE}/{name}")
        assert answer.status_code == 200
        check("CredentialAccount", answer.json())
        default = f"http://social.localhost/static/{name}s/original/missing.png"
        assert answer.json()[name] == answer.json()[f"{name}_static"] == default
    assert files(media_root) == []
    assert answer.json()["avatar_description"] == "A face"
    assert Account.objects.get(id=ann.account_id).version == version + 3


def test_a_deleted_picture_is_no_longer_shown_to_others(ann: User, api: Api) -> None:
    changed(api, avatar=file(still()))
    path = f"/api/v1/accounts/{ann.account_id}"
    assert "/system/" in Api().get(path).json()["avatar"]
    api.delete(f"{PROFILE}/avatar")
    assert "/system/" not in Api().get(path).json()["avatar"]


SPOOFED = "Validation failed: Avatar has contents that are not what they are reported to be"
INVALID = "Validation failed: Avatar content type is invalid, Avatar is invalid"
TOO_LARGE = "Validation failed: Avatar must be less than 8 MB, Avatar file size must be less than 8 MB"
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'


@pytest.mark.parametrize(
    ("data", "name", "kind", "error"),
    [
        (still()[:60], "a.png", "image/png", SPOOFED),
        (still("JPEG")[:200], "a.jpg", "image/jpeg", SPOOFED),
        (moving("GIF")[:40], "a.gif", "image/gif", SPOOFED),
        (b"no picture at all", "a.png", "image/png", SPOOFED),
        (b"plain words", "a.txt", "text/plain", INVALID),
        (b"", "a.txt", "text/plain", INVALID),
        (SVG, "a.svg", "image/svg+xml", INVALID),
        (SVG, "a.png", "image/png", INVALID),
        (b"RIFF\0\0\0\0WAVEfmt ", "a.png", "image/png", INVALID),
        (b"%PDF-1.4\n", "a.png", "image/png", INVALID),
        (still() + b"\0" * 9 * 2**20, "a.png", "image/png", TOO_LARGE),
        (enormous(), "a.png", "image/png", "Validation failed: 30000x30000 images are not supported"),
        (enormous("JPEG"), "a.jpg", "image/jpeg", "Validation failed: 30000x30000 images are not supported"),
        (enormous("GIF"), "a.gif", "image/gif", "Validation failed: 30000x30000 images are not supported"),
        (enormous("WEBP"), "a.webp", "image/webp", SPOOFED),
        (b"GIF89a<script>alert(1)</script>", "a.gif", "image/gif", SPOOFED),
        (still(), "a.html", "image/png", SPOOFED),
        (still(), "a.png.exe", "image/png", SPOOFED),
        (still("WEBP")[:30], "a.webp", "image/webp", SPOOFED),
    ],
)
@pytest.mark.parametrize("path", [UPDATE, PROFILE])
def test_a_file_that_is_no_picture_is_refused_and_not_stored(
    ann: User, api: Api, media_root: Path, path: str, data: bytes, name: str, kind: str, error: str
) -> None:
    answer = api.upload("PATCH", path, avatar=file(data, name, kind), header=file(still()), display_name="New")
    assert (answer.status_code, answer.json()["error"]) == (422, error)
    assert "avatar" in answer.json()["details"]
    assert files(media_root) == []
    assert Account.objects.get(id=ann.account_id).display_name == ""


POLYGLOTS = [
    ("a.png", lambda: still() + b"<?php system($_GET[0]); ?><script>alert(1)</script>"),
    ("a.jpg", lambda: still("JPEG", comment=b"<script>alert(1)</script>")),
    ("a.gif", lambda: moving("GIF") + b"PK\x05\x06" + b"\0" * 18),
    ("a.webp", lambda: still("WEBP", exif=b"Exif\0\0<script>alert(1)</script>")),
]


@pytest.mark.parametrize(("name", "made"), POLYGLOTS)
def test_row_1_data_hidden_in_a_picture_file_is_not_stored(
    api: Api, media_root: Path, name: str, made: Callable[[], bytes]
) -> None:
    changed(api, avatar=file(made(), name, "application/octet-stream"))
    kept = [(media_root / path).read_bytes() for path in files(media_root)]
    assert kept
    for data in kept:
        assert not any(word in data for word in (b"script", b"php", b"PK\x05\x06"))


def test_a_picture_whose_name_has_the_extension_of_another_format_is_accepted(api: Api, media_root: Path) -> None:
    for name in ("a.png", "a", "photo.heic", "dir/a.jpeg"):
        changed(api, avatar=file(still("JPEG"), name, "image/png"))
    assert {path.rpartition(".")[2] for path in files(media_root)} == {"jpg"}


def test_an_animation_that_takes_too_long_to_draw_is_refused(api: Api, media_root: Path) -> None:
    frames = ANIMATION_PIXELS // (400 * 400) + 1
    answer = api.upload("PATCH", UPDATE, avatar=file(moving("GIF", frames, (4, 4)), "a.gif", "image/gif"))
    assert answer.status_code == 422
    assert answer.json()["details"]["avatar"] == [
        {"error": "ERR_INVALID", "description": "Animations of this size are not supported"}
    ]
    assert files(media_root) == []


def test_text_in_place_of_a_picture_is_refused_and_an_empty_value_keeps_the_picture(api: Api, media_root: Path) -> None:
    shown = changed(api, avatar=file(still()))["avatar"]
    assert api.patch(UPDATE, {"avatar": "not a file"}).status_code == 400
    for nothing in ("", None):
        assert api.patch(UPDATE, {"avatar": nothing}).json()["avatar"] == shown
    assert len(files(media_root)) == 1


def test_all_errors_of_a_profile_are_listed_together(api: Api, media_root: Path) -> None:
    answer = api.upload("PATCH", UPDATE, avatar=file(b"words", "a.txt", "text/plain"), display_name="d" * 41)
    assert list(answer.json()["details"]) == ["display_name", "avatar_content_type", "avatar"]


def test_a_change_that_fails_after_processing_a_picture_leaves_no_files(
    ann: User, api: Api, media_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: Any, **__: Any) -> None:
        raise RuntimeError("the disk of the database is full")

    monkeypatch.setattr(profiles, "change_account", fail)
    answer = api.upload("PATCH", UPDATE, avatar=file(moving("GIF"), "a.gif", "image/gif"), header=file(still()))
    assert answer.status_code == 500
    assert files(media_root) == []
    assert Account.objects.get(id=ann.account_id).avatar == ""


def test_the_profile_endpoint_has_settings_for_tabs_and_no_source(ann: User, api: Api) -> None:
    answer = api.patch(
        PROFILE,
        {
            "display_name": "Ann",
            "note": "About #me",
            "show_media": False,
            "show_media_replies": False,
            "show_featured": False,
            "source": {"privacy": "private"},
            "fields_attributes": [{"name": "Site", "value": "https://example.org/"}],
        },
    )
    assert answer.status_code == 200, answer.content
    body = answer.json()
    check("Profile", body)
    assert body == api.get(PROFILE).json()
    assert (body["avatar"], body["header_static"]) == (None, None)
    assert (body["note"], body["fields"][0]["value"]) == ("About #me", "https://example.org/")
    assert "<p>About <a" in body["formatted_note"]
    assert "<a href" in body["formatted_fields"][0]["value"]
    shown = Api().get(f"/api/v1/accounts/{ann.account_id}").json()
    assert (shown["show_media"], shown["show_media_replies"], shown["show_featured"]) == (False, False, False)
    assert api.get("/api/v1/preferences").json()["posting:default:visibility"] == "public"


def test_the_profile_lists_the_hashtags_it_shows(api: Api) -> None:
    made = api.post("/api/v1/featured_tags", {"name": "gardens"}).json()
    assert api.get(PROFILE).json()["featured_tags"] == [made]


def test_a_featured_hashtag_without_posts_has_no_date_of_last_use(ann: User, api: Api) -> None:
    shown = api.post("/api/v1/featured_tags", {"name": "gardens"}).json()
    assert (shown["statuses_count"], shown["last_status_at"]) == ("0", None)
    post = make_status(ann.account, "In the #gardens")
    (shown,) = api.get("/api/v1/featured_tags").json()
    assert (shown["statuses_count"], shown["last_status_at"]) == ("1", post.created_at.date().isoformat())
    api.delete(f"/api/v1/statuses/{post.id}")
    (shown,) = api.get("/api/v1/featured_tags").json()
    assert (shown["statuses_count"], shown["last_status_at"]) == ("0", None)
