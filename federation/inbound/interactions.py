"""Handles Like and Announce: favourites and boosts (contract, federation section 7; security rows 8, 13 and 19)."""

from django.db import IntegrityError

from accounts.models import Follow
from federation.documents.context import visibility_of
from federation.documents.reading import kinds_of, moment_of, uri_of, uris_of
from federation.documents.received_notes import is_note, read_sent_note
from federation.inbound.incoming import Incoming
from federation.inbound.requests import record
from federation.reasons import Reason, Rejected
from federation.remote.permitted import refuse
from federation.remote.posts import find_or_fetch_post, store_note
from federation.remote.references import claimed_id, find_post_by_uri
from federation.remote.sharing import is_relay
from social.kernel.errors import Forbidden
from statuses.models import Interaction, Status
from statuses.policies.visibility import boost_visibility
from statuses.queries.statuses import list_statuses
from statuses.services.asking import NotPermitted
from statuses.services.holding import hold_boost
from statuses.services.interactions import favourite_status, reblog_status


def handle_like(incoming: Incoming) -> None:
    """Store a favourite of a local post that the actor may read, or a request if the policy of the post requires approval."""
    uri, status = incoming.needed_or_made_uri(), find_post_by_uri(incoming.needed_object_uri())
    if status is None or not status.local or not list_statuses(incoming.actor.id).filter(id=status.id).exists():
        raise Rejected(Reason.NO_SUCH_NOTE)
    try:
        with claimed_id(uri, incoming.actor.uri):
            if favourite_status(account_id=incoming.actor.id, status=status, uri=uri):
                record(incoming, status, Interaction.FAVOURITE, uri)
    except NotPermitted:
        refuse(status, incoming.actor, Interaction.FAVOURITE, uri)
    except IntegrityError:
        raise Rejected(Reason.TAKEN_ID_OF_LIKE) from None


def handle_announce(incoming: Incoming) -> None:
    """Store a boost if a local account follows the booster, or if the boosted post is local.

    An unknown post is fetched, but the booster's own followers-only post is embedded, because this server could not fetch it. A
    group boosts the post whose Create it forwards (FEP-1b12). A boost of a post that is held for review is itself held. A boost
    that needs approval is stored as a request.
    """
    uri, object_uri = incoming.needed_or_made_uri(), _announced_uri(incoming)
    if is_relay(incoming.actor):
        # An Announce by a relay is not a boost; it only makes the post known.
        find_or_fetch_post(object_uri)
        return
    original = find_post_by_uri(object_uri)
    followed = Follow.objects.filter(target=incoming.actor, account__domain=None).exists()
    if not followed and not (original is not None and original.local):
        raise Rejected(Reason.CONCERNS_NOBODY_BOOST)
    document = incoming.document
    visibility = visibility_of(uris_of(document.get("to")), uris_of(document.get("cc")), incoming.actor.followers_url)
    created_at = moment_of(document.get("published"))

    def is_held() -> bool:
        """Hold the boost if the post is held for review; return whether the post is held."""
        with claimed_id(uri, incoming.actor.uri, Status):
            return hold_boost(
                account=incoming.actor,
                post_uri=object_uri,
                uri=uri,
                visibility=visibility,
                created_at=created_at,
            )

    if original is None and is_held():
        return
    try:
        status = original or _own_post(incoming) or find_or_fetch_post(object_uri)
    except Rejected:
        if is_held():
            return
        raise
    status = status.reblog_of or status
    if not list_statuses(incoming.actor.id).filter(id=status.id).exists():
        raise Rejected(Reason.BOOSTER_CANNOT_READ)
    try:
        with claimed_id(uri, incoming.actor.uri, Status):
            boost_id = reblog_status(
                account=incoming.actor,
                status=status,
                visibility=boost_visibility(status.visibility, visibility),
                uri=uri,
                created_at=created_at,
                approved=not status.local,
            )
            if boost_id is not None:
                record(incoming, status, Interaction.REBLOG, uri)
    except NotPermitted:
        refuse(status, incoming.actor, Interaction.REBLOG, uri)
    except Forbidden:
        raise Rejected(Reason.NOT_TO_BE_BOOSTED) from None
    except IntegrityError:
        raise Rejected(Reason.TAKEN_ID_OF_BOOST) from None


def _announced_uri(incoming: Incoming) -> str:
    kinds = kinds_of(incoming.object)
    if "Create" in kinds:
        uri = uri_of(incoming.object.get("object"))
        if uri is None:
            raise Rejected(Reason.ABOUT_NOTHING)
        return uri
    if kinds and "actor" in incoming.object and "attributedTo" not in incoming.object:
        raise Rejected(Reason.PASSED_ON_IS_NO_NOTE)
    return incoming.needed_object_uri()


def _own_post(incoming: Incoming) -> Status | None:
    # The actor of a boost, unlike the actor of a Create, may be somebody other than the author. Therefore the embedded post
    # itself must name the actor as its author.
    if not is_note(incoming.object) or incoming.actor.uri not in uris_of(incoming.object.get("attributedTo")):
        return None
    status = store_note(read_sent_note(incoming.object, incoming.actor.uri), incoming.actor, publish_event=False)
    if status is None:
        raise Rejected(Reason.DELETED_NOTE)
    return status
