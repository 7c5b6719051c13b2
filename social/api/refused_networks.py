"""Networks that get no answer, and who is asked for them (contract, behaviours section 4 "IP block").

Each process asks again after RELOAD_SECONDS; looking an address up costs a comparison of the clock and, where there are such
networks, a look into a cache.
"""

from __future__ import annotations

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

logger = logging.getLogger("social.api")
RELOAD_SECONDS: float = 5.0
_INITIAL_TIME: Final = float("-inf")
#: Paths of probes: they tell nothing but whether the server is up, and `/metrics` checks who asks by itself.
_PROBES: Final = re.compile(r"/(?:health(?:/ready)?|metrics)/?")


class _State:
    load: Callable[[], Iterable[str]] = staticmethod(lambda: ())
    loaded_at: float = _INITIAL_TIME
    networks: tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...] = ()


def plug_in(load: Callable[[], Iterable[str]]) -> None:
    """Ask `load` for the networks, as CIDR, from now on."""
    _State.load = staticmethod(load)
    forget()


def forget() -> None:
    """Ask again at the next request of this process."""
    _State.loaded_at = _INITIAL_TIME


def is_refused(address: str) -> bool:
    """Tell whether an address, in its canonical form, is in one of the networks. While the database is away the last answer
    counts.
    """
    refresh()
    return is_known_to_be_refused(address)


def refresh() -> None:
    """Ask for the networks again if that was more than RELOAD_SECONDS ago."""
    now = time.monotonic()
    if now - _State.loaded_at > RELOAD_SECONDS:
        _State.loaded_at = now
        _load()


def is_known_to_be_refused(address: str) -> bool:
    """The answer of `is_refused` from the memory of this process: nobody is asked, so an event loop may."""
    return bool(_State.networks) and _in_one(address)


def _load() -> None:
    try:
        _State.networks = tuple(ipaddress.ip_network(network) for network in _State.load())
        _in_one.cache_clear()
    except DatabaseError as problem:
        logger.warning("Blocked networks could not be read (%s)", problem)


@lru_cache(maxsize=4096)
def _in_one(address: str) -> bool:
    parsed = ipaddress.ip_address(address)
    # Loopback addresses are refused by blocks of loopback networks alone: an operator who has blocked all addresses by mistake
    # can still watch the server from this machine, and undo it.
    return any(parsed in network and (network.is_loopback or not parsed.is_loopback) for network in _State.networks)


class RefusedNetworksMiddleware:
    """Answers 403 to requests from a refused network, except probes (security row 79). Stands behind RequestMiddleware."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        """Serve or refuse the request."""
        if is_refused(client_ip(request)) and not _PROBES.fullmatch(request.path):
            return error(_("Forbidden"), status=403)
        return self.get_response(request)
