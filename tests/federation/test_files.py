"""Tests of metadata of files across servers: descriptions, sizes, durations, blurhashes, focal points and posters."""

import io
from typing import Any

import pytest

from accounts.copies.models import RemoteCopy
from accounts.models import Account
from federation.documents.notes import load_notes, note_document
from federation.remote.actors import fetch_actor
from social.kernel import clock
from statuses.models import MediaAttachment, Status
from statuses.queries.posts import load_posts
from statuses.services.media import MediaUpload, SentFile, upload_media
from tests.factories.accounts import make_user
from tests.factories.recordings import recording, sample
from tests.factories.statuses import follow, make_media, make_status, picture
from tests.federation.activities import deal
from tests.federation.remote_server import Answer, RemotePerson, RemoteServer
from tests.support.client import Api
from tests.support.work import show, work

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("media_root")]
BLUR = "U5D%7q$pfQ$p$qjufQjufQfQfQfQ$qjufQju"


def received(zoe: RemotePerson, *attachments: dict[str, Any], number: int = 1) -> list[dict[str, Any]]:
    """Return the files of a post that has just arrived, as clients get them."""
    note = zoe.note(number=number, attachment=list(attachments))
    assert deal(zoe, zoe.activity("Create", note)) == "done"
    return entities(Status.objects.get(uri=note["id"]))


def entities(status: Status) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = Api().get(f"/api/v1/statuses/{status.id}").json()["media_attachments"]
    return found


