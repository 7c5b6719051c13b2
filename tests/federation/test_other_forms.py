"""Tests of further unusual forms in documents from other software: several objects, Links, empty lists, addresses, options,
languages.

Contract, federation sections 5 and 17.
"""

import json
from collections.abc import Callable
from typing import Any

import pytest

from accounts.models import Account, Follow
from accounts.services.remote_accounts import resolve_address
from federation.documents.received_notes import ReceivedNote, read_note
from federation.remote.actors import fetch_actor
from notifications.models import Notification
from statuses.models import Favourite, Poll, Status
from tests.factories.statuses import make_poll, make_status
from tests.federation.activities import PUBLIC, deal, introduced
from tests.federation.remote_server import Answer, RemotePerson, RemoteServer

HOME = "https://far.example"


def _note(**members: Any) -> ReceivedNote:
    return read_note({"id": f"{HOME}/notes/1", "type": "Note", "attributedTo": f"{HOME}/users/ann", **members})


@pytest.mark.django_db
def test_a_vote_for_several_options_may_be_one_activity(zoe: RemotePerson, alice: Account) -> None:
    """GoToSocial sends one Create with a Note for each option."""
    introduced(zoe, alice)
    poll = make_poll(alice, "tea", "milk", "sugar", multiple=True)
    votes = [
        {
            "id": f"{zoe.uri}#votes/{number}",
            "type": "Note",
            "name": name,
            "attributedTo": zoe.uri,
            "inReplyTo": f"{alice.uri}/statuses/{poll.status_id}",
            "to": alice.uri,
        }
        for number, name in enumerate(("tea", "nothing", "sugar"))
    ]
    assert "no such option" in deal(zoe, zoe.activity("Create", votes, to=alice.uri))
    poll.refresh_from_db()
    assert (poll.tallies, poll.voters_count) == ([1, 0, 1], 1)


@pytest.mark.django_db
def test_an_activity_may_be_about_several_posts(zoe: RemotePerson, alice: Account) -> None:
    introduced(zoe, alice)
    notes = [zoe.note(number=number) for number in (1, 2, 3)]
    assert deal(zoe, zoe.activity("Create", notes)) == "done"
    assert Status.objects.count() == 3
    assert deal(zoe, zoe.activity("Delete", [notes[0]["id"], {"type": "Tombstone", "id": notes[2]["id"]}])) == "done"
    assert Status.objects.get(deleted_at=None).uri == notes[1]["id"]


@pytest.mark.django_db
def test_of_several_objects_of_a_like_the_first_counts(zoe: RemotePerson, alice: Account) -> None:
    introduced(zoe, alice)
    one, other = make_status(alice), make_status(alice)
    assert deal(zoe, zoe.activity("Like", [f"{alice.uri}/statuses/{each.id}" for each in (one, other)])) == "done"
    assert Favourite.objects.get().status == one


@pytest.mark.django_db
def test_the_object_of_an_activity_may_be_a_link(zoe: RemotePerson, alice: Account) -> None:
    introduced(zoe, alice)
    status = make_status(alice)
    address = {"type": "Link", "href": f"{alice.uri}/statuses/{status.id}"}
    for kind in ("Like", "Announce"):
        assert deal(zoe, zoe.activity(kind, address, to=[PUBLIC])) == "done"
    assert (Favourite.objects.get().status, Status.objects.get(reblog_of__isnull=False).reblog_of) == (status, status)
    follow = zoe.activity("Follow", {"type": "Link", "href": alice.uri})
    assert deal(zoe, follow) == "done"
    assert Follow.objects.filter(target=alice).exists()
    assert deal(zoe, zoe.activity("Undo", {"type": "Link", "href": follow["id"]})) == "done"
    assert not Follow.objects.filter(target=alice).exists()


@pytest.mark.django_db
def test_a_post_without_addressing_has_the_addressing_of_its_activity(zoe: RemotePerson, alice: Account) -> None:
    introduced(zoe, alice)
    note = zoe.note(to=[], cc=[])
    assert deal(zoe, zoe.activity("Create", note, to=[PUBLIC], cc=[f"{zoe.uri}/followers"])) == "done"
    private = zoe.note(number=2, to=[], cc=[f"{zoe.uri}/followers"])
    assert deal(zoe, zoe.activity("Create", private, to=[PUBLIC])) == "done"
    assert list(Status.objects.order_by("id").values_list("visibility", flat=True)) == ["public", "private"]


