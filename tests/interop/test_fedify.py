"""Tests with a server built on Fedify's libraries, checked through the client API and the activities that Fedify received.

`make interop` runs them.
"""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.factories.statuses import picture
from tests.flows.people import Person
from tests.interop.fedify_server import Fedify, Someone, arrives, find, gone, pause
from tests.interop.node_server import wait
from tests.support.instance import Instance

pytestmark = pytest.mark.interop

PUBLIC = "https://www.w3.org/ns/activitystreams#Public"


#: The kind of signature that Fedify tries first, and whether the local server is in secure mode, where fetches must be signed
#: too. For RFC 9421, Fedify signs a target that includes the fragment of a key's address, although the fragment is never sent;
#: in secure mode such fetches fail, and Fedify falls back to the other kind.
SIGNATURES = {"rfc9421": "no", "draft-cavage-http-signatures-12": "yes"}


@pytest.fixture(scope="module", params=SIGNATURES)
def fedify(request: pytest.FixtureRequest) -> Iterator[Fedify]:
    with Fedify(request.param) as running:
        yield running


@pytest.fixture(scope="module")
def server(fedify: Fedify) -> Iterator[Instance]:
    with Instance(FEDERATION_LOOPBACK="yes", AUTHORIZED_FETCH=SIGNATURES[fedify.first_tried]) as running:
        yield running


@pytest.fixture(scope="module")
def anna(server: Instance) -> Person:
    return Person(server, "anna")


@pytest.fixture(scope="module")
def anna_uri(anna: Person) -> str:
    return f"{anna.server.base_url}/users/anna"


@pytest.fixture(scope="module")
def zoe(fedify: Fedify, anna: Person, anna_uri: str) -> Someone:
    """A user on Fedify's server, who has a mutual follow with Anna."""
    zoe = fedify.person("zoe")
    account = find(anna, zoe)
    anna.client.account_follow(account.id)
    wait(lambda: anna.client.account_relationships(account.id)[0].following)
    zoe.do("follow", target=anna_uri)
    wait(lambda: zoe.lists()["following"].get(anna_uri) == "accepted")
    return zoe


def test_follows_are_accepted_both_ways_and_counted(anna: Person, anna_uri: str, zoe: Someone) -> None:
    assert zoe.lists()["followers"] == [anna_uri]
    account = find(anna, zoe)
    relation = anna.client.account_relationships(account.id)[0]
    assert (relation.following, relation.followed_by) == (True, True)
    assert [item.account.acct for item in anna.notifications("follow")] == [zoe.address]
    assert account.display_name == "zoe of Fedify"
    # Fedify stores the accepted kind, and tries the other one only after a refusal.
    assert zoe.do("signatures", host=anna.server.base_url) == zoe.server.first_tried


def test_locked_accounts_on_both_servers_accept_follow_requests_later(
    anna: Person, fedify: Fedify, server: Instance
) -> None:
    locked = fedify.person("locked_lea")
    account = find(anna, locked)
    assert account.locked
    anna.client.account_follow(account.id)
    (request,) = wait(lambda: locked.lists()["requests"])
    assert anna.client.account_relationships(account.id)[0].requested
    locked.do("reject", who=request)
    wait(lambda: not anna.client.account_relationships(account.id)[0].requested)
    anna.client.account_follow(account.id)
    wait(lambda: locked.lists()["requests"])
    locked.do("accept", who=request)
    wait(lambda: anna.client.account_relationships(account.id)[0].following)
    carl = Person(server, "carl")
    carl.client.account_update_credentials(locked=True)
    carl_uri = f"{server.base_url}/users/carl"
    for answer, state in (
        (carl.client.follow_request_reject, "rejected"),
        (carl.client.follow_request_authorize, "accepted"),
    ):
        locked.do("follow", target=carl_uri)
        (asking,) = wait(carl.client.follow_requests)
        assert asking.acct == locked.address
        answer(asking.id)
        wait(lambda state=state: locked.lists()["following"].get(carl_uri) == state)


