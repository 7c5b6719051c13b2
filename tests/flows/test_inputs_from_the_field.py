"""Tests with the inputs of field reports (`tests.support.field`) on a running server: sent by a simulated server, linked, and
uploaded. `tests/federation/test_field_inputs.py` tests the same inputs without a running server.
"""

import json
from collections.abc import Iterator
from typing import Any

import mastodon
import pytest
import requests

from tests.federation.remote_server import ACTIVITY, Answer, RemotePerson, RemoteServer
from tests.flows import people as flows
from tests.flows.people import Person, wait
from tests.support import field
from tests.support.instance import Instance
from tests.support.site import Site, serving

pytestmark = [pytest.mark.verify, field.needs_folder]

#: In seconds; these tests do not measure speed.
SECONDS = 60.0


@pytest.fixture(scope="module")
def server() -> Iterator[Instance]:
    with Instance(FEDERATION_LOOPBACK="yes") as running:
        yield running


@pytest.fixture(scope="module")
def person(server: Instance) -> Person:
    return Person(server, "fielda")


@pytest.fixture(scope="module")
def person_uri(person: Person) -> str:
    return f"{person.server.base_url}/users/fielda"


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[RemoteServer]:
    with RemoteServer().running() as running:
        yield running


@pytest.fixture(scope="module")
def ann(elsewhere: RemoteServer, person: Person) -> RemotePerson:
    """A remote user, whom the local user follows."""
    ann = elsewhere.person("ann")
    (account,) = person.client.account_search(f"ann@{elsewhere.domain}", resolve=True)
    person.client.account_follow(account.id)
    asked = wait(lambda: next((act for act in elsewhere.delivered() if act["type"] == "Follow"), None), SECONDS)
    send(person.server, ann, ann.activity("Accept", asked))
    wait(lambda: person.client.account_relationships(account.id)[0].following, SECONDS)
    return ann


@pytest.fixture(scope="module")
def pages() -> Iterator[Site]:
    with serving() as site:
        yield site


def send(server: Instance, someone: RemotePerson, activity: dict[str, Any] | bytes, form: str | None = None) -> None:
    """Sign an activity and post it to the server, which must accept it; `form` names a notation of the signature header."""
    body = activity if isinstance(activity, bytes) else json.dumps(activity).encode()
    headers = someone.headers("/inbox", body, host=f"localhost:{server.port}") | {"content-type": ACTIVITY}
    if form is not None:
        headers["signature"] = field.signature_header(form, someone.key_id, headers["signature"])
    answer = requests.post(f"{server.base_url}/inbox", data=body, headers=headers, timeout=30)
    assert answer.status_code == 202, answer.text


def arrives(person: Person, text: str) -> Any:
    return flows.arrives(person, text, SECONDS)


def mention_of(person: Person, uri: str) -> Any:
    """Return the post with this id as soon as the user is notified of the mention."""
    return wait(
        lambda: next((each.status for each in person.notifications("mention") if each.status.uri == uri), None), SECONDS
    )


def card_of(person: Person, link: str) -> Any:
    """Return the card of a post that links to a page, as soon as there is one."""
    # A plain address of this machine would not become a link.
    status = person.client.status_post(f"[look]({link})", content_type="text/markdown")
    return wait(lambda: person.client.status(status.id).card, SECONDS)


def test_01_an_actor_whose_inbox_is_on_another_host_is_found_followed_and_read(
    person: Person, elsewhere: RemoteServer
) -> None:
    with RemoteServer().running() as service:
        text = field.text_of("01").replace("https://blog.example", elsewhere.url).replace('"ann"', '"blog"')
        document = json.loads(text.replace("https://public-api.host.example", service.url))
        blog = RemotePerson(elsewhere, "blog")
        blog.uri, blog.key_id = document["id"], document["publicKey"]["id"]
        document["publicKey"]["publicKeyPem"] = blog.public_key
        elsewhere.serve(document)
        elsewhere.finger("blog", document["id"])
        (account,) = person.client.account_search(f"blog@{elsewhere.domain}", resolve=True)
        person.client.account_follow(account.id)
        (asked,) = wait(service.delivered, SECONDS)
        assert (asked["type"], asked["object"]) == ("Follow", document["id"])
        send(person.server, blog, blog.activity("Accept", asked))
        wait(lambda: person.client.account_relationships(account.id)[0].following, SECONDS)
        send(person.server, blog, blog.activity("Create", blog.note("<p>On bread</p>")))
        assert arrives(person, "On bread").account.id == account.id


def test_02_a_post_that_its_activity_alone_addresses_is_public(
    person: Person, person_uri: str, ann: RemotePerson
) -> None:
    document = field.document_of("02", ann.uri, person_uri)
    send(person.server, ann, document)
    assert mention_of(person, document["object"]["id"]).visibility == "public"


