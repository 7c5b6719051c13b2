"""The recorded documents of Mastodon 4.6.5, and their comparison with this server's documents.

The records are not part of the repository: `make conformance` and these tests look for them in the same place. Without the
records FILES is empty.
"""

import json
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from tests.support.terms import check_terms

FOLDER: Final = (
    Path(os.environ.get("CONFORMANCE") or Path(__file__).resolve().parents[3] / "shared" / "conformance") / "wire"
)
FILES: Final = sorted(path.stem for path in FOLDER.glob("*.json"))
_PUBLIC: Final = "https://www.w3.org/ns/activitystreams#Public"


def record(name: str) -> dict[str, Any]:
    """Return a recorded request or response."""
    found: dict[str, Any] = json.loads((FOLDER / f"{name}.json").read_text())
    return found


def differences(ours: Any, theirs: Any) -> set[str]:
    """Return the differences between a document and the recorded one: members, types of values, and terms of the context. Other
    tests compare texts.
    """
    here, there = set(_parts(ours)), set(_parts(theirs))
    return {f"only ours: {part}" for part in here - there} | {f"only Mastodon's: {part}" for part in there - here}


def request_differences(path: str, headers: Mapping[str, str], theirs: Mapping[str, Any]) -> set[str]:
    """Return the differences between a request and the recorded one.

    It compares the kind of inbox, the headers, the values of Accept and Content-Type, the signer, and the signed parts in their
    order.
    """
    here, there = set(_request(path, headers)), set(_request(theirs["path"], theirs["headers"]))
    return {f"only ours: {part}" for part in here - there} | {f"only Mastodon's: {part}" for part in there - here}


def _request(path: str, headers: Mapping[str, str]) -> Iterator[str]:
    lower = {name.lower(): value for name, value in headers.items()}
    yield from (f"header {name}" for name in lower if name != "content-length")
    yield from (f"{name}: {lower[name]}" for name in ("accept", "content-type") if name in lower)
    if path.partition("?")[0].endswith("/inbox"):
        yield f"to the {'shared' if path == '/inbox' else 'personal'} inbox"
    if "signature" in lower:
        values = dict(re.findall(r'(\w+)="([^"]*)"', lower["signature"]))
        yield f"signed by the {'server' if values['keyId'].endswith('/actor#main-key') else 'person'}"
        yield f"signed: {values['headers']}"
        yield f"algorithm: {values.get('algorithm')}"


def _parts(value: Any, place: str = "") -> Iterator[str]:
    if place in ("@context", "object.@context"):
        for part in value if isinstance(value, list) else [value]:
            yield from _terms(part)
    elif isinstance(value, dict):
        for name, item in value.items():
            # The keys of a contentMap are languages, so they may differ.
            yield from _parts(item, f"{place}.{name}".lstrip(".") if not place.endswith("Map") else f"{place}.*")
    elif isinstance(value, list):
        yield f"{place}: list"
        for item in value:
            kind = item.get("type", "") if isinstance(item, dict) else ""
            yield from _parts(item, f"{place}[{kind}]")
    elif isinstance(value, str) and (value == _PUBLIC or place.rpartition(".")[2] == "type"):
        yield f"{place}: {'Public' if value == _PUBLIC else value}"
    else:
        yield f"{place}: {_KINDS[type(value)]}"


def _terms(context: Any) -> Iterator[str]:
    if isinstance(context, str):
        yield f"@context {context}"
    else:
        for name, term in context.items():
            yield f"@context {name} = {json.dumps(term, sort_keys=True)}"


_KINDS: Final = {str: "text", int: "number", float: "number", bool: "yes or no", type(None): "null"}


def compare(name: str, ours: Any) -> None:
    """Fail if a document differs from the recorded one in ways that DIFFERENCES does not list, or has undefined terms."""
    check_terms(ours)
    _agree(name, differences(ours, record(name)["body"]))


def compare_delivery(name: str, asked: Any) -> None:
    """Fail if the body or the request of a delivery differs from the recorded one in ways that DIFFERENCES does not list."""
    theirs = record(name)
    check_terms(json.loads(asked.body))
    found = differences(json.loads(asked.body), theirs["body"])
    _agree(name, found | request_differences(asked.path, asked.headers, theirs))