@pytest.mark.django_db
@pytest.mark.parametrize(
    "tag",
    [
        {"name": "@alice@social.localhost"},
        {"name": "@Alice@SOCIAL.localhost", "href": None},
        {"href": "acct:alice@social.localhost"},
        {"id": "http://social.localhost/users/alice", "name": "Alice"},
        {"url": "http://social.localhost/@alice"},
    ],
)
def test_a_mention_may_name_a_local_account_by_its_address_alone(
    zoe: RemotePerson, alice: Account, tag: dict[str, Any]
) -> None:
    introduced(zoe, alice)
    assert deal(zoe, zoe.activity("Create", zoe.note(cc=[alice.uri], tag={"type": "Mention", **tag}))) == "done"
    assert Notification.objects.get(type="mention").account == alice


@pytest.mark.parametrize(
    "tag", [{"name": "@ann"}, {"name": "@ann@third.example"}, {"name": "hello"}, {"href": "acct:"}, {"name": None}]
)
def test_other_mentions_without_an_id_mention_nobody(tag: dict[str, Any]) -> None:
    assert [one for one in _note(tag={"type": "Mention", **tag}).mentioned if not one.startswith("acct:")] == []


@pytest.mark.parametrize(
    "options",
    [
        [{"type": "Note", "content": "tea"}, {"type": "Note", "content": " milk "}],
        [{"type": "Note", "name": "", "content": "tea"}, {"type": "Note", "name": "milk", "content": "x"}],
        [{"type": "Note", "nameMap": {"en": "tea"}}, {"type": "Note", "name": None, "contentMap": {"en": "milk"}}],
    ],
)
def test_options_of_a_poll_are_read_from_any_usual_member(options: list[Any]) -> None:
    poll = _note(type="Question", content="Which?", oneOf=options).poll
    assert poll is not None
    assert poll.options == ["tea", "milk"]


@pytest.mark.parametrize(
    ("members", "content", "language"),
    [
        ({"contentMap": {"de": None, "en": "Hi"}}, "Hi", "en"),
        ({"contentMap": {"de": "", "xx": 7, "en": "Hi"}}, "Hi", "en"),
        ({"content": "Hi", "contentMap": {"und": "Hi", "de": "Hi"}}, "Hi", "de"),
        ({"content": "Hi", "contentMap": {"und": "Hi", "de": "Hallo"}}, "Hi", None),
        ({"contentMap": {"qqq": "Hi", "de": "Hallo"}}, "Hi", None),
        ({"content": "Hi", "contentMap": {"de": None}, "language": {"identifier": "fr"}}, "Hi", "fr"),
        ({"content": "Hi", "contentMap": ["Hi"]}, "Hi", None),
    ],
)
def test_the_first_translation_with_a_text_is_shown(
    members: dict[str, Any], content: str, language: str | None
) -> None:
    found = _note(**members)
    assert (found.content, found.language) == (content, language)


@pytest.mark.parametrize("kind", ["as:Note", "https://www.w3.org/ns/activitystreams#Note", ["Object", "as:Note"]])
def test_a_type_may_have_a_namespace(kind: Any) -> None:
    assert _note(type=kind, content="Hi").content == "Hi"


def test_of_several_parents_the_first_with_an_id_counts() -> None:
    assert _note(inReplyTo=[None, {"type": "Note"}, {"href": f"{HOME}/notes/2"}, "x"]).in_reply_to == f"{HOME}/notes/2"
    assert _note(inReplyTo=[None, ""]).in_reply_to is None


def test_of_several_authors_the_one_on_the_server_of_the_post_counts() -> None:
    authors = ["https://other.example/users/bob", {"type": "Link", "href": f"{HOME}/users/eve"}]
    assert _note(attributedTo=authors).author_uri == f"{HOME}/users/eve"


@pytest.mark.parametrize("kind", ["unknown/unknown", "application/unknown", "*/*"])
def test_a_file_without_a_useful_media_type_is_recognised_by_its_extension(kind: str) -> None:
    described = {"type": "Document", "url": f"{HOME}/i.png", "mediaType": kind, "nameMap": {"en": "A cat"}}
    (found,) = _note(attachment=described).files
    assert (found.type, found.description) == ("image", "A cat")


@pytest.mark.django_db
@pytest.mark.parametrize("claimed", ["acct:{}", "@{}", "{}", "nonsense", "", ["acct:{}"]])
def test_an_actor_may_write_its_address_in_any_form(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account, claimed: Any
) -> None:
    address = f"zoe@{elsewhere.domain}"
    written = [each.format(address) for each in claimed] if isinstance(claimed, list) else claimed.format(address)
    elsewhere.serve(zoe.document() | {"webfinger": written})
    assert fetch_actor(zoe.uri).acct == address