def test_local_posts_are_understood_with_all_their_parts(anna: Person, anna_uri: str, zoe: Someone) -> None:
    media = anna.client.media_post(picture(), mime_type="image/png", description="A red square")
    status = anna.client.status_post(
        f"@{zoe.address} look #fedify", media_ids=[media], language="en", spoiler_text="careful", sensitive=True
    )
    create = zoe.server.arrived("Create", lambda each: each["object"] == status.uri)
    note = create["understood"]
    assert (note["type"], note["attribution"], note["summary"], note["sensitive"]) == (
        "Note",
        anna_uri,
        "careful",
        True,
    )
    assert (note["to"], set(note["cc"])) == ([PUBLIC], {f"{anna_uri}/followers", zoe.uri})
    assert "look" in note["content"]
    assert note["languages"] == ["en"]
    assert note["canQuote"] == [PUBLIC]
    assert {(tag["type"], tag["name"]) for tag in note["tags"]} == {
        ("Mention", f"@{zoe.address}"),
        ("Hashtag", "#fedify"),
    }
    (file,) = note["attachments"]
    assert (file["type"], file["name"], file["mediaType"], file["width"]) == (
        "Document",
        "A red square",
        "image/png",
        40,
    )


def test_posts_of_a_fedify_server_are_shown_with_all_their_parts(anna: Person, anna_uri: str, zoe: Someone) -> None:
    posted = zoe.do(
        "post",
        text="<p>Hello <b>Anna</b> #fedify</p>",
        mention=anna_uri,
        image="a dot",
        warning="careful",
        language="en",
    )
    seen = arrives(anna, "Hello")
    assert (seen.uri, seen.account.acct, seen.visibility) == (posted["uri"], zoe.address, "public")
    assert (seen.spoiler_text, seen.sensitive, seen.language) == ("careful", True, "en")
    assert [mention.acct for mention in seen.mentions] == ["anna"]
    assert [tag.name for tag in seen.tags] == ["fedify"]
    assert [(file.type, file.description) for file in seen.media_attachments] == [("image", "a dot")]
    wait(lambda: [item.status.id for item in anna.notifications("mention")][:1] == [seen.id])


@pytest.mark.parametrize("visibility", ["public", "unlisted", "private", "direct"])
def test_posts_reach_both_sides_in_each_visibility(anna: Person, anna_uri: str, zoe: Someone, visibility: str) -> None:
    status = anna.client.status_post(f"@{zoe.address} {visibility} of Anna", visibility=visibility)
    create = zoe.server.arrived("Create", lambda each: each["object"] == status.uri)
    public, followers = PUBLIC, f"{anna_uri}/followers"
    expected = {
        "public": ([public], {followers, zoe.uri}),
        "unlisted": ([followers], {public, zoe.uri}),
        "private": ([followers], {zoe.uri}),
        "direct": ([zoe.uri], set()),
    }[visibility]
    assert (create["to"], set(create["cc"])) == expected
    assert create["understood"]["id"] == status.uri
    posted = zoe.do("post", text=f"{visibility} of Zoe", visibility=visibility, mention=anna_uri)
    notified = wait(
        lambda: next((item for item in anna.notifications("mention") if item.status.uri == posted["uri"]), None)
    )
    assert notified.status.visibility == visibility
    stranger = Person(anna.server, f"stranger{visibility}{anna.server.port}")
    assert gone(stranger, notified.status.id) == (visibility in ("private", "direct"))
    if visibility in ("private", "direct"):
        with pytest.raises(AssertionError, match="not found"):
            zoe.server.person(f"stranger{visibility}").do("look", uri=status.uri)


def test_replies_join_the_thread_on_both_sides(anna: Person, anna_uri: str, zoe: Someone) -> None:
    question = anna.client.status_post(f"@{zoe.address} shall we?")
    zoe.server.arrived("Create", lambda each: each["object"] == question.uri)
    answer = zoe.do("post", text="gladly", reply=question.uri, mention=anna_uri)
    (below,) = wait(lambda: anna.client.status_context(question.id).descendants)
    assert (below.uri, below.in_reply_to_id) == (answer["uri"], question.id)
    again = anna.client.status_post(f"@{zoe.address} fine", in_reply_to_id=below.id)
    create = zoe.server.arrived("Create", lambda each: each["object"] == again.uri)
    assert create["understood"]["replyTarget"] == answer["uri"]
    listed = zoe.do("list", uri=f"{question.uri}/replies")
    assert [each["id"] if each else each for each in listed] in ([], [answer["uri"]])


