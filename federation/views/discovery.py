"""Discovery of servers and accounts: WebFinger, host-meta, NodeInfo (contract, federation section 14)."""

from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

import orjson
from django.http import HttpRequest, HttpResponse

from accounts.identity.queries.sign_up import is_retired
from accounts.models import Account
from accounts.queries import accounts, site_settings
from accounts.services.instance_actor import instance_actor, instance_actor_uri, instance_username
from federation.documents import discovery
from federation.remote.references import own_username
from federation.views.negotiation import reads
from moderation.queries.instance import count_active, load_figures
from social.kernel import clock, identity, links
from social.kernel.errors import Gone, Invalid
from social.kernel.text.names import clean_input

_DAYS_3 = "public, max-age=259200"
_HALF_YEAR = timedelta(days=180)


def _json(data: dict[str, Any], content_type: str, cache: str) -> HttpResponse:
    headers = {"Cache-Control": cache, "Vary": "Origin, Accept"}
    return HttpResponse(orjson.dumps(data), content_type=content_type, headers=headers)


@reads
def webfinger(request: HttpRequest) -> HttpResponse:
    """`/.well-known/webfinger?resource=`: 400 for a malformed resource, 404 for an unknown and 410 for a deleted account."""
    resource = clean_input(request.GET.get("resource", "")).strip()
    if not resource or len(resource) > 2048:
        return _empty(400)
    try:
        account, instance = _find(resource)
    except Invalid:
        return _empty(400)
    except Gone:
        return _empty(410)
    if account is None:
        return _empty(404)
    content_type = "application/jrd+json; charset=utf-8"
    return _json(discovery.webfinger(account, instance=instance), content_type, _DAYS_3)


def _empty(status: int) -> HttpResponse:
    headers = {"Cache-Control": "private, no-store", "Vary": "Origin, Accept"}
    return HttpResponse(b"", status=status, headers=headers)


def _find(resource: str) -> tuple[Account | None, bool]:
    """Return the account that a resource names, and whether it is the instance actor. Raises Gone for a deleted account, and
    Invalid for a resource that is neither an address nor a URL.
    """
    # Schemes and hosts are case-insensitive (RFC 3986 section 3).
    scheme, separator, rest = resource.partition("://")
    if separator and scheme.lower() in ("http", "https"):
        host, slash, path = rest.partition("/")
        resource = f"{scheme.lower()}://{host.lower()}{slash}{path}"
        try:
            parts = urlsplit(resource)
        except ValueError:  # for example, an IPv6 address without its closing bracket
            return None, False
        if resource == instance_actor_uri() or (links.is_own(resource) and parts.path in ("", "/", "/about/more")):
            return instance_actor(), True
        username = own_username(resource)
        return _find_public_account(username) if username is not None else None, False
    address = resource
    if resource[:5].lower() == "acct:":
        address = resource[5:]
        if address.startswith("@"):  # users write such addresses, which are not valid acct: URIs (RFC 7565)
            return None, False
    if "@" not in address.removeprefix("@"):
        if not links.is_own_domain(address):
            raise Invalid
        return instance_actor(), True
    pair = accounts.split_address(address)
    if pair is None or pair[1] is not None:
        return None, False
    if links.is_own_domain(pair[0]) or pair[0].lower() == instance_username():
        return instance_actor(), True
    return _find_public_account(pair[0]), False


def _find_public_account(username: str) -> Account | None:
    account = accounts.list_accounts().filter(accounts.has_address(username, None), user__isnull=False).first()
    if account is None and is_retired(username):
        raise Gone
    return account


@reads
def host_meta(request: HttpRequest) -> HttpResponse:
    """`/.well-known/host-meta`: XRD, or JSON for a client that accepts it."""
    if "json" in request.headers.get("Accept", "") or request.path.rstrip("/").endswith(".json"):
        return _json(discovery.host_meta_json(), "application/json; charset=utf-8", _DAYS_3)
    headers = {"Cache-Control": _DAYS_3, "Vary": "Origin, Accept"}
    return HttpResponse(discovery.host_meta_xml(), content_type="application/xrd+xml; charset=utf-8", headers=headers)


@reads
def nodeinfo_links(request: HttpRequest) -> HttpResponse:
    """`/.well-known/nodeinfo`."""
    return _json(discovery.nodeinfo_links(), "application/json; charset=utf-8", _DAYS_3)


@reads
def nodeinfo(request: HttpRequest, version: str) -> HttpResponse:
    """`/nodeinfo/2.0` and `/nodeinfo/2.1`."""
    texts, figures = site_settings.load_site_texts(), load_figures()
    # As in the client API, the numbers of active users are not public when federation is limited (contract, entities).
    is_public = not identity.is_federation_limited()
    document = discovery.nodeinfo(
        version,
        users=figures.users,
        active_month=figures.active_month if is_public else 0,
        active_half_year=count_active(clock.now() - _HALF_YEAR) if is_public else 0,
        posts=figures.statuses,
        title=texts["site_title"],
        description=texts["site_short_description"],
        is_open=texts["site_registrations"] == "open",
    )
    schema = f"{discovery.NODEINFO_SCHEMA}/{version}#"
    return _json(document, f'application/json; charset=utf-8; profile="{schema}"', "public, max-age=1800")
