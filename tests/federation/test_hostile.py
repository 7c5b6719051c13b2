"""Tests that attacks by remote servers are refused without harm (security rows 4 to 9, 13, 19, 34)."""

import json
from typing import Any

import pytest
from django.test import Client

from accounts.models import Account, Block, Follow
from accounts.services.blocking import block_account, block_domain
from federation.documents.reading import parse
from federation.documents.received_actors import read_actor
from federation.documents.received_notes import read_note
from federation.models import InboundActivity
from federation.reasons import Rejected
from federation.remote.actors import fetch_actor
from federation.remote.fetching import fetch_document
from social.kernel.errors import KernelError
from statuses.models import Status
from tests.factories.accounts import make_account
from tests.factories.statuses import counts, follow, make_status
from tests.federation.activities import PUBLIC, deal
from tests.federation.remote_server import RemotePerson, RemoteServer, post
from tests.support.work import work

pytestmark = pytest.mark.django_db


def test_a_body_of_more_than_a_megabyte_is_not_read(zoe: RemotePerson, alice: Account) -> None:
    answer = zoe.send(b'{"x":"' + b"x" * (1 << 20) + b'"}')
    assert (answer.status_code, answer.content, InboundActivity.objects.count()) == (413, b"", 0)


@pytest.mark.parametrize(
    "body",
    [
        b" ",
        b"nonsense",
        b'{"a":' * 40 + b"1" + b"}" * 40,
        b'{"type":"Follow","actor":"https://a.example","x":[' + b"1," * 1000 + b"1]}",
        b'{"a":' * 5000 + b"1" + b"}" * 5000,
    ],
)
def test_a_malformed_document_is_a_bad_request(zoe: RemotePerson, alice: Account, body: bytes) -> None:
    assert (zoe.send(body).status_code, InboundActivity.objects.count()) == (400, 0)


@pytest.mark.parametrize(
    "body", [b"[]", b'"text"', b"{}", b"[{}]", b'{"type":7}', b'{"type":[]}', b'{"actor":"https://a.example"}']
)
def test_a_signed_document_that_is_no_activity_gets_202_and_is_not_stored(
    zoe: RemotePerson, alice: Account, body: bytes
) -> None:
    """Contract, federation section 11: 202 says nothing about the content, but the request must be signed."""
    assert (zoe.send(body).status_code, InboundActivity.objects.count()) == (202, 0)
    assert post("/inbox", body, {"host": "social.localhost"}).status_code == 401


def test_a_request_without_a_content_type_is_not_acceptable(zoe: RemotePerson, alice: Account) -> None:
    body = json.dumps(zoe.activity("Follow", alice.uri)).encode()
    for content_type, status in (("", 406), ("text/plain", 202)):
        headers = zoe.headers("/inbox", body)
        answer = Client(raise_request_exception=False).generic("POST", "/inbox", body, content_type, headers=headers)
        assert answer.status_code == status


