"""Tests with the inputs of the field reports (`tests.support.field`), which are delivered by a remote server or uploaded."""

import io
import json
from typing import Any

import pytest

from accounts.models import Account
from accounts.services.remote_accounts import resolve_address
from federation.inbound.processing import act_upon
from federation.models import InboundActivity
from federation.remote.actors import fetch_actor
from moderation.models import Report
from social.kernel.media import images, recordings
from statuses.models import Mention, Status, StatusTag
from tests.factories.accounts import make_remote
from tests.factories.statuses import make_status
from tests.federation.activities import follow_of, introduced, stored
from tests.federation.remote_server import Answer, RemotePerson, RemoteServer, pair, post
from tests.statuses.services.cards import card_of, fetch_now, link_to
from tests.support import field
from tests.support.site import Site

pytestmark = [pytest.mark.django_db, field.needs_folder]


def sent(zoe: RemotePerson, activity: dict[str, Any] | bytes) -> str:
    """Send an activity, process it, and return its outcome."""
    assert zoe.send(activity).status_code == 202
    received = InboundActivity.objects.latest("id")
    act_upon(received.id)
    received.refresh_from_db()
    return received.outcome


def test_01_an_actor_whose_inbox_is_on_another_host_is_found(elsewhere: RemoteServer, alice: Account) -> None:
    with RemoteServer().running() as service:
        text = field.text_of("01").replace("https://blog.example", elsewhere.url)
        document = json.loads(text.replace("https://public-api.host.example", service.url))
        document["publicKey"]["publicKeyPem"] = pair()[1]
        elsewhere.serve(document)
        elsewhere.finger("ann", document["id"])
        account = fetch_actor(document["id"])
        assert (account.username, account.inbox_url) == ("ann", document["inbox"])


def test_02_a_post_that_its_activity_alone_addresses_is_public(zoe: RemotePerson, alice: Account) -> None:
    introduced(zoe, alice)
    assert sent(zoe, field.document_of("02", zoe.uri, alice.uri)) == "done"
    status = Status.objects.get(local=False)
    assert status.visibility == "public"
    assert Mention.objects.filter(status=status, account=alice).exists()


def test_03_a_report_that_names_a_post_reaches_staff(zoe: RemotePerson, alice: Account) -> None:
    status = make_status(alice)
    document = field.document_of("03", zoe.uri, alice.uri)
    document["object"] = document["object"].removesuffix("/1") + f"/{status.id}"
    assert sent(zoe, document) == "done"
    report = Report.objects.get()
    assert (report.target_account, report.status_ids, report.comment) == (alice, [status.id], "reason")


@pytest.mark.parametrize("content_type", ["application/octet-stream", "text/plain", ""])
def test_04_an_address_that_a_static_site_delegates_is_found(
    zoe: RemotePerson, alice: Account, content_type: str
) -> None:
    with RemoteServer().running() as own:
        own.domain = f"127.0.0.1:{own.http.server_port}"
        zoe.home.serve(zoe.document() | {"preferredUsername": "ann"})
        zoe.home.finger("ann", zoe.uri)
        text = json.dumps(field.finger()).replace("https://big.example/users/ann", zoe.uri)
        finger = text.replace("big.example", zoe.home.domain).encode()
        own.pages["/.well-known/webfinger"] = Answer(finger, content_type)
        found = resolve_address(f"ann@{own.domain}")
        assert found is not None
        assert (found.acct, found.uri) == (f"ann@{zoe.home.domain}", zoe.uri)


@pytest.mark.parametrize("name", field.PAGES)
def test_05_06_the_title_of_a_page_is_decoded_correctly(site: Site, name: str) -> None:
    status = link_to(make_remote(), site.show("/a", field.bytes_of(name)))
    fetch_now()
    card = card_of(status)
    assert (card["title"], card["description"]) == field.PAGES[name]


@pytest.mark.parametrize("name", ["07", "08", "16"])
def test_07_08_16_uploaded_pictures_keep_their_appearance(name: str) -> None:
    with images.process(io.BytesIO(field.bytes_of(name))) as picture:
        field.check_picture(name, picture.original.data)


def test_09_signature_headers_are_read_in_every_form(zoe: RemotePerson, alice: Account) -> None:
    for form in field.signature_headers():
        body = json.dumps(follow_of(zoe, alice)).encode()
        headers = zoe.headers("/inbox", body)
        headers["signature"] = field.signature_header(form, zoe.key_id, headers["signature"])
        assert post("/inbox", body, headers).status_code == 202, form
    assert stored() == len(field.signature_headers())


@pytest.mark.parametrize("number", ["10", "11"])
def test_10_11_files_and_tags_are_kept_in_the_forms_they_come_in(
    zoe: RemotePerson, alice: Account, number: str
) -> None:
    introduced(zoe, alice)
    note = zoe.note("<p>hello</p>", cc=[alice.uri]) | field.document_of(number, zoe.uri, alice.uri)
    assert sent(zoe, zoe.activity("Create", note)) == "done"
    status = Status.objects.get(local=False)
    files = list(status.media.order_by("position").values_list("type", "remote_url"))
    if number == "10":
        assert files == [
            ("image", zoe.home.uri("i.jpg")),
            ("image", zoe.home.uri("i.jpg")),
            ("video", zoe.home.uri("v.mp4")),
        ]
    else:
        assert Mention.objects.filter(status=status, account=alice).exists()
        assert StatusTag.objects.filter(status=status, tag__name="cats").exists()


def test_12_half_a_surrogate_pair_does_not_damage_the_other_text(zoe: RemotePerson, alice: Account) -> None:
    introduced(zoe, alice)
    text = field.text_of("12").replace("https://r.example/u/ann", zoe.uri).replace("https://r.example", zoe.home.url)
    assert sent(zoe, text.encode()) == "done"
    assert Status.objects.get(local=False).content == "cut \ufffd"


def test_14_the_author_of_a_page_with_wrapped_structured_data_is_shown(site: Site) -> None:
    status = link_to(make_remote(), site.show("/a", field.bytes_of("14")))
    fetch_now()
    card = card_of(status)
    assert (card["title"], card["author_name"]) == ("From JSON-LD", "A")


def test_17_a_video_with_non_square_pixels_has_its_displayed_size() -> None:
    data = field.bytes_of("17")
    with recordings.examine(io.BytesIO(data), "video/mp4") as examined:
        assert examined.meta["original"].items() >= {"width": 640, "height": 240}.items()


def test_every_recorded_input_has_a_test() -> None:
    numbers = "".join(name for name in globals() if name.startswith("test_"))
    assert [name for name in field.names() if f"_{name[:2]}_" not in numbers] == []
