"""Changes links between imported posts of one author from the old addresses to the addresses of the posts here."""

import re
from html import escape, unescape
from typing import Final
from urllib.parse import urlsplit

from accounts.models import Account
from social.kernel import links
from statuses.models import ImportedPost

# Sanitised content has double quotes around all attribute values.
_LINK: Final = re.compile(r'(<a\b[^>]*?\bhref=")([^"]+)(")')
_LINKS_LIMIT: Final = 100
_HOSTS_OF_X: Final = frozenset({"twitter.com", "www.twitter.com", "mobile.twitter.com", "x.com", "www.x.com"})
# Host in the ids of archives that do not name their server (`federation.archives.misskey`).
_UNKNOWN: Final = "misskey.invalid"


def with_own_links(content: str, *, uri: str, author: Account) -> str:
    """Return the content of the post `uri`, with links to imported posts replaced by links to the posts here.

    At most one query.
    """
    addresses = dict.fromkeys(unescape(match[2]) for match in _LINK.finditer(content))
    uris_by_address = {
        address: uris for address in list(addresses)[:_LINKS_LIMIT] if (uris := _possible_uris(address, uri))
    }
    if not uris_by_address:
        return content
    rows = ImportedPost.objects.filter(account=author, uri__one_of=sorted(set().union(*uris_by_address.values())))
    ids = dict(rows.filter(status__deleted_at=None).values_list("uri", "status_id"))
    places = {
        address: links.status_url(author.username, ids[author_and_number])
        for address, possible in uris_by_address.items()
        for author_and_number in possible
        if author_and_number in ids
    }
    return _LINK.sub(
        lambda match: f"{match[1]}{escape(places.get(unescape(match[2]), unescape(match[2])))}{match[3]}", content
    )


def _possible_uris(address: str, uri: str) -> list[str]:
    """Return the ids that the post at `address` may have. Empty if `address` is not on the server of the post `uri`."""
    try:
        place, own = urlsplit(address), urlsplit(uri)
    except ValueError:
        return []
    same = place.netloc == own.netloc or {place.netloc, own.netloc} <= _HOSTS_OF_X
    last = place.path.rstrip("/").rpartition("/")[2]
    if not last or not (same or (own.netloc == _UNKNOWN and place.path == f"/notes/{last}")):
        return []
    return list(dict.fromkeys((address, f"{uri.rpartition('/')[0]}/{last}")))