def test_an_actor_cannot_send_activities_of_another_actor(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    """Security row 8: the signer must be the actor, and the object must belong to the actor."""
    mallory = elsewhere.person("mallory", key=2)
    follow(alice, fetch_actor(zoe.uri))
    follow(alice, fetch_actor(mallory.uri))
    note = elsewhere.serve(zoe.note())
    deal(zoe, zoe.activity("Create", note))
    stranger = RemoteServer()
    attempts = [
        zoe.activity("Create", zoe.note(number=2)),
        mallory.activity("Create", zoe.note(number=3)),
        mallory.activity("Create", mallory.note(number=4) | {"attributedTo": zoe.uri}),
        mallory.activity("Create", mallory.note(number=5) | {"id": stranger.uri("notes/1")}),
        mallory.activity("Delete", note["id"]),
        mallory.activity("Delete", zoe.uri),
        zoe.activity("Delete", note["id"]),
        mallory.activity("Update", zoe.document() | {"name": "Pwned"}),
        mallory.activity("Undo", zoe.activity("Follow", alice.uri)),
        zoe.activity("Follow", alice.uri),
    ]
    outcomes = [deal(mallory, attempt) for attempt in attempts]
    assert [outcome for outcome in outcomes if not outcome.startswith("rejected")] == []
    assert [(status.uri, status.is_deleted) for status in Status.objects.all()] == [(note["id"], False)]
    assert Account.objects.get(uri=zoe.uri).display_name == "Zoe"
    assert not Follow.objects.filter(target=alice).exists()


def test_an_actor_cannot_undo_activities_of_another_actor(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    """The attacker has performed the same actions; an Undo naming another actor's activity must not undo the attacker's own."""
    mallory, bob = elsewhere.person("mallory", key=2), make_account("bob")
    status = make_status(alice)
    uri = f"http://social.localhost/users/alice/statuses/{status.id}"
    done = [
        zoe.activity("Follow", alice.uri),
        zoe.activity("Like", uri),
        zoe.activity("Announce", uri, to=[PUBLIC]),
        zoe.activity("Block", bob.uri),
    ]
    for activity in done:
        assert deal(zoe, activity) == "done"
    for kind, about in (("Follow", alice.uri), ("Like", uri), ("Block", bob.uri)):
        assert deal(mallory, mallory.activity(kind, about)) == "done"
    for activity in done:
        deal(mallory, mallory.activity("Undo", activity["id"]))
        deal(mallory, mallory.activity("Undo", activity))
    deal(mallory, mallory.activity("Undo", {"id": done[2]["id"], "type": "Announce", "object": uri}))
    assert counts(status)[1:] == (1, 2)
    assert (Follow.objects.filter(target=alice).count(), Block.objects.filter(target=bob).count()) == (2, 2)


def test_signatures_inside_documents_are_not_trusted(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    """Security row 9: a forwarded post is fetched from its origin, whatever signature the document contains."""
    relay = elsewhere.person("relay", key=2)
    question = make_status(alice)
    uri = f"http://social.localhost/users/alice/statuses/{question.id}"
    elsewhere.serve(zoe.note("<p>true</p>", inReplyTo=uri))
    forged = zoe.activity("Create", zoe.note("<p>forged</p>", inReplyTo=uri)) | {
        "signature": {"type": "RsaSignature2017", "creator": zoe.key_id, "signatureValue": "AA=="}
    }
    deal(relay, forged)
    assert Status.objects.get(local=False).content == "<p>true</p>"


def test_a_forwarded_deletion_counts_only_if_the_origin_confirms_it(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account
) -> None:
    relay = elsewhere.person("relay", key=2)
    follow(alice, fetch_actor(zoe.uri))
    note = elsewhere.serve(zoe.note())
    deal(zoe, zoe.activity("Create", note))
    deal(relay, zoe.activity("Delete", note["id"]))
    assert not Status.objects.get().is_deleted
    elsewhere.pages.clear()
    deal(relay, zoe.activity("Delete", note["id"]))
    assert Status.objects.get().is_deleted


def test_a_suspended_sender_may_only_undo_and_delete(zoe: RemotePerson, alice: Account) -> None:
    deal(zoe, zoe.activity("Follow", alice.uri))
    activity = zoe.activity("Undo", zoe.activity("Follow", alice.uri))
    from social.kernel import clock

    Account.objects.filter(uri=zoe.uri).update(suspended_at=clock.now())
    before = InboundActivity.objects.count()
    assert zoe.send(zoe.activity("Create", zoe.note(to=[alice.uri]))).status_code == 202
    assert InboundActivity.objects.count() == before
    assert deal(zoe, activity) == "done"
    assert not Follow.objects.exists()


def test_a_post_that_may_not_be_read_cannot_be_liked_boosted_or_answered(zoe: RemotePerson, alice: Account) -> None:
    """Security row 19."""
    secret = make_status(alice, visibility="private")
    uri = f"http://social.localhost/users/alice/statuses/{secret.id}"
    assert deal(zoe, zoe.activity("Like", uri)).startswith("rejected")
    assert deal(zoe, zoe.activity("Announce", uri, to=[PUBLIC])).startswith("rejected")
    deal(zoe, zoe.activity("Create", zoe.note(inReplyTo=uri, to=[alice.uri])))
    assert Status.objects.get(local=False).in_reply_to_id is None


@pytest.mark.parametrize("whom", ["the account", "its server"])
def test_an_account_blocked_by_the_author_cannot_like_or_boost(zoe: RemotePerson, alice: Account, whom: str) -> None:
    """Security row 19; the post is public, so only the block forbids the action."""
    uri = f"http://social.localhost/users/alice/statuses/{make_status(alice).id}"
    account = fetch_actor(zoe.uri)
    if whom == "the account":
        block_account(account=alice, target=account)
    else:
        block_domain(account=alice, domain=str(account.domain))
    for kind in ("Like", "Announce"):
        assert deal(zoe, zoe.activity(kind, uri, to=[PUBLIC])).startswith("rejected"), kind
    assert not Status.objects.filter(account=account).exists()


def test_fetching_a_circle_of_replies_ends(elsewhere: RemoteServer, zoe: RemotePerson, alice: Account) -> None:
    """Security row 34."""
    follow(alice, fetch_actor(zoe.uri))
    ids = [zoe.note(number=number)["id"] for number in range(50)]
    for number in range(50):
        elsewhere.serve(zoe.note(number=number, inReplyTo=ids[(number + 1) % 50]))
    deal(zoe, zoe.activity("Create", zoe.note(number=99, inReplyTo=ids[0])))
    assert Status.objects.count() == 21


@pytest.mark.parametrize(
    "options",
    [
        pytest.param({"content_type": "application/json"}, id="a JSON file"),
        pytest.param({"content_type": "application/ld+json"}, id="JSON-LD of another kind"),
        pytest.param({"content_type": "text/plain"}, id="a text"),
        pytest.param({"content_type": "image/png"}, id="an upload"),
    ],
)
def test_documents_of_another_content_type_are_refused(
    elsewhere: RemoteServer, options: dict[str, Any], db: None
) -> None:
    """Security row 6."""
    elsewhere.serve(RemotePerson(elsewhere, "zoe").document(), **options)
    with pytest.raises(KernelError):
        fetch_document(elsewhere.uri("users/zoe"))


def test_a_document_is_accepted_only_from_the_address_in_its_id(elsewhere: RemoteServer, db: None) -> None:
    """Security rows 5 and 7."""
    with RemoteServer().running() as victim:
        target = victim.person("victim")
        elsewhere.serve(target.document(), "/users/victim")
        assert fetch_document(elsewhere.uri("users/victim"))["id"] == target.uri, (
            "the document was fetched again from its own address"
        )
        assert victim.gets() == ["/users/victim"]
        elsewhere.serve(target.document() | {"id": victim.uri("users/nobody")}, "/users/nobody")
        with pytest.raises(Rejected):
            fetch_document(elsewhere.uri("users/nobody"))
        # The victim's server redirects to the attacker's.
        elsewhere.serve(target.document() | {"id": victim.uri("users/moved")}, "/users/moved")
        victim.serve({}, "/users/moved", status=302, headers={"Location": elsewhere.uri("users/moved")})
        with pytest.raises(Rejected):
            fetch_document(victim.uri("users/moved"))


def test_documents_of_this_server_are_never_fetched(zoe: RemotePerson, alice: Account) -> None:
    with pytest.raises((Rejected, KernelError)):
        fetch_actor(alice.uri)
    with pytest.raises((Rejected, KernelError)):
        fetch_actor("http://social.localhost/users/nobody")


VALUES: list[Any] = [
    None,
    0,
    -1,
    1e308,
    True,
    "",
    "x",
    "\0",
    "\ud800",
    [],
    {},
    [[]],
    [None],
    [{}],
    {"id": 5},
    {"id": "x"},
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_no_value_in_any_member_of_a_document_causes_an_error(value: Any) -> None:
    home = RemoteServer()
    home.http.server_close()
    someone = RemotePerson(home, "zoe")
    actor = someone.document() | {
        name: []
        for name in ("icon", "image", "attachment", "alsoKnownAs", "attributionDomains", "suspended", "webfinger")
    }
    said = (
        "summary",
        "contentMap",
        "summaryMap",
        "nameMap",
        "tag",
        "attachment",
        "inReplyTo",
        "conversation",
        "sensitive",
    )
    said += ("updated", "likes", "shares", "replies", "oneOf", "interactionPolicy")
    note = someone.note() | {name: [] for name in said}
    for reader, document in ((read_actor, actor), (read_note, note)):
        for name in document:
            for shape in (value, [value], {"type": value, "id": value, "url": value, "name": value, "href": value}):
                try:
                    reader(document | {name: shape})
                except Rejected:
                    continue
    for kind in ("Mention", "Hashtag", "Emoji", "Document", "Image", "PropertyValue"):
        names = ("href", "name", "url", "mediaType", "blurhash", "value", "duration", "icon", "focalPoint", "width")
        parts = [{"type": kind} | dict.fromkeys(names, value)]
        read_note(note | {"tag": parts, "attachment": parts})
        read_actor(actor | {"tag": parts, "attachment": parts, "icon": parts})
    for icon in (value, {"url": value}, {"url": "https://files.example/cc.png"}):
        emoji = {"type": "Emoji", "name": ":cc:", "icon": icon, "updated": value, "id": value}
        read_note(note | {"content": ":cc:", "tag": [emoji]})
        read_actor(actor | {"summary": ":cc:", "tag": [emoji]})


def test_no_activity_stops_later_activities_of_its_sender(zoe: RemotePerson, alice: Account) -> None:
    """Invalid activities are handled without an error, and the next activity of the same actor is processed."""
    strange = ["\0", "\ud83d", "x" * 5000, {"id": ["x"]}, [[[]]], {"type": "Follow", "object": {"object": {}}}]
    for kind in (
        "Follow",
        "Undo",
        "Create",
        "Like",
        "Announce",
        "Delete",
        "Accept",
        "Reject",
        "Block",
        "Update",
        "Add",
    ):
        for item in strange:
            zoe.send(json.dumps(zoe.activity(kind, item)).encode())
    work(200)
    assert not InboundActivity.objects.filter(processed_at=None).exists()
    assert not InboundActivity.objects.filter(outcome__startswith="failed").exists()
    assert deal(zoe, zoe.activity("Follow", alice.uri)) == "done"


def test_depth_and_length_of_documents_are_limited_without_recursion() -> None:
    assert parse(b'{"a":[1]}') == {"a": [1]}
    with pytest.raises(Rejected):
        parse(b'{"a":' + b"[" * 33 + b"]" * 33 + b"}")
    with pytest.raises(Rejected):
        parse(json.dumps({"a": list(range(1001))}).encode())
