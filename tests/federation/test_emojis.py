"""Tests of custom emojis across servers: pictures of remote emojis are cached, and local emojis are sent with their
pictures.
"""

import io
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest
from PIL import Image

from accounts.copies.models import RemoteCopy
from accounts.emojis.models import CustomEmoji
from accounts.emojis.services import remote as emojis
from accounts.models import Account
from accounts.policies.staff import OPERATOR
from federation.remote.actors import fetch_actor
from moderation.policies.domain_rules import DomainRuleDraft
from moderation.services import domain_rules
from social.kernel import clock
from statuses.models import Status
from statuses.policies.polls import PollDraft
from tests.factories.accounts import make_remote, make_user
from tests.factories.recordings import moving_gif
from tests.factories.statuses import follow, make_remote_status, make_status, picture
from tests.federation.activities import deal, remote
from tests.federation.remote_server import Answer, RemotePerson, RemoteServer
from tests.support.client import Api
from tests.support.work import show, work

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("media_root")]
DOCUMENT = {"Accept": "application/activity+json"}


def tag(server: RemoteServer, name: str, file: str = "", body: bytes | None = None, **says: Any) -> dict[str, Any]:
    """Return an Emoji tag of a server, and let the server serve its picture."""
    path = f"files/{file or name}.png"
    server.pages[f"/{path}"] = Answer(body or picture(), "image/png")
    icon = {"type": "Image", "mediaType": "image/png", "url": server.uri(path)}
    return {"id": server.uri(f"emojis/{name}"), "type": "Emoji", "name": f":{name}:", "icon": icon} | says


def shown(entity: dict[str, Any]) -> list[str]:
    return [emoji["shortcode"] for emoji in entity["emojis"]]


def opened(media_root: Path, address: str) -> Any:
    answer = show(address)
    assert answer.status_code == 302, answer.content
    return Image.open(
        io.BytesIO((media_root / urlsplit(answer["Location"]).path.removeprefix("/system/")).read_bytes())
    )


def post_of(zoe: RemotePerson, note: dict[str, Any]) -> dict[str, Any]:
    assert deal(zoe, zoe.activity("Create", note)) == "done"
    entity: dict[str, Any] = Api().get(f"/api/v1/statuses/{Status.objects.get(uri=note['id']).id}").json()
    return entity


def test_remote_emojis_are_shown_in_every_place_that_supports_them(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account, media_root: Path
) -> None:
    profile = {
        "name": "Zoe :cat:",
        "attachment": [{"type": "PropertyValue", "name": "Pet", "value": ":dog:"}],
        "tag": [tag(elsewhere, "cat", body=moving_gif()), tag(elsewhere, "dog")],
    }
    elsewhere.serve(zoe.document() | profile)
    follow(alice, fetch_actor(zoe.uri))
    CustomEmoji.objects.create(shortcode="cat", domain="third.example", remote_url="https://third.example/cat.png")
    CustomEmoji.objects.create(shortcode="blob", image="emojis/blob.png")
    options = [{"type": "Note", "name": f":fish{number}:", "replies": {"totalItems": 0}} for number in (1, 2)]
    poll = {"type": "Question", "oneOf": options, "tag": [tag(elsewhere, f"fish{number}") for number in (1, 2)]}
    assert shown(post_of(zoe, zoe.note("<p>:blob: is only here</p>"))) == []
    asked = post_of(zoe, zoe.note("<p>Which?</p>", 2, **poll))
    assert (shown(asked), shown(asked["poll"])) == (["fish1", "fish2"], ["fish1", "fish2"])
    entity = post_of(
        zoe, zoe.note("<p>:bird:</p>", 3, summary=":egg:", tag=[tag(elsewhere, "bird"), tag(elsewhere, "egg")])
    )
    assert (shown(entity), shown(entity["account"])) == (["bird", "egg"], ["cat", "dog"])
    cat = entity["account"]["emojis"][0]
    assert cat["url"].startswith("http://social.localhost/media_proxy/emojis/")
    assert not any(path.startswith("/files") for path in elsewhere.gets()), "nobody has viewed the emojis yet"
    moving, still = opened(media_root, cat["url"]), opened(media_root, cat["static_url"])
    assert (moving.is_animated, still.format, getattr(still, "is_animated", False)) == (True, "PNG", False)
    assert elsewhere.gets().count("/files/cat.png") == 1