def test_03_a_report_that_names_a_post_reaches_staff(
    server: Instance, person: Person, person_uri: str, ann: RemotePerson
) -> None:
    scopes = "read write admin:read admin:write"
    token = server.create_account("judge", "--role", "Owner", "--token", scopes)["access_token"]
    staff = mastodon.Mastodon(access_token=token, api_base_url=server.base_url)
    status = person.client.status_post("reported")
    document = field.document_of("03", ann.uri, person_uri)
    document["object"] = status.uri
    send(server, ann, document)
    (report,) = wait(staff.admin_reports, SECONDS)
    assert (report.target_account.username, report.comment) == ("fielda", "reason")
    assert [each.id for each in report.statuses] == [status.id]


@pytest.mark.parametrize("content_type", ["application/octet-stream", "text/plain", ""])
def test_04_an_address_that_a_static_site_delegates_is_found(
    person: Person, elsewhere: RemoteServer, ann: RemotePerson, content_type: str
) -> None:
    with RemoteServer().running() as own:
        text = json.dumps(field.finger()).replace("https://big.example/users/ann", ann.uri)
        finger = text.replace("big.example", elsewhere.domain).encode()
        own.pages["/.well-known/webfinger"] = Answer(finger, content_type)
        address = f"ann@127.0.0.1:{own.http.server_port}"
        (found,) = person.client.account_search(address, resolve=True)
        assert found.acct == f"ann@{elsewhere.domain}"
        assert [each.id for each in person.client.search_v2(address, resolve=True).accounts] == [found.id]


@pytest.mark.parametrize("name", field.PAGES)
def test_05_06_the_title_of_a_page_is_decoded_correctly(person: Person, pages: Site, name: str) -> None:
    card = card_of(person, pages.show(f"/{name}", field.bytes_of(name)))
    assert (card.title, card.description) == field.PAGES[name]


@pytest.mark.parametrize("name", ["07", "08", "16"])
def test_07_08_16_local_and_remote_pictures_keep_their_appearance(
    person: Person, elsewhere: RemoteServer, ann: RemotePerson, name: str
) -> None:
    data = field.bytes_of(name)
    uploaded = person.client.media_post(data, mime_type="image/png")
    field.check_picture(name, requests.get(uploaded.url, timeout=30).content)
    elsewhere.pages[f"/{name}.png"] = Answer(data, "image/png")
    file = {"type": "Document", "mediaType": "image/png", "url": elsewhere.uri(f"{name}.png")}
    note = ann.note(f"<p>picture {name}</p>", 100 + int(name), attachment=[file])
    send(person.server, ann, ann.activity("Create", note))
    (shown,) = arrives(person, f"picture {name}").media_attachments
    assert shown.type == "image"
    field.check_picture(name, requests.get(shown.url, timeout=30).content)


def test_09_signature_headers_are_read_in_every_form(person: Person, ann: RemotePerson) -> None:
    for number, form in enumerate(field.signature_headers()):
        note = ann.note(f"<p>signed in form {number}</p>", 200 + number)
        send(person.server, ann, ann.activity("Create", note), form)
        arrives(person, f"signed in form {number}")


def test_10_the_representation_of_a_file_that_can_be_shown_is_kept(
    person: Person, person_uri: str, ann: RemotePerson
) -> None:
    note = ann.note("<p>representations</p>", 10) | field.document_of("10", ann.uri, person_uri)
    send(person.server, ann, ann.activity("Create", note))
    files = arrives(person, "representations").media_attachments
    wanted = [("image", "i.jpg"), ("image", "i.jpg"), ("video", "v.mp4")]
    assert [(each.type, each.remote_url) for each in files] == [(kind, ann.home.uri(name)) for kind, name in wanted]


def test_11_tags_whose_type_is_a_list_are_kept(person: Person, person_uri: str, ann: RemotePerson) -> None:
    note = ann.note("<p>hello</p>", 11, cc=[person_uri]) | field.document_of("11", ann.uri, person_uri)
    send(person.server, ann, ann.activity("Create", note))
    status = mention_of(person, note["id"])
    assert [tag.name for tag in status.tags] == ["cats"]
    assert [mention.acct for mention in status.mentions] == ["fielda"]


def test_12_half_a_surrogate_pair_does_not_damage_the_other_text(person: Person, ann: RemotePerson) -> None:
    text = field.text_of("12").replace("https://r.example/u/ann", ann.uri).replace("https://r.example", ann.home.url)
    send(person.server, ann, text.encode())
    assert arrives(person, "cut ").content == "cut \ufffd"


def test_14_the_author_of_a_page_with_wrapped_structured_data_is_shown(person: Person, pages: Site) -> None:
    card = card_of(person, pages.show("/14", field.bytes_of("14")))
    assert (card.title, card.author_name) == ("From JSON-LD", "A")


def test_17_a_video_with_non_square_pixels_has_its_displayed_size(person: Person) -> None:
    uploaded = person.client.media_post(field.bytes_of("17"), mime_type="video/mp4")
    done = wait(lambda: person.client.media(uploaded.id).url and person.client.media(uploaded.id), SECONDS)
    assert (done.meta.original.width, done.meta.original.height) == (640, 240)


def test_every_input_is_sent() -> None:
    numbers = "".join(name for name in globals() if name.startswith("test_"))
    assert [name for name in field.names() if f"_{name[:2]}_" not in numbers] == []
