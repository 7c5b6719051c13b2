import re
from typing import Final
from urllib.parse import quote, urlsplit

from django.conf import settings

_SLASHES: Final = re.compile("/{2,}")
_DEFAULT_PORTS: Final = {"http": ":80", "https": ":443"}


def with_single_slashes(path: str) -> str:
    """Return the path of a request in which several slashes in a row count as one, as in Mastodon's router, because clients
    append paths to addresses that end with a slash.
    """
    return _SLASHES.sub("/", path)


def web_url(path: str = "") -> str:
    """Return the absolute address of a path on the web domain."""
    return f"{settings.BASE_URL}{path}"


def profile_url(username: str) -> str:
    """Return the address of a local profile page (contract, federation section 2)."""
    return web_url(f"/@{username}")


def status_url(username: str, status_id: int) -> str:
    return web_url(f"/@{username}/{status_id}")


def actor_uri(username: str) -> str:
    """Return the ActivityPub id of a local account, in the username scheme (docs/adr/0003)."""
    return web_url(f"/users/{username}")


def status_uri(username: str, status_id: int) -> str:
    return f"{actor_uri(username)}/statuses/{status_id}"


def numbered_uri(account_id: int, path: str) -> str:
    """Return the ActivityPub id of an object of a local account whose path has the account's number: collections and their
    parts (contract, federation section 2).
    """
    return web_url(f"/ap/users/{account_id}/{path}")


def collection_uri(account_id: int, collection_id: int) -> str:
    return numbered_uri(account_id, f"collections/{collection_id}")


def tag_url(name: str) -> str:
    return web_url(f"/tags/{quote(name)}")


def tagged_url(profile: str, name: str) -> str:
    """Return the address of the page that shows an account's posts with a hashtag."""
    return f"{profile}/tagged/{quote(name)}"


def is_own_domain(domain: str) -> bool:
    """Tell whether a domain, as written in an address, is one of this server's domains."""
    return domain.lower().rstrip(".") in (settings.LOCAL_DOMAIN, settings.WEB_DOMAIN)


def is_own(uri: str) -> bool:
    """Tell whether an address or an id belongs to this server; whether something exists there is not checked.

    Upper and lower case in the host make no difference, and neither does the default port (RFC 3986, section 6.2).
    """
    try:
        parts = urlsplit(uri)
    except ValueError:
        return False
    host = parts.netloc.lower().removesuffix(_DEFAULT_PORTS.get(parts.scheme, ":"))
    return f"{parts.scheme}://{host}" == web_url()


def media_source() -> str:
    """Return the servers of media files as further sources of a Content-Security-Policy; empty if this server serves the files.
    The bucket is included because MEDIA_URL may redirect to it, and browsers check both addresses.
    """
    found = (urlsplit(address) for address in (settings.MEDIA_URL, settings.BUCKET_URL))
    return "".join(dict.fromkeys(f" {parts.scheme}://{parts.netloc}" for parts in found if parts.netloc))