def test_edits_arrive_on_both_servers(anna: Person, zoe: Someone) -> None:
    status = anna.client.status_post("first of Anna")
    zoe.server.arrived("Create", lambda each: each["object"] == status.uri)
    anna.client.status_update(status.id, status="second of Anna")
    update = zoe.server.arrived("Update", lambda each: each["object"] == status.uri)
    assert "second of Anna" in update["understood"]["content"]
    assert update["understood"]["updated"]
    posted = zoe.do("post", text="first of Zoe")
    seen = arrives(anna, "first of Zoe")
    zoe.do("edit", id=posted["id"], text="second of Zoe")
    wait(lambda: "second of Zoe" in anna.client.status(seen.id).content)
    assert anna.client.status(seen.id).edited_at
    assert ["first" in each.content for each in anna.client.status_history(seen.id)] == [True, False]


def test_favourites_and_boosts_are_notified_and_undone_both_ways(anna: Person, zoe: Someone) -> None:
    status = anna.client.status_post("Worth sharing, says Anna")
    liked = zoe.do("like", target=status.uri)
    boosted = zoe.do("boost", target=status.uri)

    def counts() -> tuple[int, int]:
        fresh = anna.client.status(status.id)
        return fresh.favourites_count, fresh.reblogs_count

    wait(lambda: counts() == (1, 1))
    for kind in ("favourite", "reblog"):
        (notified,) = [item for item in anna.notifications(kind) if item.status.id == status.id]
        assert notified.account.acct == zoe.address
    zoe.do("unlike", target=status.uri, **liked)
    zoe.do("unboost", target=status.uri, **boosted)
    wait(lambda: counts() == (0, 0))
    posted = zoe.do("post", text="Worth sharing, says Zoe")
    seen = arrives(anna, "Worth sharing, says Zoe")
    anna.client.status_favourite(seen.id)
    like = zoe.server.arrived("Like", lambda each: each["object"] == posted["uri"])
    anna.client.status_reblog(seen.id)
    announce = zoe.server.arrived("Announce", lambda each: each["object"] == posted["uri"])
    assert (announce["to"], zoe.uri in announce["cc"]) == ([PUBLIC], True)
    anna.client.status_unfavourite(seen.id)
    undone = zoe.server.arrived("Undo", lambda each: each["object"] == like["id"])
    assert (undone["understood"]["type"], undone["understood"]["object"]) == ("Like", posted["uri"])
    anna.client.status_unreblog(seen.id)
    undone = zoe.server.arrived("Undo", lambda each: each["object"] == announce["id"])
    assert (undone["understood"]["type"], undone["understood"]["object"]) == ("Announce", posted["uri"])


def test_a_post_is_found_by_its_address(anna: Person, fedify: Fedify) -> None:
    posted = fedify.person("far").do("post", text="Somewhere else", draft=True)
    (found,) = anna.client.search_v2(posted["uri"], resolve=True, result_type="statuses").statuses
    assert (found.uri, found.account.acct) == (posted["uri"], f"far@localhost:{fedify.port}")


def test_a_boost_of_an_unknown_post_fetches_the_post(anna: Person, zoe: Someone) -> None:
    far = zoe.server.person("far")
    posted = far.do("post", text="Nobody here follows far", draft=True)
    zoe.do("boost", target=posted["uri"])
    shown = wait(lambda: next((item for item in anna.home() if item.reblog and item.reblog.uri == posted["uri"]), None))
    assert (shown.account.acct, shown.reblog.account.acct) == (zoe.address, far.address)


