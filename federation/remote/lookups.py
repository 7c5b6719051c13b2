"""Implementations of the ports of accounts and timelines that find the remote object behind an address or a URL."""

import logging
import re
import time
from collections import abc
from collections.abc import Mapping
from html import unescape
from typing import Final
from urllib.parse import urljoin

from accounts.collections.models import Collection
from accounts.models import Account
from accounts.queries.accounts import by_address
from accounts.services.remote_accounts import is_stale, may_refresh
from federation.documents import reading, received_actors, received_collections, received_notes
from federation.models import Lookup
from federation.reasons import Rejected
from federation.remote import collections, fetching, posts, references, requests, signing, webfinger
from federation.remote.actors import fetch_actor, find_or_fetch, refresh
from social.kernel.errors import KernelError, Unavailable
from social.kernel.http.client import ACTIVITY_TYPES, Response
from social.kernel.http.content import ACTIVITY_PROFILE, media_type
from social.kernel.runner import enqueue
from statuses.models import Status

logger = logging.getLogger("social.federation")

LOOKUP_SECONDS: Final = 5.0
Address = tuple[str, str | None]
Found = Account | Status | Collection


class RemoteAddresses:
    """Remote accounts, found by WebFinger within LOOKUP_SECONDS, on servers that have not been asked too often."""

    def find_by_address(self, addresses: abc.Collection[tuple[str, str]]) -> Mapping[tuple[str, str], Account]:
        end = time.monotonic() + LOOKUP_SECONDS
        accounts: dict[tuple[str, str], Account] = {}
        for address in addresses:
            seconds_left = end - time.monotonic()
            if seconds_left <= 0.2:
                break
            account = find_remote(*address, deadline=seconds_left) if requests.may_look_up(address[1]) else None
            if account is not None:
                accounts[address] = account
        return accounts

    def seek(self, addresses: abc.Collection[Address], *, wanted_by: str) -> abc.Collection[Address]:
        hosts = {
            f"{username}@{domain}": reading.origin_of(f"https://{domain}") for username, domain in addresses if domain
        }
        failed_at = dict(Lookup.objects.filter(address__one_of=hosts).values_list("address", "dead_at"))
        rows = (
            Lookup(address=name, host=host, wanted_by=wanted_by)
            for name, host in hosts.items()
            if host and name not in failed_at
        )
        enqueue(*rows)
        return [
            (username, domain)
            for username, domain in addresses
            if not hosts.get(name := f"{username}@{domain}") or failed_at.get(name)
        ]

    def refresh(self, account: Account) -> Account:
        try:
            return refresh(account, deadline=LOOKUP_SECONDS)
        except Rejected as error:
            raise Unavailable from error


def find_remote(username: str, domain: str, *, deadline: float = LOOKUP_SECONDS) -> Account | None:
    """Return the account with this address; None if its server knows no such account or does not answer."""
    try:
        return look_up_account(username, domain, deadline=deadline)
    except (Rejected, KernelError) as error:
        logger.info("No account for %s@%s: %s", username, domain, error)
        return None


def look_up_account(username: str, domain: str, *, deadline: float = LOOKUP_SECONDS) -> Account | None:
    """Return the account with this address. The account may be local, because any domain may name a local account as the owner
    of an address. Raises Rejected or Missing when the server refuses, and Unavailable when the server does not answer.
    """
    try:
        address = webfinger.look_up(username, domain, deadline=deadline)
    except webfinger.OwnAddress as own:
        return by_address([(own.username, None)]).get((own.username.lower(), None))
    account = find_or_fetch(address.actor_uri, deadline=deadline)
    # The address of a known account may have changed since the account was fetched.
    if is_stale(account) or (not _has_address(account, address) and may_refresh(account)):
        account = refresh(account, deadline=deadline)
    return account if _has_address(account, address) else None


