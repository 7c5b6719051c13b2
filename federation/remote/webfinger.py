"""WebFinger: finds the actor of an address, and confirms that the address and the actor name each other.

A domain without WebFinger may name, in its host-meta, the server that answers instead. The content types of both documents are
ignored, because static file servers send any type. Sources: RFC 7033, RFC 6415; contract, federation section 1, section 4
"Incoming actors" and section 17; security rows 5 and 14.
"""

import re
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from django.conf import settings
from lxml import etree

from accounts.queries.accounts import split_address
from federation.documents.reading import many, origin_of, parse, web_uri
from federation.documents.received_actors import is_username
from federation.reasons import Reason, Rejected
from federation.remote.fetching import Missing, get
from social.kernel.errors import Unavailable
from social.kernel.http.addresses import parse_url
from social.kernel.http.content import ACTIVITY_TYPES, is_acceptable

_ACCEPT: Final = ("application/jrd+json", "application/json")
_HOST_META: Final = ("application/xrd+xml", "application/xml", "text/xml")
_LINK: Final = "{*}Link"
_SCHEME: Final = re.compile(r"\Aacct:", re.IGNORECASE)
DEADLINE: Final = 5.0
SUBSCRIBE: Final = "http://ostatus.org/schema/1.0/subscribe"
"""The link relation of the page on which users of a server follow remote accounts."""


@dataclass(frozen=True)
class WebFingerResult:
    """A domain's answer about an address: its canonical form, and the id of the actor."""

    username: str
    domain: str
    actor_uri: str


class OwnAddress(Rejected):
    """Refusal of an address that leads to the account `username` on this server."""

    def __init__(self, username: str) -> None:
        super().__init__(Reason.ADDRESS_OF_OURS)
        self.username = username


def scheme_of(domain: str) -> str:
    """Return `https`, or `http` for a server on the same machine if the operator allows it for trials (FEDERATION_LOOPBACK)."""
    return "http" if settings.FEDERATION_LOOPBACK and parse_url(f"http://{domain}").host.is_loopback else "https"


def look_up(username: str, domain: str, *, deadline: float = DEADLINE) -> WebFingerResult:
    """Look up an address at its domain. If the answer names an address at another domain, look up that address there, once.
    Raises Missing, Rejected, and Unavailable when a server could not be reached.
    """
    result = _ask(username, domain, deadline)
    if (result.username.lower(), result.domain) == (username.lower(), domain):
        return result
    confirmed = _ask(result.username, result.domain, deadline)
    if confirmed != result:
        raise Rejected(Reason.LEADS_TO_THIRD_DOMAIN)
    return confirmed


def confirm(username: str, domain: str, actor_uri: str, *, deadline: float = DEADLINE) -> WebFingerResult:
    """Return the address that an actor claims. Raises the errors of `look_up`, and Rejected if the address belongs to another
    actor.
    """
    result = look_up(username, domain, deadline=deadline)
    if result.actor_uri != actor_uri:
        raise Rejected(Reason.OTHER_ACTOR_AT_ADDRESS)
    return result


def find_interaction_page(username: str, domain: str, uri: str) -> str:
    """Return the address of the page on which the user with this address can act on the object `uri`, as the user's server
    states it. Raises the errors of `look_up`, and Rejected if the answer has no public https address.
    """
    for link in many(_document(username, domain, DEADLINE).get("links")):
        template = link.get("template") if isinstance(link, dict) and link.get("rel") == SUBSCRIBE else None
        if not isinstance(template, str) or "{uri}" not in template:
            continue
        page = _filled_template(template, quote(uri, safe=""))
        if page is not None:
            return page
    raise Rejected(Reason.NO_PAGE_FOR_IT)


def _document(username: str, domain: str, deadline: float) -> dict[str, Any]:
    resource = quote(f"acct:{username}@{domain}", safe="")
    url = f"{scheme_of(domain)}://{domain}/.well-known/webfinger?resource={resource}"
    response = get(url, accept=_ACCEPT, any_type=True, deadline=deadline)
    if response.status == 404:
        host_meta = get(
            f"{scheme_of(domain)}://{domain}/.well-known/host-meta", accept=_HOST_META, any_type=True, deadline=deadline
        )
        elsewhere = place_in_host_meta(host_meta.body, resource) if host_meta.status == 200 else None
        if elsewhere is not None:
            response = get(elsewhere, accept=_ACCEPT, any_type=True, deadline=deadline)
    if response.status in (400, 401, 403, 404, 410):
        raise Missing(f"{response.status} from {domain}", response.status)
    if response.status != 200:
        raise Unavailable(f"{response.status} from {domain}")
    return parse(response.body)


def _ask(username: str, domain: str, deadline: float) -> WebFingerResult:
    document = _document(username, domain, deadline)
    subject = document.get("subject")
    if not isinstance(subject, str) or len(subject) > 4096:
        raise Rejected(Reason.NO_SUBJECT)
    pair = split_address(_SCHEME.sub("", subject.strip()))
    if pair is None or not is_username(pair[0]):
        raise Rejected(Reason.SUBJECT_IS_NO_ADDRESS)
    proper = pair[1]
    if proper is None:
        raise OwnAddress(pair[0])
    if origin_of(f"https://{proper}") is None:
        raise Rejected(Reason.ADDRESS_OF_OURS)
    for link in many(document.get("links")):
        if not isinstance(link, dict) or link.get("rel") != "self" or not isinstance(link.get("type"), str):
            continue
        actor_uri = web_uri(link.get("href"))
        if actor_uri is not None and is_acceptable(link["type"], ACTIVITY_TYPES):
            return WebFingerResult(pair[0], proper, actor_uri)
    raise Rejected(Reason.ADDRESS_WITHOUT_ACTOR)


def place_in_host_meta(body: bytes, resource: str) -> str | None:
    """Return the address in a host-meta document, or None; resolves no entities, and fetches nothing (security row 35)."""
    parser = etree.XMLParser(resolve_entities=False, load_dtd=False, no_network=True, recover=True)
    try:
        root = etree.fromstring(body, parser)
    except (etree.LxmlError, ValueError):
        return None
    for link in root.iter(_LINK) if root is not None else ():
        template = link.get("template", "")
        place = _filled_template(template, resource) if link.get("rel") == "lrdd" and "{uri}" in template else None
        if place is not None:
            return place
    return None


def _filled_template(template: str, value: str) -> str | None:
    """Return the address that results when `{uri}` is replaced by `value`; None if the result is not an https address."""
    url = web_uri(template.replace("{uri}", value))
    origin = origin_of(url) if url is not None else None
    return url if url is not None and origin is not None and url.startswith(f"{scheme_of(origin)}://") else None
