"""Resolves a name to addresses that may be connected to, and makes sockets that connect to nothing else."""

import asyncio
import contextlib
import errno
import os
import socket
import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from ipaddress import IPv6Address, ip_address
from weakref import WeakValueDictionary

from aiohttp import AddrInfoType
from aiohttp.abc import AbstractResolver, ResolveResult

from social.kernel.http.addresses import Address
from social.kernel.http.limits import asker

Lookup = Callable[[str, int], Sequence[str]]
"""Function that returns the addresses for a host name and a port. Runs in a separate thread, and may raise OSError."""
Permits = Callable[[Address], bool]
ADDRESSES_LIMIT = 2  # number of addresses of one family that are considered (contract, federation section 16)
LOOKUPS_LIMIT = 64  # limit on concurrent look-ups outside of any queue
LOOKUP_SECONDS = 5.0  # longest time that a fetch waits for a look-up and, before that, for a free slot, in seconds

# Each name server is asked twice, for two seconds (resolv.conf(5)). By default the C library would continue for half a minute,
# and occupy the look-up's thread after the fetch has given up.
os.environ.setdefault("RES_OPTIONS", "timeout:2 attempts:2")


class ForbiddenAddress(OSError):
    """Error for an address that this server never connects to; an OSError, because aiohttp handles no other error here."""

    def __init__(self, detail: str) -> None:
        super().__init__(errno.EACCES, detail)


def system_lookup(host: str, port: int) -> Sequence[str]:
    """Return the addresses that the operating system knows for a name, in its order of preference.

    Names under localhost resolve to this machine without a query (RFC 6761 section 6.3), a rule that not every C library
    follows.
    """
    if host == "localhost" or host.endswith(".localhost"):
        return "127.0.0.1", "::1"
    found = socket.getaddrinfo(
        host.encode("ascii"), port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP, flags=socket.AI_ADDRCONFIG
    )
    # A zone is part of the address here ("fe80::1%eth0"), so that addresses with a zone are refused.
    return [str(address[0]) for _family, _type, _proto, _name, address in found]


class CheckedResolver(AbstractResolver):
    """Resolver that returns only checked addresses, to which connections are then made, whatever the DNS answers a moment
    later. At most `limit` look-ups run at the same time, and at most a quarter of them for one asker (`limits.asker`).
    """

    def __init__(self, permits: Permits, lookup: Lookup = system_lookup, limit: int = LOOKUPS_LIMIT) -> None:
        self._permits = permits
        self._lookup = lookup
        self._slots = asyncio.Semaphore(limit)
        self._slots_per_asker = max(1, limit // 4)
        self._slots_of_askers: WeakValueDictionary[str, asyncio.Semaphore] = WeakValueDictionary()

    async def resolve(
        self, host: str, port: int = 0, family: socket.AddressFamily = socket.AF_UNSPEC
    ) -> list[ResolveResult]:
        """Return at most two IPv6 and two IPv4 addresses, in the order of the answer, without forbidden addresses. Raises
        ForbiddenAddress when all addresses are forbidden, OSError when there is no answer.
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
        """Do nothing, because no state is held between look-ups."""

    async def _look_up(self, host: str, port: int) -> Sequence[str]:
        """Look up a name in a separate daemon thread. In the threads of an executor, a silent name server would delay the end
        of the process, and look-ups whose fetches have ended would block other look-ups.

        Raises OSError if no slot becomes free within LOOKUP_SECONDS, or if no answer comes within LOOKUP_SECONDS after that.
        """
        loop = asyncio.get_running_loop()
        release = await self._acquire_slot(host)
        answer: asyncio.Future[Sequence[str]] = loop.create_future()

        def finish(addresses: Sequence[str], failure: Exception | None) -> None:
            # The slot stays taken until the thread ends, even if the fetch gave up earlier.
            release()
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
            # The loop may be gone when a slow name server finally answers.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(finish, addresses, failure)

        try:
            threading.Thread(target=work, name="name-lookup", daemon=True).start()
        except RuntimeError as error:
            release()
            raise OSError(errno.EAGAIN, str(error)) from None
        async with _time_limit(LOOKUP_SECONDS, f"no name server has answered for {host}"):
            return await answer

    async def _acquire_slot(self, host: str) -> Callable[[], None]:
        """Wait until one more look-up may begin; return the function that releases its slot."""
        wanted = [self._slots]
        if whose := asker():
            # The waiting and running look-ups of an asker keep its semaphore alive; it is deleted with the last of them.
            own = self._slots_of_askers.setdefault(whose, asyncio.Semaphore(self._slots_per_asker))
            wanted.insert(0, own)
        acquired: list[asyncio.Semaphore] = []

        def release() -> None:
            for slots in acquired:
                slots.release()

        try:
            async with _time_limit(LOOKUP_SECONDS, f"too many names are looked up to ask for {host}"):
                for slots in wanted:
                    await slots.acquire()
                    acquired.append(slots)
        except BaseException:
            release()
            raise
        return release


@asynccontextmanager
async def _time_limit(seconds: float, message: str) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(seconds):
            yield
    except TimeoutError as error:
        # A look-up may raise TimeoutError too, with the errno ETIMEDOUT; the error of `asyncio.timeout` has no errno.
        if error.errno is not None:
            raise
        raise OSError(errno.ETIMEDOUT, message) from None


def checked_socket(permits: Permits) -> Callable[[AddrInfoType], socket.socket]:
    """Return a factory of sockets that checks each address again, right before the connection is made to it."""

    def make(info: AddrInfoType) -> socket.socket:
        family, kind, protocol, _name, address = info
        if not permits(ip_address(address[0])):
            raise ForbiddenAddress(f"{address[0]} may not be connected to")
        return socket.socket(family, kind, protocol)

    return make