def _has_address(account: Account, address: webfinger.WebFingerResult) -> bool:
    return (account.username.lower(), (account.domain or "").lower()) == (address.username.lower(), address.domain)


_HTML: Final = "text/html"
# Contract, federation section 1: the document is preferred to the page.
_ACCEPT: Final = (f'application/ld+json; profile="{ACTIVITY_PROFILE}"', "application/activity+json", f"{_HTML};q=0.1")
_HEAD: Final = 200_000
_LINK: Final = re.compile(r"<link\b[^>]*>", re.IGNORECASE)
_ATTRIBUTE: Final = re.compile(r"""([a-z]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>;]+))""", re.IGNORECASE)
# RFC 8288, section 3: an address, then parameters.
_HEADER_LINK: Final = re.compile(
    r"""<([^<>]*)>((?:\s*;\s*[a-z]+\s*=\s*(?:"(?:[^"\\]|\\.)*+"|[^\s",;]+))*+)""", re.IGNORECASE
)


class RemoteDocuments:
    """Remote accounts, posts and collections, found by their id or by the page that links to their document."""

    def find_by_url(self, url: str) -> Found | None:
        host = reading.origin_of(url)
        if host is None:
            return None
        try:
            return _stored_object(url) or (
                _fetch(url, time.monotonic() + LOOKUP_SECONDS) if requests.may_look_up(host) else None
            )
        except (Rejected, KernelError) as error:
            logger.info("Nothing to show behind %s: %s", url, error)
            return None


def _stored_object(uri: str) -> Found | None:
    post = references.find_post_by_uri(uri)
    if post is not None:
        return None if post.is_deleted else post
    return references.find_account_by_uri(uri) or Collection.objects.filter(uri=uri).first()


def _fetch(url: str, end: float, *, page: bool = True) -> Found | None:
    """Fetch a document and the object that it describes; with `page`, an HTML page may link to the document."""
    response = fetching.get(url, accept=_ACCEPT, signer=signing.server_signer(), deadline=_seconds_left(end))
    if response.status != 200:
        return None
    if media_type(response.headers.get("Content-Type", ""))[0] == _HTML:
        link = _document_of(response) if page else None
        if link is None or reading.origin_of(link) is None:
            return None
        return _stored_object(link) or _fetch(link, end, page=False)
    document = reading.parse(response.body)
    uri, kinds = reading.uri_of(document), reading.kinds_of(document)
    if uri is None:
        return None
    # An object is trusted only if its own server returns it under its id; therefore the functions below fetch it again.
    stored = _stored_object(uri)
    if stored is not None:
        return stored
    if any(kind in received_actors.TYPES for kind in kinds):
        return fetch_actor(uri, deadline=_seconds_left(end))
    if any(kind in received_notes.TYPES for kind in kinds):
        return posts.find_or_fetch_post(uri, deadline=_seconds_left(end))
    if received_collections.is_featured_collection(document):
        return collections.fetch_unknown_collection(document, deadline=_seconds_left(end))
    return None


def _seconds_left(end: float) -> float:
    return max(end - time.monotonic(), 0.1)


def _document_of(response: Response) -> str | None:
    """Return the address of the ActivityPub document that a page links to, in its `Link` header or in its HTML."""
    header = ", ".join(response.headers.getall("Link", []))
    html = response.body[:_HEAD].decode("utf-8", "replace")
    links = [{"href": address} | _attributes(rest) for address, rest in _HEADER_LINK.findall(header)]
    for link in (*links, *map(_attributes, _LINK.findall(html))):
        if "alternate" in link.get("rel", "").lower().split() and any(
            media_type(link.get("type", ""))[0] == media_type(kind)[0] for kind in ACTIVITY_TYPES
        ):
            return str(urljoin(response.url, link.get("href", "").strip()))
    return None


def _attributes(text: str) -> dict[str, str]:
    return {name.lower(): unescape(double or single or bare) for name, double, single, bare in _ATTRIBUTE.findall(text)}