def test_a_remote_emoji_is_updated_when_its_server_reports_a_change(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account, media_root: Path
) -> None:
    follow(alice, fetch_actor(zoe.uri))
    old, new = ((clock.now() - timedelta(days=days)).isoformat() for days in (9, 2))
    first = post_of(zoe, zoe.note("<p>:cat:</p>", tag=[tag(elsewhere, "cat", updated=old)]))["emojis"][0]
    assert opened(media_root, first["url"]).size == (40, 30)
    post_of(zoe, zoe.note("<p>:cat:</p>", 2, tag=[tag(elsewhere, "cat", body=picture(20, 20), updated=old)]))
    assert opened(media_root, first["url"]).size == (40, 30), "the server states that the picture is unchanged"
    post_of(zoe, zoe.note("<p>:cat:</p>", 3, tag=[tag(elsewhere, "cat", body=picture(20, 20), updated=new)]))
    assert opened(media_root, first["url"]).size == (20, 20)
    assert RemoteCopy.objects.count() == 1, "the copy of the previous picture is removed"
    moved = post_of(
        zoe, zoe.note("<p>:cat:</p>", 4, tag=[tag(elsewhere, "cat", "other", picture(64, 64), updated=new)])
    )
    assert opened(media_root, moved["emojis"][0]["url"]).size == (64, 64)
    before = remote(zoe).version
    elsewhere.serve(zoe.document() | {"name": ":cat:", "tag": [tag(elsewhere, "cat", "third", updated=new)]})
    fetch_actor(zoe.uri)
    elsewhere.serve(zoe.document() | {"name": ":cat:", "tag": [tag(elsewhere, "cat", "fourth", updated=new)]})
    fetch_actor(zoe.uri)
    assert remote(zoe).version == before + 2, "a changed emoji raises the version of the profile"
    assert CustomEmoji.objects.count() == 1


@pytest.mark.parametrize("image_format", ["PNG", "AVIF", "WEBP"])
def test_an_animated_emoji_of_another_server_stays_animated(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account, media_root: Path, image_format: str
) -> None:
    follow(alice, fetch_actor(zoe.uri))
    frames = [Image.new("RGB", (32, 32), colour) for colour in ("red", "blue", "lime")]
    buffer = io.BytesIO()
    frames[0].save(buffer, image_format, save_all=True, append_images=frames[1:], duration=100)
    entity = post_of(zoe, zoe.note("<p>:aa:</p>", tag=[tag(elsewhere, "aa", body=buffer.getvalue())]))
    (emoji,) = entity["emojis"]
    assert opened(media_root, emoji["url"]).n_frames == 3
    assert getattr(opened(media_root, emoji["static_url"]), "n_frames", 1) == 1