@pytest.mark.django_db
@pytest.mark.parametrize("subject", ["ACCT:{}", " acct:{} ", "@{}"])
@pytest.mark.parametrize("namespace", [' xmlns="http://docs.oasis-open.org/ns/xri/xrd-1.0"', ""])
def test_webfinger_and_host_meta_files_of_static_sites_are_read_in_their_usual_forms(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account, subject: str, namespace: str
) -> None:
    address = f"zoe@{elsewhere.domain}"
    finger = elsewhere.fingers.pop(f"acct:{address}") | {"subject": subject.format(address)}
    elsewhere.pages["/static/zoe"] = Answer(json.dumps(finger).encode(), "text/plain")
    xrd = f'<XRD{namespace}><Link rel="lrdd" template="{elsewhere.uri("static/zoe")}?{{uri}}"/></XRD>'
    elsewhere.pages["/.well-known/host-meta"] = Answer(xrd.encode(), "text/plain")
    found = resolve_address(address)
    assert found is not None
    assert found.uri == zoe.uri


@pytest.mark.django_db
def test_options_without_a_name_are_read_from_their_content(zoe: RemotePerson, alice: Account) -> None:
    introduced(zoe, alice)
    question = zoe.note(type="Question", endTime="2100-01-01T00:00:00Z", anyOf=[{"content": "a"}, {"content": "b"}])
    assert deal(zoe, zoe.activity("Create", question)) == "done"
    assert Poll.objects.get().options == ["a", "b"]


@pytest.mark.django_db
@pytest.mark.parametrize("known", [True, False])
def test_a_reply_that_names_the_page_of_a_post_joins_its_thread(
    elsewhere: RemoteServer, zoe: RemotePerson, alice: Account, known: bool
) -> None:
    """Users who reply from their own sites use the address of the page (Bridgy, micro.blog, WordPress)."""
    introduced(zoe, alice)
    with RemoteServer().running() as third:
        yan = third.person("yan")
        parent = third.serve(yan.note("<p>parent</p>"))
        third.serve(parent, "/@yan/1")
        if known:
            introduced(yan, alice)
            assert deal(yan, yan.activity("Create", parent)) == "done"
        for number in (2, 3):
            reply = zoe.note(number=number, inReplyTo=parent["url"])
            assert deal(zoe, zoe.activity("Create", reply)) == "done"
        own = zoe.note(number=4, inReplyTo=f"{zoe.uri}/statuses/3")
        assert deal(zoe, zoe.activity("Create", own)) == "done"
    stored = Status.objects.get(uri=parent["id"])
    replies = Status.objects.filter(in_reply_to=stored)
    assert replies.count() == 2
    assert Status.objects.filter(thread_id=stored.thread_root_id).count() == 3
    assert stored.stat.replies_count == 2


@pytest.mark.django_db
@pytest.mark.parametrize("kind", ["EmojiReact", "Dislike", "View"])
def test_undoing_a_reaction_undoes_no_favourite_and_no_boost(zoe: RemotePerson, alice: Account, kind: str) -> None:
    """Akkoma and Pleroma send EmojiReact, PeerTube and Lemmy send Dislike, in addition to a Like of the same post."""
    introduced(zoe, alice)
    post = make_status(alice)
    uri = f"{alice.uri}/statuses/{post.id}"
    assert deal(zoe, zoe.activity("Like", uri)) == "done"
    assert deal(zoe, zoe.activity("Announce", uri, to=PUBLIC)) == "done"
    undone = zoe.activity(kind, uri, content="👍")
    assert "ignored" in deal(zoe, zoe.activity("Undo", undone))
    assert Favourite.objects.filter(status=post).exists()
    assert Status.objects.filter(reblog_of=post, deleted_at=None).exists()


@pytest.mark.parametrize("kind", ["Like", "Follow"])
@pytest.mark.parametrize("form", [str.upper, lambda host: f"{host}:80"])
def test_local_accounts_and_posts_are_found_however_the_host_is_written(
    zoe: RemotePerson, alice: Account, settings: Any, kind: str, form: Callable[[str], str]
) -> None:
    introduced(zoe, alice)
    post = make_status(alice)
    target = alice.uri if kind == "Follow" else f"{alice.uri}/statuses/{post.id}"
    assert target.startswith(f"http://{settings.WEB_DOMAIN}/")
    named = target.replace(settings.WEB_DOMAIN, form(settings.WEB_DOMAIN), 1)
    assert deal(zoe, zoe.activity(kind, named, to=[PUBLIC])) == "done"
    found = Favourite.objects.filter(status=post) if kind == "Like" else Follow.objects.filter(target=alice)
    assert found.count() == 1
