"""Discovery documents: WebFinger, host-meta and NodeInfo (contract, federation section 14)."""

from typing import Any, Final

from django.conf import settings
from django.utils.html import escape

from accounts.models import Account
from federation.documents.actors import media_type_of
from social.kernel import links, versions
from social.kernel.media import storage

WEBFINGER_PATH: Final = "/.well-known/webfinger"
NODEINFO_SCHEMA: Final = "http://nodeinfo.diaspora.software/ns/schema"
NODEINFO_VERSIONS: Final = ("2.0", "2.1")


def webfinger(account: Account, *, instance: bool = False) -> dict[str, Any]:
    """Return the WebFinger document of an account (RFC 7033); `instance` is True for the instance actor."""
    page = links.web_url("/about/more?instance_actor=true") if instance else links.profile_url(account.username)
    interaction = links.web_url("/authorize_interaction")
    profile_links: list[dict[str, str]] = [
        {"rel": "http://webfinger.net/rel/profile-page", "type": "text/html", "href": page},
        {"rel": "self", "type": "application/activity+json", "href": account.uri},
        {"rel": "http://ostatus.org/schema/1.0/subscribe", "template": f"{interaction}?uri={{uri}}"},
        {"rel": "https://w3id.org/fep/3b86/Create", "template": links.web_url("/share?text={content}")},
        {"rel": "https://w3id.org/fep/3b86/Object", "template": f"{interaction}?uri={{object}}"},
    ]
    if account.avatar and not account.suspended and not instance:
        avatar = {"type": media_type_of(account.avatar), "href": storage.url(account.avatar)}
        profile_links.append({"rel": "http://webfinger.net/rel/avatar", **avatar})
    return {
        "subject": f"acct:{account.username}@{settings.LOCAL_DOMAIN}",
        "aliases": [page, account.uri],
        "links": profile_links,
    }


def host_meta_json() -> dict[str, Any]:
    """Return host-meta as JSON (RFC 6415)."""
    return {"links": [{"rel": "lrdd", "template": links.web_url(f"{WEBFINGER_PATH}?resource={{uri}}")}]}


def host_meta_xml() -> str:
    """Return host-meta in its original format, XRD."""
    template = escape(links.web_url(f"{WEBFINGER_PATH}?resource={{uri}}"))
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<XRD xmlns="http://docs.oasis-open.org/ns/xri/xrd-1.0">\n'
        f'  <Link rel="lrdd" template="{template}"/>\n'
        "</XRD>\n"
    )


def nodeinfo_links() -> dict[str, Any]:
    return {
        "links": [
            {"rel": f"{NODEINFO_SCHEMA}/{version}", "href": links.web_url(f"/nodeinfo/{version}")}
            for version in NODEINFO_VERSIONS
        ]
    }


def nodeinfo(
    version: str,
    *,
    users: int,
    active_month: int,
    active_half_year: int,
    posts: int,
    title: str,
    description: str,
    is_open: bool,
) -> dict[str, Any]:
    """Return the NodeInfo document, with this server's software and usage. `software.version` is the version of the client API
    unless NODEINFO_NAME is `social`, because clients compare it by Semantic Versioning (clients.md E1).
    """
    own_version = settings.VERSION if settings.NODEINFO_NAME == "social" else versions.CLIENT_VERSION
    software = {"name": settings.NODEINFO_NAME, "version": own_version}
    if version == "2.1":
        software |= {"repository": settings.SOURCE_URL, "homepage": settings.SOURCE_URL}
    upstream = {"name": "mastodon", "version": versions.UPSTREAM_VERSION}
    return {
        "version": version,
        "software": software,
        "protocols": ["activitypub"],
        "services": {"inbound": [], "outbound": []},
        "usage": {
            "users": {"total": users, "activeMonth": active_month, "activeHalfyear": active_half_year},
            "localPosts": posts,
        },
        "openRegistrations": is_open,
        "metadata": {"nodeName": title, "nodeDescription": description, "upstream": upstream},
    }
