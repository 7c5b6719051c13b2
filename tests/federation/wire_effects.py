"""Checks of the effect of each delivery recorded from Mastodon 4.6.5, with a sentence for `docs/interop.md`.

Each check runs right after its delivery was processed. The checks are in the order in which the deliveries were sent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from accounts.collections.models import Collection, CollectionItem, ItemState
from accounts.models import Account, Block, FeaturedTag, Follow, FollowRequest
from moderation.models import Report
from statuses.models import Favourite, Pin, PollVote, Quote, QuoteState, Status
from tests.factories.accounts import make_token
from tests.support.client import Api
from tests.support.wire import record

if TYPE_CHECKING:
    from tests.federation.test_wire import World

Check = Callable[["World"], object]


def account_of(world: World, name: str, member: str = "actor") -> Account:
    """Return the local row of the account that a member of a record names, by default the actor."""
    return Account.objects.get(uri=world.here(record(name)["body"][member]))


def post_of(world: World, name: str) -> Status | None:
    """Return the local row of the post in a record, or None if the post is not stored."""
    return Status.objects.filter(uri=world.here(record(name)["body"]["object"])["id"], deleted_at=None).first()


def _see(name: str) -> Callable[[World], dict[str, Any]]:
    def see(world: World) -> dict[str, Any]:
        post = post_of(world, name)
        assert post is not None, name
        found: dict[str, Any] = Api(make_token(world.people["bob"].user)).get(f"/api/v1/statuses/{post.id}").json()
        return found

    return see


def _shows(name: str, **values: Any) -> Check:
    """Return a check that the post of a record has these values when Bob requests it."""
    see = _see(name)
    return lambda world: {member: see(world)[member] for member in values} == values


def _post(text: str, name: str, look: Callable[[dict[str, Any]], object] = bool) -> tuple[str, Check]:
    see = _see(name)
    return text, lambda world: look(see(world))


def _file(entity: dict[str, Any]) -> tuple[str, str | None]:
    (file,) = entity["media_attachments"]
    return file["type"], file["description"]


def _options(entity: dict[str, Any]) -> list[tuple[str, int | None]]:
    return [(option["title"], option["votes_count"]) for option in entity["poll"]["options"]]


def _asked(world: World, name: str) -> Quote:
    return Quote.objects.get(request_uri=world.here(record(name)["body"]["object"]["id"]))


def _follows(follower: str, target: str | None = None) -> Callable[[World], bool]:
    """Return a check that a local account follows the recorded Alice, or the sender of the record `target`."""
    return lambda world: Follow.objects.filter(
        account=world.people[follower], target=account_of(world, target or "like")
    ).exists()


def _followed(name: str, target: str) -> Callable[[World], bool]:
    return lambda world: Follow.objects.filter(account=account_of(world, name), target=world.people[target]).exists()


def _boosts(world: World) -> int:
    return Status.objects.filter(uri=world.here(record("announce_public")["body"]["id"]), deleted_at=None).count()


def _place(world: World, name: str) -> str:
    return CollectionItem.objects.get(request_uri=world.here(record(name)["body"]["object"])).state


def _collections(world: World) -> list[str]:
    uri = world.here(record("add_featured_collection")["body"]["object"]["id"])
    return list(Collection.objects.filter(uri=uri).values_list("name", flat=True))


def _not(check: Callable[[World], object]) -> Check:
    return lambda world: not check(world)


EFFECTS: Final[dict[str, tuple[str, Check]]] = {
    "accept_feature_request": (
        "the person is in the collection from here",
        lambda world: _place(world, "accept_feature_request") == ItemState.ACCEPTED,
    ),
    "accept_follow": ("who has asked here follows", _follows("bob")),
    "accept_follow_again": ("who follows already goes on following", _follows("bob")),
    "accept_quote_request": (
        "the quote of the post from here is shown",
        lambda world: _asked(world, "accept_quote_request").state == QuoteState.ACCEPTED,
    ),
    "add_featured_collection": ("the collection is kept", lambda world: _collections(world) == ["Bird people"]),
    "add_featured_item": (
        "the person from here, who has agreed, is in the collection",
        lambda world: CollectionItem.objects.get(account=world.people["bob"]).state == ItemState.ACCEPTED,
    ),
    "add_featured_post": (
        "the post is pinned to the profile",
        lambda world: Pin.objects.filter(account=account_of(world, "like")).exists(),
    ),
    "add_featured_tag": (
        "the hashtag is on the profile",
        lambda world: FeaturedTag.objects.filter(account=account_of(world, "like"), tag__name="birds").exists(),
    ),
    "announce_own_private": (
        "followers see the boost, with the post that stands in it",
        lambda world: (
            Status.objects.get(uri=world.here(record("announce_own_private")["body"]["id"])).reblog_of.visibility
            == "private"
        ),
    ),
    "announce_public": ("the post from here is boosted", lambda world: _boosts(world) == 1),
    "block": (
        "the person from here is blocked: follows both ways end",
        lambda world: Block.objects.filter(account=account_of(world, "block"), target=world.people["erin"]).exists(),
    ),
    "create_note_audio": _post("shown with its sound", "create_note_audio", lambda seen: _file(seen)[0] == "audio"),
    "create_note_direct": (
        "shown to the person who is mentioned alone",
        _shows("create_note_direct", visibility="direct"),
    ),
    "create_note_emoji": _post(
        "shown with the picture of the emoji",
        "create_note_emoji",
        lambda seen: seen["emojis"][0]["shortcode"] == "blob",
    ),
    "create_note_forwarded_reply": _post(
        "the reply is fetched from its own server and stands in the thread",
        "create_note_forwarded_reply",
        lambda seen: seen["in_reply_to_id"] is not None,
    ),
    "create_note_hashtag_language": _post(
        "shown with its hashtags and language",
        "create_note_hashtag_language",
        lambda seen: (seen["language"], {tag["name"].lower() for tag in seen["tags"]} >= {"birds"}) == ("de", True),
    ),
    "create_note_image": _post(
        "shown with the picture, its description, focal point and placeholder",
        "create_note_image",
        lambda seen: (
            (*_file(seen), bool(seen["media_attachments"][0]["blurhash"])) == ("image", "A red field", True)
            and seen["media_attachments"][0]["meta"]["focus"] == {"x": -0.42, "y": 0.69}
        ),
    ),
    "create_note_mention": _post(
        "the person from here is mentioned and notified",
        "create_note_mention",
        lambda seen: "bob" in [mention["acct"] for mention in seen["mentions"]],
    ),
    "create_note_no_quotes": _post(
        "shown, and cannot be quoted here",
        "create_note_no_quotes",
        lambda seen: seen["quote_approval"]["current_user"] == "denied",
    ),
    "create_note_private": ("shown to followers", _shows("create_note_private", visibility="private")),
    "create_note_public": ("shown to everybody", _shows("create_note_public", visibility="public")),
    "create_note_quote_pending": _post(
        "shown, its quote once it is allowed",
        "create_note_quote_pending",
        lambda seen: seen["quote"]["state"] == "pending",
    ),
    "create_note_reply": _post(
        "stands below the post from here", "create_note_reply", lambda seen: seen["in_reply_to_id"] is not None
    ),
    "create_note_unlisted": ("shown, and not listed", _shows("create_note_unlisted", visibility="unlisted")),
    "create_note_warning": (
        "shown behind its warning",
        _shows("create_note_warning", spoiler_text="Spoilers & <b>more</b>", sensitive=True),
    ),
    "create_question_multiple_hidden": _post(
        "shown as a poll of several choices without counts",
        "create_question_multiple_hidden",
        lambda seen: seen["poll"]["multiple"] and {count for _title, count in _options(seen)} == {None},
    ),
    "create_question_single": _post(
        "shown as a poll", "create_question_single", lambda seen: _options(seen)[:2] == [("one", 0), ("two", 0)]
    ),
    "create_vote": (
        "counted in the poll from here",
        lambda world: PollVote.objects.get(poll__status__account=world.people["bob"]).choice == 1,
    ),
    "delete_actor": (
        "the account and all its posts are removed",
        lambda world: not Account.objects.filter(uri=world.here(record("delete_actor")["body"]["actor"])).exists(),
    ),
    "delete_feature_authorization": (
        "the person is in the collection from here no more",
        lambda world: _place(world, "accept_feature_request") == ItemState.REVOKED,
    ),
    "delete_note": ("the post is removed", lambda world: post_of(world, "delete_note") is None),
    "delete_quote_authorization": (
        "the quote of the post from here is shown no more",
        lambda world: _asked(world, "accept_quote_request").state == QuoteState.REVOKED,
    ),
    "feature_request": (
        "answered as the person from here allows",
        lambda world: CollectionItem.objects.filter(account=world.people["bob"]).exists(),
    ),
    "flag": (
        "a report for the moderators here, by the other server",
        lambda world: Report.objects.get().comment == "This is spam",
    ),
    "follow": ("the person from here is followed, and the Follow accepted", _followed("follow", "bob")),
    "follow_relay": ("refused: this server is no relay", lambda world: True),
    "like": (
        "the post from here is a favourite",
        lambda world: Favourite.objects.filter(account=account_of(world, "like")).count() == 1,
    ),
    "move": (
        "who followed the old account from here follows the new one",
        lambda world: account_of(world, "move").moved_to.username == "newhome",
    ),
    "quote_request": (
        "answered as the policy of the post from here says",
        lambda world: _see("create_note_quote_pending")(world)["quote"]["state"] == "accepted",
    ),
    "reject_feature_request": (
        "the person is not in the collection from here",
        lambda world: _place(world, "reject_feature_request") == ItemState.REJECTED,
    ),
    "reject_follow": (
        "who has asked here does not follow",
        lambda world: not FollowRequest.objects.filter(account=world.people["fay"]).exists(),
    ),
    "reject_quote_request": (
        "the quote is shown to its author alone, as refused",
        lambda world: _asked(world, "reject_quote_request").state == QuoteState.REJECTED,
    ),
    "remove_featured_collection": ("the collection is removed", lambda world: _collections(world) == []),
    "remove_featured_post": (
        "the post is pinned no more",
        lambda world: not Pin.objects.filter(account=account_of(world, "like")).exists(),
    ),
    "remove_featured_tag": (
        "the hashtag is on the profile no more",
        lambda world: not FeaturedTag.objects.filter(account=account_of(world, "like")).exists(),
    ),
    "undo_announce": ("the boost is gone", lambda world: _boosts(world) == 0),
    "undo_block": (
        "the block is gone",
        lambda world: not Block.objects.filter(target=world.people["erin"]).exists(),
    ),
    "undo_follow": ("the follow is gone", _not(_followed("undo_follow", "fay"))),
    "undo_follow_relay": ("nothing is to be done: this server is no relay", lambda world: True),
    "undo_like": (
        "the favourite is gone",
        lambda world: not Favourite.objects.filter(account=account_of(world, "like")).exists(),
    ),
    "update_actor": (
        "the profile is shown as it is now",
        lambda world: account_of(world, "update_actor").display_name == "Alice :blob:",
    ),
    "update_actor_moved": (
        "the profile shows where the person has moved",
        lambda world: account_of(world, "update_actor_moved").moved_to.username == "newhome",
    ),
    "update_actor_suspended": (
        "hidden here, too, until the other server says otherwise",
        lambda world: account_of(world, "update_actor_suspended").suspended,
    ),
    "update_featured_collection": (
        "the collection is shown as it is now",
        lambda world: _collections(world) == ["Bird people and others"],
    ),
    "update_note": _post(
        "shown as it is now, and as it was in its history",
        "update_note",
        lambda seen: seen["spoiler_text"] == "now with a warning" and seen["edited_at"] is not None,
    ),
    "update_note_quote_approved": _post(
        "the quote is shown", "update_note_quote_approved", lambda seen: seen["quote"]["state"] == "accepted"
    ),
    "update_question_closed": _post(
        "the counts at the end are shown, and the poll as closed",
        "update_question_closed",
        lambda seen: seen["poll"]["expired"] and seen["poll"]["votes_count"] == 1,
    ),
    "update_question_votes": _post(
        "the counts are shown, whatever the id of the activity",
        "update_question_votes",
        lambda seen: seen["poll"]["votes_count"] == 1,
    ),
}


_PROFILE: Final = "read when somebody is met for the first time"
_DISCOVERY: Final = "read to find people by their address, and to confirm the address of an actor"
_ASKED: Final = "answered"
#: The effects of Mastodon's documents and requests on this server.
READ: Final[dict[str, str]] = {
    "actor_also_known_as": "an account; the other names count when somebody moves",
    "actor_instance": "the account of the other server, by which its requests and reports are known",
    "actor_moved": "an account that shows where its person has moved, when the new one says the same",
    "actor_person": "an account with its profile, pictures, fields and emojis",
    "actor_service": "an account shown as automated and locked",
    "actor_suspended": "an account that is hidden",
    "fetch_actor": _ASKED,
    "fetch_followers_synchronization": "answered with the followers of the server that asks and signs",
    "fetch_host_meta": _ASKED,
    "fetch_quote_authorization": _ASKED,
    "fetch_url_of_search": "answered with the document",
    "fetch_webfinger": _ASKED,
    "get_context": "not asked for: threads are read from `replies`, upwards from `inReplyTo`",
    "get_emoji": "not asked for: what stands in posts and profiles is enough",
    "get_feature_authorization": "read before somebody is shown in a collection of another server",
    "get_featured": f"{_PROFILE}: the pinned posts",
    "get_featured_collection": "read when a person from here is to be in it, and with its owner's profile",
    "get_featured_collections": f"{_PROFILE}: the list of collections",
    "get_featured_collections_page": f"{_PROFILE}: the collections themselves",
    "get_featured_tags": f"{_PROFILE}: the hashtags",
    "get_followers": f"{_PROFILE}: how many",
    "get_followers_hidden": f"{_PROFILE}: how many, and that they are hidden",
    "get_followers_hidden_page": "not asked for: pages of followers are not read",
    "get_followers_synchronization": "read when the digest in a header does not match; follows are mended",
    "get_following": f"{_PROFILE}: how many",
    "get_following_page": "not asked for: pages of people are not read",
    "get_note_activity": "not asked for; read where it stands in an outbox",
    "get_note_likes": "read where it stands in a post: how many",
    "get_note_private_follower": "shown to followers",
    "get_note_replies": "read when somebody opens the thread",
    "get_note_replies_others": "read when somebody opens the thread",
    "get_note_replies_page": "read when somebody opens the thread",
    "get_note_shares": "read where it stands in a post: how many",
    "get_outbox": "read when somebody is followed from here for the first time: the newest posts, and how many there are",
    "get_quote_authorization": "read before a quote is shown",
    "get_tag": "not asked for: hashtags are known by their names",
    "host_meta": "read where WebFinger is not at the usual place",
    "host_meta_json": "not asked for: the XML says the same",
    "nodeinfo": "not asked for",
    "nodeinfo_links": "not asked for",
    "note": "a post that was edited",
    "question": "a post with a poll and its counts",
    "webfinger_acct": _DISCOVERY,
    "webfinger_instance": _DISCOVERY,
    "webfinger_url": "not asked for: people are asked for by their address",
}
