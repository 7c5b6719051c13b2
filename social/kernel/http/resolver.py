"""Resolves a name to addresses that may be connected to, and makes sockets that connect to nothing else."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import socket
import threading
from collections.abc import Callable, Sequence
from ipaddress import IPv6Address, ip_address

from aiohttp import AddrInfoType
from aiohttp.abc import AbstractResolver, ResolveResult

from social.kernel.http.addresses import Address

Lookup = Callable[[str, int], Sequence[str]]
"""Function from a host name and a port to addresses; runs in a thread of its own, raises OSError."""
Permits = Callable[[Address], bool]
ADDRESSES_LIMIT = 2
"""Addresses of one family that are considered (contract, federation section 16)."""
LOOKUPS_LIMIT = 64
"""Name look-ups under way at once; more wait, within the deadlines of their fetches."""


class ForbiddenAddress(OSError):
    """An address that this server never connects to. An OSError, because the library beneath expects nothing else."""

    def __init__(self, detail: str) -> None:
        super().__init__(errno.EACCES, detail)


def system_lookup(host: str, port: int) -> Sequence[str]:
    """The addresses that the operating system knows for a name, in its order of preference.

    Names under localhost are this machine without a question (RFC 6761 section 6.3); not every C library knows that.
    """
    if host == "localhost" or host.endswith(".localhost"):
        return "127.0.0.1", "::1"
    found = socket.getaddrinfo(
        host.encode("ascii"), port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP, flags=socket.AI_ADDRCONFIG
    )
    # A zone is part of the text here ("fe80::1%eth0") and is refused with it.
    return [str(address[0]) for _family, _type, _proto, _name, address in found]


class CheckedResolver(AbstractResolver):
    """Answers with checked addresses only; they are what is connected to, whatever the DNS says a moment later."""

    def __init__(self, permits: Permits, lookup: Lookup = system_lookup) -> None:
        self._permits = permits
        self._lookup = lookup
        self._slots = asyncio.Semaphore(LOOKUPS_LIMIT)

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Return at most two IPv6 and two IPv4 addresses, in the order of the answer, without forbidden ones.

        Raises ForbiddenAddress when only forbidden ones are there, OSError when there is no answer.
        """
        considered: dict[socket.AddressFamily, list[Address]] = {}
        for text in await self._look_up(host, port):
            address = ip_address(text)
            kind = socket.AF_INET6 if isinstance(address, IPv6Address) else socket.AF_INET
            same_family = considered.setdefault(kind, [])
            if len(same_family) < ADDRESSES_LIMIT and address not in same_family:
                same_family.append(address)
        results = [
            ResolveResult(
                hostname=host, host=str(address), port=port, family=kind, proto=0, flags=socket.AI_NUMERICHOST
            )
            for kind, addresses in considered.items()
            for address in addresses
            if self._permits(address)
        ]
        if results:
            return results
        if considered:
            raise ForbiddenAddress(f"{host} has no address that may be connected to")
        raise OSError(errno.EADDRNOTAVAIL, f"{host} has no address")

    async def close(self) -> None:
        """Do nothing: no state is held between look-ups."""

    async def _look_up(self, host: str, port: int) -> Sequence[str]:
        """A daemon thread for each look-up: threads of an executor would hold up the end of the process for as long as
        a silent name server takes (30 s), and look-ups given up by their fetches would block those of others in it.
        """
        loop = asyncio.get_running_loop()
        await self._slots.acquire()
        answer: asyncio.Future[Sequence[str]] = loop.create_future()

        def finish(addresses: Sequence[str], failure: Exception | None) -> None:
            # The place is free when the thread is, however early the fetch gave up.
            self._slots.release()
            if answer.done():
                return
            if failure is not None:
                answer.set_exception(failure)
            else:
                answer.set_result(addresses)

        def work() -> None:
            addresses: Sequence[str] = ()
            failure: Exception | None = None
            try:
                addresses = self._lookup(host, port)
            except Exception as error:
                failure = error if isinstance(error, OSError) else OSError(errno.EINVAL, str(error))
            # The loop may be gone when a slow name server answers at last.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(finish, addresses, failure)

        try:
            threading.Thread(target=work, name="name-lookup", daemon=True).start()
        except RuntimeError as error:
            self._slots.release()
            raise OSError(errno.EAGAIN, str(error)) from None
        return await answer


def checked_socket(permits: Permits) -> Callable[[AddrInfoType], socket.socket]:
    """A maker of sockets that looks at each address once more, right before the connection is made to it."""

    def make(info: AddrInfoType) -> socket.socket:
        family, kind, protocol, _name, address = info
        if not permits(ip_address(address[0])):
            raise ForbiddenAddress(f"{address[0]} may not be connected to")
        return socket.socket(family, kind, protocol)

    return make