def test_the_metadata_that_another_server_states_for_files_is_shown(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    follow(alice, fetch_actor(zoe.uri))
    video = {
        "type": "Video",
        "mediaType": "video/mp4",
        "url": [{"type": "Link", "href": elsewhere.uri("a.mp4"), "mediaType": "video/mp4"}],
        "name": "shown where there is no summary",
        "summary": "a walk",
        "width": 640,
        "height": 480,
        "duration": "PT1M2.5S",
        "blurhash": BLUR,
        "focalPoint": [-0.42, 0.69],
        "icon": [{"type": "Image", "url": elsewhere.uri("poster.png")}],
    }
    sound = {"type": "Audio", "url": elsewhere.uri("a.mp3"), "name": "x" * 10_001, "duration": "PT2S", "blurhash": None}
    strange = {"type": "Document", "url": elsewhere.uri("a"), "duration": "forever", "focalPoint": [2, "x"], "icon": 5}
    endless = strange | {"duration": "P99999999D", "blurhash": "short", "width": -1, "height": 10**9, "name": 7}
    shown = received(zoe, video, sound, strange, endless)
    assert [file["type"] for file in shown] == ["video", "audio", "unknown", "unknown"]
    assert (shown[0]["description"], shown[0]["blurhash"]) == ("a walk", BLUR)
    assert shown[0]["preview_remote_url"] == elsewhere.uri("poster.png")
    size = {"width": 640, "height": 480, "size": "640x480", "aspect": 1.333333}
    assert shown[0]["meta"] == {"original": {**size, "duration": 62.5}, "focus": {"x": -0.42, "y": 0.69}}
    assert (shown[1]["meta"], len(shown[1]["description"])) == ({"original": {"duration": 2.0}}, 10_000)
    assert [(file["meta"], file["blurhash"], file["description"]) for file in shown[2:]] == [(None, None, None)] * 2


def test_pictures_without_stated_metadata_are_measured_on_arrival(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    follow(alice, fetch_actor(zoe.uri))
    elsewhere.pages["/a.png"] = Answer(picture(60, 30), "image/png")
    elsewhere.pages["/b"] = Answer(recording("mp4", "libx264"), "")
    bare = {"type": "Document", "mediaType": "image/png", "url": elsewhere.uri("a.png")}
    nameless = {"type": "Document", "url": elsewhere.uri("b")}
    received(zoe, bare, nameless)
    work()
    shown, moving = entities(Status.objects.get())
    assert shown["meta"]["original"] == {"width": 60, "height": 30, "size": "60x30", "aspect": 2.0}
    assert (shown["meta"]["small"]["size"], len(shown["blurhash"])) == ("60x30", 36)
    assert (moving["type"], moving["meta"]["original"]["width"]) == ("gifv", 96), "a video without sound is a gifv"
    asked = len(elsewhere.asked)
    received(zoe, bare, number=2)
    work()
    again = entities(Status.objects.order_by("id").last())[0]
    assert (again["meta"], again["blurhash"]) == (shown["meta"], shown["blurhash"])
    assert len(elsewhere.asked) == asked, "a file that is already stored is not fetched again"


def test_no_file_is_measured_when_the_budget_for_copies_is_used_up(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account, settings: Any
) -> None:
    follow(alice, fetch_actor(zoe.uri))
    settings.REMOTE_MEDIA_BUDGET = 0
    elsewhere.pages["/a.png"] = Answer(picture(60, 30), "image/png")
    received(zoe, {"type": "Document", "mediaType": "image/png", "url": elsewhere.uri("a.png")})
    work()
    assert (entities(Status.objects.get())[0]["meta"], RemoteCopy.objects.count()) == (None, 0)


def test_measured_metadata_takes_precedence_over_stated_metadata(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    follow(alice, fetch_actor(zoe.uri))
    elsewhere.pages["/a.png"] = Answer(picture(60, 30), "image/png")
    elsewhere.pages["/a.mp4"] = Answer(recording("mp4", "libx264"), "video/mp4")
    said = {"focalPoint": [0.5, 0.5], "blurhash": BLUR, "width": 600, "height": 600}
    named = {"type": "Document", "mediaType": "video/mp4", "url": elsewhere.uri("a.png"), **said}
    silent = {"type": "Document", "mediaType": "video/mp4", "url": elsewhere.uri("a.mp4")}
    for file in received(zoe, named, silent):
        assert file["type"] == "video"
        assert show(file["url"]).status_code == 302
    work()
    first, moving = entities(Status.objects.get())
    assert first["meta"]["original"] == {"width": 60, "height": 30, "size": "60x30", "aspect": 2.0}
    assert (first["type"], first["meta"]["focus"], first["blurhash"]) == ("image", {"x": 0.5, "y": 0.5}, BLUR)
    original = moving["meta"]["original"]
    assert (moving["type"], original["width"], original["duration"]) == ("gifv", 96, 1.0)


def test_a_file_is_measured_once_for_all_later_posts_and_edits(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    follow(alice, fetch_actor(zoe.uri))
    elsewhere.pages["/a"] = Answer(picture(60, 30), "image/png")
    elsewhere.pages["/b"] = Answer(b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml")
    bare = [{"type": "Image", "url": elsewhere.uri(path)} for path in ("a", "b")]
    received(zoe, *bare)
    work()
    said = {"mediaType": "video/mp4", "width": 600, "height": 600}
    received(zoe, *(file | said for file in bare), number=2)
    work()
    later = Status.objects.latest("id")
    note = zoe.note(number=2, attachment=[file | said | {"name": "a walk"} for file in bare])
    assert deal(zoe, zoe.activity("Update", note | {"updated": clock.now().isoformat()})) == "done"
    assert entities(later)[0]["description"] == "a walk"
    work()
    for status in Status.objects.all():
        first, second = entities(status)
        assert (first["type"], first["meta"]["original"]["size"]) == ("image", "60x30")
        assert second["type"] == "unknown"


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (b"<svg xmlns='http://www.w3.org/2000/svg'/>", "image/svg+xml"),
        (b"%!PS-Adobe-3.0 EPSF-3.0\n", "image/x-eps"),
        (b"II*\x00" + bytes(100), "image/tiff"),
        (b"%PDF-1.7\n" + bytes(100), "image/png"),
        (picture()[:60], "image/png"),
        (b"", "image/png"),
    ],
    ids=["svg", "eps", "tiff", "pdf", "cut", "empty"],
)
def test_a_file_that_cannot_be_shown_becomes_unknown(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account, body: bytes, content_type: str
) -> None:
    follow(alice, fetch_actor(zoe.uri))
    elsewhere.pages["/a"] = Answer(body, content_type)
    received(zoe, {"type": "Image", "url": elsewhere.uri("a"), "name": "a drawing"})
    work()
    (shown,) = entities(Status.objects.get())
    assert (shown["type"], shown["preview_url"], shown["remote_url"]) == ("unknown", None, elsewhere.uri("a"))
    assert shown["description"] == "a drawing"


def uploaded(account: Account, data: bytes, content_type: str, **more: Any) -> MediaAttachment:
    sent = SentFile(io.BytesIO(data), content_type)
    return upload_media(account_id=account.id, upload=MediaUpload(sent, **more))


def test_local_files_are_sent_with_all_known_metadata() -> None:
    anna = make_user("anna").account
    cover = SentFile(io.BytesIO(picture()), "image/png")
    drawn = make_media(anna, "a square")
    MediaAttachment.objects.filter(id=drawn.id).update(meta={**drawn.meta, "focus": {"x": -0.25, "y": 1.0}})
    silent = uploaded(anna, recording("mp4", "libx264"), "video/mp4")
    film = uploaded(anna, sample("video/mp4"), "video/mp4", description="a film")
    tone = uploaded(anna, sample("audio/mpeg"), "audio/mpeg", thumbnail=cover)
    work()
    tone.refresh_from_db()
    tone.meta["original"]["duration"] = 2.063673
    tone.save()
    posts = [make_status(anna, media=[MediaAttachment.objects.get(id=drawn.id), silent])]
    posts += [make_status(anna, media=[media]) for media in (film, tone)]
    notes = load_notes(load_posts([post.id for post in posts]))
    documents = [note_document(notes[post.id]) for post in posts]
    square, gifv, video, audio = (file for document in documents for file in document["attachment"])
    assert all({"blurhash", "focalPoint"} <= document["@context"][1].keys() for document in documents)
    assert (square["name"], square["width"], square["height"]) == ("a square", 40, 30)
    assert (square["focalPoint"], "icon" in square, "duration" in square) == ([-0.25, 1.0], False, False)
    for moving in (gifv, video):
        assert (moving["mediaType"], moving["width"], moving["duration"][:3]) == ("video/mp4", 96, "PT1")
        assert (moving["icon"]["type"], moving["icon"]["mediaType"]) == ("Image", "image/jpeg")
        assert len(moving["blurhash"]) == 36
    assert (video["name"], gifv["name"]) == ("a film", None)
    assert (audio["mediaType"], "width" in audio, audio["icon"]["mediaType"]) == ("audio/mpeg", False, "image/png")
    assert audio["duration"] == "PT2.063673S"
    assert [file["type"] for file in (square, gifv, video, audio)] == ["Document"] * 4
