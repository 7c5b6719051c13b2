"""Reads remote accounts (contract, federation sections 4 and 16)."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from accounts.models.account import DISPLAY_NAME_LIMIT, FIELDS_LIMIT, NOTE_LIMIT, USERNAME_LIMIT, ActorType
from accounts.policies.featuring import Audience
from accounts.queries.accounts import split_address
from accounts.services.remote_accounts import RemoteKey, RemoteProfile
from federation.documents import reading
from federation.documents.context import PUBLIC_NAMES
from federation.documents.received_files import picture_of, read_emojis
from federation.reasons import Reason, Rejected
from social.kernel import links
from social.kernel.reasons import leave_out
from social.kernel.text.names import one_line
from social.kernel.text.sanitize import sanitize

TYPES: Final = frozenset(ActorType.values)
# Usernames that are recognised as mentions in texts: ASCII, so that no username can be mistaken for another username (security
# row 62).
_USERNAME: Final = re.compile(r"[A-Za-z0-9_]+(?:[.-]+[A-Za-z0-9_]+)*")
FIELD_LIMIT: Final = 2047
LIST_LIMIT: Final = 256
KEYS_LIMIT: Final = 10


@dataclass(frozen=True)
class ReceivedActor:
    """An actor document, typed and with limited lengths. `profile` has no domain: `acct` is the address that the document
    claims, which only WebFinger can confirm. `key_reference` is the id of a key that is not embedded, `moved_to` the id of the
    actor that this account has moved to.
    """

    profile: RemoteProfile
    acct: str | None
    keys: Sequence[RemoteKey]
    key_reference: str | None
    moved_to: str | None


def is_username(name: str) -> bool:
    return _USERNAME.fullmatch(name) is not None


def read_actor(document: Mapping[str, Any]) -> ReceivedActor:
    """Read an actor. Raises Rejected when the document lacks an id, type, inbox or name.

    The actor's inbox and collections may be on other hosts (contract, federation section 17); keys and devices must be on the
    actor's own host.
    """
    uri = reading.web_uri(document.get("id"))
    if uri is None:
        raise Rejected(Reason.ACTOR_WITHOUT_ID)
    kind = reading.kind_of(document, TYPES)
    if kind is None:
        raise Rejected(Reason.NO_ACTOR)
    inbox = _collection_address(document.get("inbox"))
    if not inbox:
        raise Rejected(Reason.ACTOR_WITHOUT_INBOX)
    acct = _address(document.get("webfinger"))
    username = reading.text_of(document.get("preferredUsername"), USERNAME_LIMIT) or (acct or "").partition("@")[0]
    if not is_username(username):
        raise Rejected(Reason.ACTOR_WITHOUT_NAME)
    endpoints = document.get("endpoints")
    keys, reference = _read_keys(document.get("publicKey"), uri)
    name = one_line(reading.text_member(document, "name", DISPLAY_NAME_LIMIT))
    summary = reading.text_member(document, "summary", NOTE_LIMIT)
    fields = _read_fields(document.get("attachment"))
    devices = reading.web_uri(document.get("devices"))
    domains = (reading.text_of(item, 253) for item in reading.many(document.get("attributionDomains"))[:LIST_LIMIT])
    aliases = map(reading.web_uri, reading.many(document.get("alsoKnownAs"))[:LIST_LIMIT])
    profile = RemoteProfile(
        uri=uri,
        username=username,
        domain="",
        url=reading.link_of(document.get("url")) or uri,
        actor_type=kind,
        inbox_url=inbox,
        shared_inbox_url=_collection_address(endpoints.get("sharedInbox")) if isinstance(endpoints, Mapping) else "",
        outbox_url=_collection_address(document.get("outbox")),
        followers_url=_collection_address(document.get("followers")),
        following_url=_collection_address(document.get("following")),
        featured_url=_collection_address(document.get("featured")),
        featured_tags_url=_collection_address(document.get("featuredTags")),
        featured_collections_url=_collection_address(document.get("featuredCollections")),
        devices_url=devices if devices is not None and reading.same_origin(devices, uri) else "",
        feature_policy=_feature_policy(document.get("interactionPolicy"), reading.web_uri(document.get("followers"))),
        display_name=name,
        note=summary,
        note_html=sanitize(summary),
        fields=fields,
        emojis=read_emojis(document, name, summary, *(text for row in fields for text in (row["name"], row["value"]))),
        locked=reading.flag_of(document.get("manuallyApprovesFollowers")),
        discoverable=reading.flag_of(document.get("discoverable"), None),
        indexable=reading.flag_of(document.get("indexable")),
        memorial=reading.flag_of(document.get("memorial")),
        suspended=reading.flag_of(document.get("suspended")),
        **_picture("avatar", document.get("icon")),
        **_picture("header", document.get("image")),
        also_known_as=list(filter(None, aliases)),
        attribution_domains=list(filter(None, domains)),
        show_media=reading.flag_of(document.get("showMedia"), True),
        show_media_replies=reading.flag_of(document.get("showRepliesInMedia"), True),
        show_featured=reading.flag_of(document.get("showFeatured"), True),
    )
    return ReceivedActor(profile, acct, keys, reference, reading.web_uri(document.get("movedTo")))


def _address(value: Any) -> str | None:
    """Return the address that an actor claims (FEP-2c59); None if the value is not a valid address."""
    claimed = reading.text_of(value, USERNAME_LIMIT).removeprefix("acct:").removeprefix("@")
    pair = split_address(claimed)
    return claimed if pair is not None and pair[1] is not None else None


def _feature_policy(value: Any, followers: str | None) -> str | None:
    """Return who may put the actor into collections (FEP-7aa9 `canFeature`); None if the document does not state this."""
    policy = value.get("canFeature") if isinstance(value, Mapping) else None
    if not isinstance(policy, Mapping):
        return None
    automatic, manual = (
        set(reading.uris_of(policy.get(f"{way}Approval"), LIST_LIMIT)) for way in ("automatic", "manual")
    )
    if not PUBLIC_NAMES.isdisjoint(automatic):
        return Audience.PUBLIC
    if followers in automatic:
        return Audience.FOLLOWERS
    return Audience.NOBODY if PUBLIC_NAMES.isdisjoint(manual) else Audience.ASKED


def _collection_address(value: Any) -> str:
    """Return the address of an inbox or a collection; empty for the public collection and for an address of this server. If a
    group could name the public collection as its followers collection, posts that mention the group would become public.
    """
    address = reading.web_uri(value)
    if address is None or address in PUBLIC_NAMES or reading.same_origin(address, links.web_url()):
        leave_out(Reason.PLACE_UNUSABLE, value is not None)
        return ""
    return address


def _read_keys(value: Any, actor_uri: str) -> tuple[list[RemoteKey], str | None]:
    keys: dict[str, RemoteKey] = {}
    reference = None
    for item in reading.many(value)[:KEYS_LIMIT]:
        if isinstance(item, str):
            uri = reading.web_uri(item)
            reference = reference or (uri if uri is not None and reading.same_origin(uri, actor_uri) else None)
            continue
        key = read_key(item, actor_uri)
        if key is not None:
            keys.setdefault(key.id, key)
        else:
            leave_out(Reason.KEY_UNUSABLE)
    return list(keys.values()), reference


def read_key(value: Any, actor_uri: str) -> RemoteKey | None:
    """Return a key that the actor owns and that is on the actor's server; None for any other key."""
    if not isinstance(value, Mapping):
        return None
    key_id, pem = reading.uri_of(value), value.get("publicKeyPem")
    if key_id is None or not isinstance(pem, str) or len(pem) > 10_000 or "\0" in pem:
        return None
    if reading.uri_of(value.get("owner")) != actor_uri or not reading.same_origin(key_id, actor_uri):
        return None
    return RemoteKey(key_id, pem)


def _picture(name: str, value: Any) -> dict[str, Any]:
    picture = picture_of(value)
    if picture is None:
        return {}
    description = reading.text_of(picture.item.get("summary") or picture.item.get("name"), 2048)
    return {f"{name}_remote_url": picture.url, f"{name}_description": description}


def _read_fields(value: Any) -> list[dict[str, Any]]:
    rows = []
    for item in reading.of_kind(value, "PropertyValue"):
        name, shown = reading.text_of(item.get("name"), FIELD_LIMIT), reading.text_of(item.get("value"), FIELD_LIMIT)
        if name:
            html = sanitize(shown)
            rows.append({"name": name, "value": shown, "html": html, "verified_at": None})
        else:
            leave_out(Reason.FIELD_WITHOUT_NAME)
    return reading.at_most(rows, FIELDS_LIMIT, Reason.TOO_MANY_FIELDS)