def compare_request(name: str, asked: Any) -> None:
    """Fail if a request, apart from its body, differs from the recorded one in ways that DIFFERENCES does not list."""
    _agree(name, request_differences(asked.path, asked.headers, record(name)))


def _agree(name: str, found: set[str]) -> None:
    assert found == set(DIFFERENCES.get(name, {})), (name, sorted(found))


_NO_LD_SIGNATURE: Final = "section 10: LD signatures are neither made nor trusted"
_UNSIGNED: Final = {
    f"only Mastodon's: {part}": _NO_LD_SIGNATURE
    for part in (
        "signature.type: RsaSignature2017",
        "signature.creator: text",
        "signature.created: text",
        "signature.signatureValue: text",
    )
}
_ENCRYPTION: Final = "section 4: for end-to-end encryption, which Mastodon 4.6 does not have"
_DEVICES_TERM: Final = {'only ours: @context devices = {"@id": "toot:devices", "@type": "@id"}': _ENCRYPTION}
_PROFILE: Final = _DEVICES_TERM | {"only ours: devices: text": _ENCRYPTION}
# Actor documents contain the vocabulary of signatures anyway, because of their keys.
_UNSIGNED_PROFILE: Final = _UNSIGNED | _DEVICES_TERM | {"only ours: object.devices: text": _ENCRYPTION}
_UNSIGNED_DOCUMENT: Final = _UNSIGNED | {"only Mastodon's: @context https://w3id.org/security/v1": _NO_LD_SIGNATURE}
_NO_DATE: Final = {
    "only Mastodon's: header date": "section 10: the request is not signed, so that nothing asks for its date"
}


def _signer(ours: str, theirs: str, reason: str) -> dict[str, str]:
    return {f"only ours: signed by the {ours}": reason, f"only Mastodon's: signed by the {theirs}": reason}


#: Differences between sent documents and the records, with the reason from the contract (federation).
DIFFERENCES: Final[dict[str, dict[str, str]]] = {
    **dict.fromkeys(
        (
            "add_featured_tag",
            "announce_public",
            "create_note_audio",
            "create_note_emoji",
            "create_note_hashtag_language",
            "create_note_image",
            "create_note_mention",
            "create_note_no_quotes",
            "create_note_public",
            "create_note_quote_pending",
            "create_note_reply",
            "create_note_unlisted",
            "create_note_warning",
            "create_question_multiple_hidden",
            "create_question_single",
            "delete_actor",
            "delete_feature_authorization",
            "delete_note",
            "delete_quote_authorization",
            "feature_request",
            "quote_request",
            "remove_featured_tag",
            "undo_announce",
            "update_note",
            "update_note_quote_approved",
            "update_question_closed",
            "update_question_votes",
        ),
        _UNSIGNED_DOCUMENT,
    ),
    **dict.fromkeys(
        ("actor_also_known_as", "actor_moved", "actor_person", "actor_service", "actor_suspended"), _PROFILE
    ),
    **dict.fromkeys(("update_actor", "update_actor_moved", "update_actor_suspended"), _UNSIGNED_PROFILE),
    "create_note_forwarded_reply": _signer(
        "server", "person", "section 10 and security row 9: what others wrote is not signed with a person's key"
    ),
    "fetch_host_meta": _NO_DATE,
    "fetch_quote_authorization": _signer(
        "server", "person", "section 10: a GET is signed by the actor of the server or by a person"
    ),
    "fetch_webfinger": _NO_DATE,
    "get_featured_collections_page": dict.fromkeys(
        ("only Mastodon's: next: text", "only Mastodon's: prev: text"),
        "section 8: there is no other page; Mastodon names the collection itself",
    ),
    "nodeinfo": dict.fromkeys(
        ("only ours: metadata.upstream.name: text", "only ours: metadata.upstream.version: text"),
        "section 14 gives it to NodeInfo 2.1; clients made with megalodon look for it in this one, too",
    ),
}
