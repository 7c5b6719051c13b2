"""Finds out which software known servers run (NodeInfo), which is shown to staff.

Servers that were reached recently are asked once in SOFTWARE_PERIOD. No decision of this server depends on the answer.
"""

from datetime import timedelta
from typing import Any, Final
from urllib.parse import urldefrag

from django.db.models import F, OuterRef, Q, Subquery

from accounts.models import Account, Domain
from accounts.services.domains import record_software_request, store_software
from federation.documents.reading import many, origin_of, parse, same_origin, text_of, web_uri
from federation.models import Fetch, FetchKind
from federation.reasons import Reason, Rejected
from federation.remote.fetching import DEADLINE, get
from federation.remote.webfinger import scheme_of
from social.kernel import clock
from social.kernel.errors import Unavailable
from social.kernel.lengths import NAME_LIMIT, WORD_LIMIT
from social.kernel.runner import enqueue
from social.kernel.text.names import one_line

SOFTWARE_PERIOD: Final = timedelta(days=7)
REACHED_PERIOD: Final = timedelta(days=1)
REQUESTS_LIMIT: Final = 200
_PLACE: Final = "/.well-known/nodeinfo"
# Newest first; the members that are read here are the same in all four versions.
_SCHEMAS: Final = [f"http://nodeinfo.diaspora.software/ns/schema/{number}" for number in ("2.1", "2.0", "1.1", "1.0")]
_ACCEPT: Final = (
    "application/json",
    "application/jrd+json",
    *(f'application/json; profile="{it}#"' for it in _SCHEMAS[:2]),
)


def request_software() -> int:
    """Request the software of at most REQUESTS_LIMIT servers that were reached recently and have not been asked for
    SOFTWARE_PERIOD, the server asked longest ago first. Return the number of requests.
    """
    now = clock.now()
    due = Q(software_asked_at=None) | Q(software_asked_at__lte=now - SOFTWARE_PERIOD)
    people = Account.objects.filter(domain=OuterRef("name"), deleted_at=None).order_by("-id").values("uri")[:1]
    rows = Domain.objects.filter(due, reached_at__gte=now - REACHED_PERIOD).annotate(uri=Subquery(people))
    domains = list(rows.order_by(F("software_asked_at").asc(nulls_first=True), "id")[:REQUESTS_LIMIT])
    record_software_request([domain.name for domain in domains])
    hosts = {domain.name: origin_of(domain.uri or "") or domain.name for domain in domains}
    fetches = [
        Fetch(kind=FetchKind.SOFTWARE, uri=f"{scheme_of(host)}://{host}{_PLACE}#{name}", host=host)
        for name, host in hosts.items()
    ]
    return len(enqueue(*fetches))


def read_software(address: str) -> None:
    """Store the name and version of a server's software. `address` is the address of its list of NodeInfo documents, with the
    server's domain as fragment. Raises Rejected, so that the fetch is not retried in this period, if the server has no readable
    NodeInfo or does not respond.
    """
    place, domain = urldefrag(address)
    links = {str(link.get("rel")): link for link in many(_document(place).get("links")) if isinstance(link, dict)}
    url = next((web_uri(links[schema].get("href")) for schema in _SCHEMAS if schema in links), None)
    if url is None or not same_origin(url, place):
        raise Rejected(Reason.NO_SOFTWARE_DOCUMENT)
    software = _document(url).get("software")
    name = _text_member(software, "name", WORD_LIMIT).lower()[:WORD_LIMIT]
    if not name:
        raise Rejected(Reason.NO_SOFTWARE_NAME)
    store_software(name=domain, software=name, version=_text_member(software, "version", NAME_LIMIT))


def _document(url: str) -> dict[str, Any]:
    try:
        response = get(url, accept=_ACCEPT, any_type=True, deadline=DEADLINE)
    except Unavailable as error:
        raise Rejected(Reason.SOFTWARE_REFUSED, str(error)) from None
    if response.status != 200:
        raise Rejected(Reason.SOFTWARE_REFUSED, f"{response.status} for its software")
    return parse(response.body)


def _text_member(document: Any, name: str, limit: int) -> str:
    return one_line(text_of(document.get(name), limit)) if isinstance(document, dict) else ""
