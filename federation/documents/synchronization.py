"""Header by which two servers compare the followers of an account (FEP-8fcf; contract, federation section 9)."""

import hashlib
import re
from collections.abc import Iterable
from typing import Final

from accounts.models import Account
from federation.documents.reading import same_origin, web_uri
from federation.signatures.cavage import parameters_of
from federation.signatures.message import BadSignature
from social.kernel import links

HEADER: Final = "Collection-Synchronization"
FOLLOWERS_LIMIT: Final = 25_000
"""Posts of an account with this number of followers or more are sent without the header."""

_DIGEST: Final = re.compile(r"[0-9a-f]{64}")


def digest_of(uris: Iterable[str]) -> str:
    """Return the digest of a set of followers: the XOR of the SHA-256 hashes of their ids, in hexadecimal."""
    total = 0
    for uri in uris:
        total ^= int.from_bytes(hashlib.sha256(uri.encode()).digest())
    return f"{total:064x}"


def synchronization_uri(account: Account) -> str:
    """Return the address of the list of an account's followers on the requesting server."""
    return links.web_url(f"/users/{account.username}/followers_synchronization")


def synchronization_header(account: Account, uris: Iterable[str]) -> str:
    """Return the header for a server on which the account has these followers."""
    url = synchronization_uri(account)
    return f'collectionId="{account.uri}/followers", digest="{digest_of(uris)}", url="{url}"'


def read_header(text: str, account: Account) -> tuple[str, str] | None:
    """Return the address and the digest in a header that arrived with a post of the account. None if the header is about
    another collection, or if the address is not on the server of the followers collection.
    """
    try:
        values = parameters_of(text)
    except BadSignature:
        return None
    url, digest = web_uri(values.get("url")), values.get("digest", "").lower()
    if values.get("collectionid") != account.followers_url or _DIGEST.fullmatch(digest) is None:
        return None
    return (url, digest) if url is not None and same_origin(url, account.followers_url) else None