def test_only_emojis_in_the_text_are_stored_up_to_the_limit_and_with_small_pictures(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(emojis, "EMOJIS_PER_SERVER", 3)
    follow(alice, fetch_actor(zoe.uri))
    large, photo = picture() + bytes(256 * 1024), picture(image_format="JPEG")
    tags: list[Any] = [tag(elsewhere, "aa", body=large), tag(elsewhere, "bb", body=photo), tag(elsewhere, "unwritten")]
    tags += ["cc", {"type": "Emoji"}, {"type": "Emoji", "name": ":cc:", "icon": {"url": "javascript:alert(1)"}}]
    tags += [{"type": "Emoji", "name": [":cc:"], "icon": [], "updated": 5}]
    entity = post_of(zoe, zoe.note("<p>:aa: :bb: :cc:</p>", tag=tags))
    assert shown(entity) == ["aa", "bb"]
    assert [show(emoji["url"]).status_code for emoji in entity["emojis"]] == [404, 404]
    assert shown(post_of(zoe, zoe.note("<p>:dd: :ee:</p>", 2, tag=[tag(elsewhere, "dd"), tag(elsewhere, "ee")]))) == [
        "dd"
    ]
    assert shown(post_of(zoe, zoe.note("<p>:ff: :dd:</p>", 3, tag=[tag(elsewhere, "ff"), tag(elsewhere, "dd")]))) == [
        "dd"
    ]


def test_emojis_of_a_server_whose_media_is_rejected_are_not_shown(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(domain_rules, "BATCH_SIZE", 1)
    elsewhere.serve(zoe.document() | {"name": ":aa:", "tag": [tag(elsewhere, "aa")]})
    follow(alice, fetch_actor(zoe.uri))
    entity = post_of(zoe, zoe.note("<p>:bb:</p>", tag=[tag(elsewhere, "bb")]))
    assert show(entity["emojis"][0]["url"]).status_code == 302
    CustomEmoji.objects.create(shortcode="aa", domain="good.example", remote_url="https://good.example/aa.png")
    draft = DomainRuleDraft(severity="noop", reject_media=True)
    domain_rules.create_rule(by=OPERATOR, domain=elsewhere.domain.partition(":")[0], draft=draft)
    work()
    assert list(CustomEmoji.objects.values_list("domain", flat=True)) == ["good.example"]
    assert not RemoteCopy.objects.exists()
    assert show(entity["emojis"][0]["url"]).status_code == 404
    fetch_actor(zoe.uri)
    assert shown(post_of(zoe, zoe.note("<p>:bb:</p>", 2, tag=[tag(elsewhere, "bb")]))) == []
    assert CustomEmoji.objects.count() == 1


def test_local_emojis_are_sent_with_their_pictures(media_root: Path) -> None:
    anna = make_user("anna", display_name="Anna :cat:").account
    moment = clock.now() - timedelta(days=3)
    for name, ending in (("cat", "gif"), ("dog", "webp"), ("fish", "png")):
        CustomEmoji.objects.create(shortcode=name, image=f"emojis/{name}.{ending}", updated_at=moment)
    off = CustomEmoji.objects.create(shortcode="off", image="emojis/off.png", disabled=True)
    theirs = CustomEmoji.objects.create(shortcode="dog", domain="x.example", remote_url="https://x.example/dog.png")
    status = make_status(anna, ":dog: :off:", poll=PollDraft(options=(":fish:", "meat"), expires_in=600))
    make_remote_status(make_remote(domain="x.example"), "<p>:dog:</p>")
    note = Api().get(f"/users/anna/statuses/{status.id}", headers=DOCUMENT).json()
    dog, fish = note["tag"]
    assert dog == {
        "id": f"http://social.localhost/emojis/{CustomEmoji.objects.get(shortcode='dog', domain=None).id}",
        "type": "Emoji",
        "name": ":dog:",
        "updated": clock.iso(moment),
        "icon": {
            "type": "Image",
            "mediaType": "image/webp",
            "url": "http://social.localhost/system/emojis/dog.webp",
        },
    }
    assert (fish["name"], fish["icon"]["mediaType"]) == (":fish:", "image/png")
    (cat,) = Api().get("/users/anna", headers=DOCUMENT).json()["tag"]
    assert (cat["name"], cat["icon"]["mediaType"]) == (":cat:", "image/gif")
    answer = Api().get(urlsplit(dog["id"]).path, headers=DOCUMENT)
    assert answer.json() == {
        "@context": [
            "https://www.w3.org/ns/activitystreams",
            {
                "toot": "http://joinmastodon.org/ns#",
                "Emoji": "toot:Emoji",
                "focalPoint": {"@container": "@list", "@id": "toot:focalPoint"},
            },
        ],
        **dog,
    }
    assert (answer["Content-Type"], answer["Cache-Control"]) == (
        "application/activity+json; charset=utf-8",
        "public, max-age=180",
    )
    assert Api().get(f"/emojis/{off.id}", headers=DOCUMENT).status_code == 200, "posts may still name it"
    assert Api().get(f"/emojis/{theirs.id}", headers=DOCUMENT).status_code == 404
    assert Api().get(urlsplit(dog["id"]).path, headers={"Accept": "text/html"}).status_code == 406
