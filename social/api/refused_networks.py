"""Blocked networks, whose requests are refused, and the port that loads them (contract, behaviours section 4 "IP block").

Each process reloads the networks after RELOAD_SECONDS. A check costs a comparison of times and, if networks are blocked, one
look-up in a cache.
"""

import ipaddress
import logging
import re
import time
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import Final

from django.db import DatabaseError
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _

from social.api.addresses import client_ip
from social.api.responses import error
from social.kernel.ports import Port

logger = logging.getLogger("social.api")
RELOAD_SECONDS: float = 5.0
_INITIAL_TIME: Final = float("-inf")
#: Paths of probes, which reveal only whether the server is up; `/metrics` checks its callers itself.
_PROBES: Final = re.compile(r"/(?:health(?:/ready)?|metrics)/?")


#: Loads the blocked networks, in CIDR notation.
source: Final[Port[Callable[[], Iterable[str]]]] = Port("social.api.refused_networks.source")


class _State:
    loaded_at: float = _INITIAL_TIME
    networks: tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...] = ()


def forget() -> None:
    """Discard the loaded networks, so that the next request of this process loads them again."""
    _State.loaded_at = _INITIAL_TIME


def is_refused(address: str) -> bool:
    """Tell whether an address, in canonical form, is in a blocked network.

    If the database is down, the networks loaded last are used.
    """
    refresh()
    return is_known_to_be_refused(address)


def refresh() -> None:
    """Load the networks again if they were loaded more than RELOAD_SECONDS ago."""
    now = time.monotonic()
    if now - _State.loaded_at > RELOAD_SECONDS:
        _State.loaded_at = now
        _load()


def is_known_to_be_refused(address: str) -> bool:
    """Tell whether an address is in one of the networks loaded last. Makes no query, so that event loops can call it."""
    return bool(_State.networks) and _in_one(address)


def _load() -> None:
    load = source.find()
    try:
        _State.networks = tuple(ipaddress.ip_network(network) for network in load()) if load is not None else ()
        _in_one.cache_clear()
    except DatabaseError as problem:
        logger.warning("Blocked networks could not be read (%s)", problem)


@lru_cache(maxsize=4096)
def _in_one(address: str) -> bool:
    parsed = ipaddress.ip_address(address)
    # Loopback addresses are refused only if a loopback network itself is blocked, so that an operator who has blocked all
    # addresses by mistake can still reach the server from this machine and undo the block.
    return any(parsed in network and (network.is_loopback or not parsed.is_loopback) for network in _State.networks)


class RefusedNetworksMiddleware:
    """Refuses requests from blocked networks with 403, except probes (security row 79). Comes after RequestMiddleware."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        if is_refused(client_ip(request)) and not _PROBES.fullmatch(request.path):
            return error(_("Forbidden"), status=403)
        return self.get_response(request)