def test_deleted_posts_are_gone_on_the_other_side(anna: Person, zoe: Someone) -> None:
    status = anna.client.status_post("A slip of Anna")
    zoe.server.arrived("Create", lambda each: each["object"] == status.uri)
    anna.client.status_delete(status.id)
    delete = zoe.server.arrived("Delete", lambda each: each["object"] == status.uri)
    assert delete["to"] == [PUBLIC]
    with pytest.raises(AssertionError, match="not found"):
        zoe.do("look", uri=status.uri)
    posted = zoe.do("post", text="A slip of Zoe")
    seen = arrives(anna, "A slip of Zoe")
    zoe.do("delete", id=posted["id"])
    wait(lambda: gone(anna, seen.id))


def test_polls_are_understood_and_voted_on_both_ways(anna: Person, zoe: Someone) -> None:
    status = anna.client.status_post("Tea?", poll=anna.client.make_poll(["yes", "no"], expires_in=3600))
    create = zoe.server.arrived("Create", lambda each: each["object"] == status.uri)
    question = create["understood"]
    assert (question["type"], question["options"]) == ("Question", ["yes", "no"])
    assert question["endTime"]
    zoe.do("vote", target=status.uri, name="no")
    wait(lambda: [each.votes_count for each in anna.client.poll(status.poll.id).options] == [0, 1])
    zoe.do("post", text="Coffee?", options=["now", "later"])
    seen = arrives(anna, "Coffee?")
    assert [each.title for each in seen.poll.options] == ["now", "later"]
    anna.client.poll_vote(seen.poll.id, [1])
    vote = zoe.server.arrived("Create", lambda each: (each["understood"] or {}).get("name") == "later")
    assert (vote["understood"]["replyTarget"], vote["to"]) == (seen.uri, [zoe.uri])


def test_quotes_are_requested_allowed_and_shown_both_ways(anna: Person, zoe: Someone) -> None:
    posted = zoe.do("post", text="Quote me, says Zoe")
    seen = arrives(anna, "Quote me, says Zoe")
    assert seen.quote_approval.automatic == ["public"]
    quoting = anna.client.status_post("As Zoe says", quoted_status_id=seen.id)
    asked = zoe.server.arrived("QuoteRequest", lambda each: each["object"] == posted["uri"])
    assert asked["instrument"] == quoting.uri
    wait(lambda: anna.client.status(quoting.id).quote.state == "accepted")
    update = zoe.server.arrived("Update", lambda each: each["object"] == quoting.uri)
    stamp = zoe.do("look", uri=update["understood"]["quoteAuthorization"])
    assert (stamp["interactingObject"], stamp["interactionTarget"]) == (quoting.uri, posted["uri"])
    status = anna.client.status_post("Quote me, says Anna")
    quoted = zoe.do("post", text="As Anna says", quote=status.uri)
    zoe.do("ask", id=quoted["id"])
    accept = zoe.server.arrived("Accept", lambda each: each.get("result"))
    zoe.do("stamp", id=quoted["id"], uri=accept["result"])
    shown = arrives(anna, "As Anna says")
    wait(lambda: anna.client.status(shown.id).quote.state == "accepted")
    assert anna.client.status(shown.id).quote.quoted_status.id == status.id
    (notified,) = wait(lambda: anna.notifications("quote"))
    assert (notified.account.acct, notified.status.id) == (zoe.address, shown.id)
    stamp = zoe.do("look", uri=accept["result"])
    assert (stamp["interactingObject"], stamp["interactionTarget"]) == (quoted["uri"], status.uri)


def test_a_report_is_forwarded_if_the_reporter_chooses_that(anna: Person, fedify: Fedify) -> None:
    rude = fedify.person("rude")
    account = find(anna, rude)
    anna.client.report(account.id, comment="He shouts", forward=True)
    flag = fedify.arrived("Flag", lambda each: each["object"] == rude.uri)
    assert (flag["actor"], flag["content"]) == (f"{anna.server.base_url}/actor", "He shouts")


def test_a_reaction_with_an_emoji_and_an_unknown_activity_do_no_harm(anna: Person, zoe: Someone) -> None:
    status = anna.client.status_post("React to this")
    zoe.do("react", target=status.uri, content="🎉")
    zoe.do("like", target=status.uri)
    wait(lambda: anna.client.status(status.id).favourites_count == 1)


def test_profile_changes_arrive_on_the_other_server(anna: Person, anna_uri: str, zoe: Someone) -> None:
    anna.client.account_update_credentials(display_name="Anna A", note="Writes", fields=[("Town", "Cologne")])
    update = zoe.server.arrived("Update", lambda each: each["object"] == anna_uri)
    assert (update["understood"]["type"], update["understood"]["name"]) == ("Person", "Anna A")
    assert zoe.do("look", uri=anna_uri)["attachments"][0]["name"] == "Town"
    zoe.do("profile", bio="<p>Tries out servers</p>")
    account = find(anna, zoe)
    wait(lambda: "Tries out servers" in anna.client.account(account.id).note)


def test_local_collections_can_be_read_page_by_page(anna: Person, anna_uri: str, zoe: Someone) -> None:
    status = anna.client.status_post("Listed")
    anna.client.status_pin(status.id)
    assert zoe.uri in [each["id"] for each in zoe.do("list", uri=f"{anna_uri}/followers")]
    assert zoe.uri in [each["id"] for each in zoe.do("list", uri=f"{anna_uri}/following")]
    assert status.uri in [each["object"] for each in zoe.do("list", uri=f"{anna_uri}/outbox")]
    assert [each["id"] for each in zoe.do("list", uri=f"{anna_uri}/collections/featured")] == [status.uri]
    add = zoe.server.arrived("Add", lambda each: each["object"] == status.uri)
    assert add["target"] == f"{anna_uri}/collections/featured"


def test_unfollows_and_blocks_end_follows_on_both_servers(fedify: Fedify, server: Instance) -> None:
    erin, yan = Person(server, "erin"), fedify.person("yan")
    erin_uri = f"{server.base_url}/users/erin"
    account = find(erin, yan)

    def relation() -> Any:
        return erin.client.account_relationships(account.id)[0]

    erin.client.account_follow(account.id)
    wait(lambda: yan.lists()["followers"] == [erin_uri])
    erin.client.account_unfollow(account.id)
    wait(lambda: yan.lists()["followers"] == [])
    asked = yan.do("follow", target=erin_uri)
    wait(lambda: relation().followed_by)
    yan.do("unfollow", target=erin_uri, **asked)
    wait(lambda: not relation().followed_by)
    yan.do("follow", target=erin_uri)
    wait(lambda: relation().followed_by)
    erin.client.account_follow(account.id)
    wait(lambda: relation().following)
    blocked = yan.do("block", target=erin_uri)
    wait(lambda: relation().blocked_by)
    assert (relation().following, relation().followed_by) == (False, False)
    yan.do("unblock", target=erin_uri, **blocked)
    wait(lambda: not relation().blocked_by)
    yan.do("follow", target=erin_uri)
    wait(lambda: relation().followed_by)
    erin.client.account_block(account.id)
    block = fedify.arrived("Block", lambda each: each["object"] == yan.uri)
    wait(lambda: erin_uri not in yan.lists()["following"])
    yan.do("post", text="not for her", mention=erin_uri)
    pause()
    assert not erin.notifications("mention")
    erin.client.account_unblock(account.id)
    fedify.arrived("Undo", lambda each: each["object"] == block["id"])


def test_an_account_that_fedify_deletes_is_deleted_here(fedify: Fedify, anna: Person) -> None:
    uma = fedify.person("uma")
    account = find(anna, uma)
    anna.client.account_follow(account.id)
    wait(lambda: anna.client.account_relationships(account.id)[0].following)
    posted = uma.do("post", text="Farewell from Uma")
    seen = arrives(anna, "Farewell from Uma")
    assert seen.uri == posted["uri"]
    uma.do("leave")
    wait(lambda: gone(anna, seen.id))
    wait(lambda: not anna.client.account_relationships(account.id))
