"""HTTP client for machines that may be hostile, and its interface for the rest of the server.

Sources: DESIGN "One way out", contract, federation sections 1, 10 and 16, security rows 4, 6, 7 and 10.
"""

import asyncio
import functools
from collections.abc import AsyncIterator, Coroutine, Mapping
from concurrent.futures import CancelledError
from dataclasses import replace
from ipaddress import ip_network
from typing import IO, Any, TypeVar
from urllib.parse import urljoin

import aiohttp
from aiohttp.http_exceptions import LineTooLong
from django.conf import settings
from multidict import CIMultiDict
from yarl import URL

from social.kernel.http import limits, network, resolver
from social.kernel.http.addresses import Target, parse_url
from social.kernel.http.answers import Answer
from social.kernel.http.content import ACTIVITY_TYPES as ACTIVITY_TYPES
from social.kernel.http.content import check_type, read_beginning, read_body, write_body
from social.kernel.http.errors import Busy as Busy
from social.kernel.http.errors import Exhausted as Exhausted
from social.kernel.http.errors import FetchError as FetchError
from social.kernel.http.errors import Refused as Refused
from social.kernel.http.errors import TimedOut as TimedOut
from social.kernel.http.errors import TooLarge as TooLarge
from social.kernel.http.errors import TooManyRedirects as TooManyRedirects
from social.kernel.http.errors import Unreachable as Unreachable
from social.kernel.http.errors import Untrusted as Untrusted
from social.kernel.http.errors import WrongType as WrongType
from social.kernel.http.exchanges import Policy as Policy
from social.kernel.http.exchanges import Request as Request
from social.kernel.http.exchanges import Response as Response
from social.kernel.http.exchanges import Signer as Signer
from social.kernel.lengths import URI_LIMIT
from social.kernel.terms import TERMS

T = TypeVar("T")
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_FOLLOWED = frozenset({"GET", "HEAD"})
_HTTP = ("https", "http")
# Headers that are left out after a redirect to another host, because they are meant for the first host only.
_CREDENTIALS = ("Authorization", "Cookie", "Proxy-Authorization")
_ERROR_BYTES = 16 * 1024
_PIECE_BYTES = 256 * 1024
_CONNECTIONS = 512
_CONNECTIONS_PER_HOST = 16
_KEEP_ALIVE = 15.0
# Seconds. If a request fails after at least this time, without headers from its host, the host counts as unreachable for a
# while.
_HEADER_SECONDS = 1.0


class GuardedClient:
    """Pool of connections under one policy, shared by all threads of a process; safe across fork.

    For each connection the name is resolved once, and the connection goes to an address that was checked. Certificates are
    verified; proxies, cookies and netrc are not used. Redirects are followed only as far as the request allows. Only FetchError
    and the signer's errors are raised.
    """

    def __init__(
        self,
        policy: Policy,
        lookup: resolver.Lookup = resolver.system_lookup,
        lookups_limit: int = resolver.LOOKUPS_LIMIT,
    ) -> None:
        self.policy = policy
        self._lookup = lookup
        self._lookups_limit = lookups_limit
        self._session: aiohttp.ClientSession | None = None
        self._network: network.NetworkThread | None = None
        self._pauses = limits.HostPauses()

    def send(self, request: Request) -> Response:
        """Send a request as `fetch` does, under this client's policy."""
        with limits.spending(request.deadline) as seconds:
            thread = network.current()
            try:
                # The loop enforces the deadline; this time-out only ends the wait for a loop that hangs.
                return thread.call(self._exchange(thread, request, seconds), timeout=seconds + 5.0)
            except TimeoutError:
                raise TimedOut(f"the network loop did not answer within {seconds + 5.0:g} s") from None
            except CancelledError:
                raise Unreachable("the process is ending") from None

    async def send_async(self, request: Request) -> Response:
        """Send a request as `fetch_async` does, under this client's policy."""
        with limits.spending(request.deadline) as seconds:
            thread = network.current()
            return await thread.await_here(self._exchange(thread, request, seconds))

    def close(self) -> None:
        """Close the connections; the next request opens new ones."""
        if self._session is not None and self._network is network.current():
            self._network.call(self._close_session())

    async def _close_session(self) -> None:
        if self._session is not None:
            session, self._session = self._session, None
            await session.close()

    async def _exchange(self, thread: network.NetworkThread, request: Request, seconds: float) -> Response:
        try:
            async with asyncio.timeout(seconds):
                return await self._follow(self._open(thread), request)
        except TimeoutError:
            raise TimedOut(f"{request.url[:200]} took longer than {seconds:g} s") from None

    def _open(self, thread: network.NetworkThread) -> aiohttp.ClientSession:
        """Return the session of this process's loop. A session inherited in a fork belongs to the parent: it is neither
        used nor garbage-collected here, because the parent's network thread still refers to it.
        """
        if self._session is None or self._network is not thread:
            connector = aiohttp.TCPConnector(
                resolver=resolver.CheckedResolver(self.policy.permits, self._lookup, self._lookups_limit),
                socket_factory=resolver.checked_socket(self.policy.permits),
                ssl=True,
                limit=_CONNECTIONS,
                limit_per_host=_CONNECTIONS_PER_HOST,
                keepalive_timeout=_KEEP_ALIVE,
            )
            self._session = aiohttp.ClientSession(
                connector=connector,
                response_class=Answer,
                cookie_jar=aiohttp.DummyCookieJar(),
                timeout=aiohttp.ClientTimeout(total=None),
                skip_auto_headers=("Accept", "Content-Type"),
                auto_decompress=False,
                trust_env=False,
            )
            thread.at_close(self._session.close)
            self._network = thread
        return self._session

    async def _follow(self, session: aiohttp.ClientSession, request: Request) -> Response:
        target = parse_url(request.url)
        headers = CIMultiDict(request.headers or {})
        if request.accept:
            headers.setdefault("Accept", ", ".join(request.accept))
        for _hop in range(request.redirects + 1):
            self.policy.check(target, request.schemes)
            answer = await self._ask(session, request, target, headers)
            if isinstance(answer, Response):
                return answer
            following = _redirected(target, answer)
            if following.origin != target.origin:
                for name in _CREDENTIALS:
                    headers.popall(name, None)
            target = following
        raise TooManyRedirects(f"{request.url[:200]} redirects more than {request.redirects} times")

    async def _ask(
        self, session: aiohttp.ClientSession, request: Request, target: Target, headers: CIMultiDict[str]
    ) -> Response | str:
        """Make one request on one connection; return the response, or the location of a redirect."""
        host, port = target.host.name, target.port
        if limits.in_web_request() and self._pauses.holds(host, port):
            raise Unreachable(f"{host} could not be reached a moment ago")
        method = request.method.upper()
        sent = headers.copy()
        sent["Host"] = target.netloc
        if request.signer is not None:
            sent.update(request.signer(method, target.url, sent, request.body))
        sent.setdefault("User-Agent", self.policy.user_agent)
        sent["Accept-Encoding"] = "gzip"
        body = request.body if request.upload is None else _pieces(request.upload)
        loop = asyncio.get_running_loop()
        started = loop.time()
        try:
            response = await session.request(
                method, URL(target.url, encoded=True), headers=sent, data=body, allow_redirects=False
            )
        except asyncio.CancelledError:
            if loop.time() - started >= _HEADER_SECONDS:
                self._pauses.note(host, port)
            raise
        except Exception as error:
            failure = _failure(error, target)
            if isinstance(error, aiohttp.ClientConnectorError) and not isinstance(failure, Refused):
                self._pauses.note(host, port)
            raise failure from None
        self._pauses.forget(host, port)
        try:
            return await self._receive(request, method, target, response)
        except FetchError:
            raise
        except Exception as error:
            raise _failure(error, target) from None
        finally:
            # This returns the connection to the pool if the body was read to its end, and closes it otherwise.
            response.release()

    async def _receive(
        self, request: Request, method: str, target: Target, response: aiohttp.ClientResponse
    ) -> Response | str:
        if response.status in _REDIRECTS and method in _FOLLOWED:
            location = response.headers.get("Location")
            if location:
                return location
        if 200 <= response.status < 300:
            if request.accept and not request.any_type and response.status != 204:
                check_type(response, request.accept)
            body = b""
            if method != "HEAD" and request.file is not None:
                await write_body(response, request.max_bytes, request.file)
            elif method != "HEAD":
                body = await (read_beginning if request.cut else read_body)(response, request.max_bytes)
        else:
            body = await read_beginning(response, _ERROR_BYTES)
        return Response(response.status, response.headers, body, target.url)


async def _pieces(file: IO[bytes]) -> AsyncIterator[bytes]:
    # A file may be on a slow disk, and must not delay the other exchanges of the loop.
    while piece := await asyncio.to_thread(file.read, _PIECE_BYTES):
        yield piece


def _redirected(target: Target, location: str) -> Target:
    """Return the target of a Location header, resolved against the URL that sent it (RFC 9110 section 10.2.2)."""
    try:
        return parse_url(urljoin(target.url, location))
    except ValueError as error:
        raise Refused(f"redirected to what is no URL: {error}") from None


def _failure(error: Exception, target: Target) -> FetchError:
    """Return the FetchError for an exception of the library; its text is truncated because it quotes the other server.

    Any other exception counts as a failed connection too, because the library is known to leak IndexError, ValueError and the
    exceptions of its parser.
    """
    detail = f"{target.host.name}: {type(error).__name__}: {error}"[:500]
    if isinstance(error, aiohttp.ClientConnectorCertificateError):
        return Untrusted(detail)
    if isinstance(error, aiohttp.ClientConnectorError) and isinstance(error.os_error, resolver.ForbiddenAddress):
        return Refused(error.os_error.strerror or detail)
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, LineTooLong):
            return TooLarge(detail)
        cause = cause.__cause__
    return Unreachable(detail)


# --- the client of this server ------------------------------------------------------------------------------------


def policy_from_settings() -> Policy:
    """Return the policy of this server, made from FEDERATION_LOOPBACK, ALLOWED_PRIVATE_ADDRESSES and other settings."""
    return _policy(
        settings.FEDERATION_LOOPBACK,
        (settings.WEB_DOMAIN, settings.LOCAL_DOMAIN),
        f"Social/{settings.VERSION} (+{settings.BASE_URL})",
        tuple(map(str, getattr(settings, "ALLOWED_PRIVATE_ADDRESSES", ()))),
    )


def place_of(url: str) -> Target | None:
    """Return the parsed URL if this server may send requests there; None if the URL is too long or invalid, has a scheme other
    than https, or has a blocked address or port. The host name is not looked up.
    """
    try:
        place = parse_url(url)
        policy_from_settings().check(place, ("https",))
    except (Refused, ValueError):
        return None
    return place if len(url) <= URI_LIMIT else None


@functools.cache
def _policy(loopback: bool, domains: tuple[str, ...], user_agent: str, exceptions: tuple[str, ...]) -> Policy:
    # If this server's domain has a port, other ports of the host belong to other servers, because servers in a trial on one
    # machine share a host.
    own = frozenset(parse_url(f"https://{domain}").netloc for domain in domains)
    return Policy(loopback, own, user_agent, exceptions=tuple(ip_network(block) for block in exceptions))


@functools.cache
def _client_for(policy: Policy, queue: str = "") -> GuardedClient:
    return GuardedClient(policy, lookups_limit=TERMS[queue].lookups if queue else resolver.LOOKUPS_LIMIT)


def _client() -> GuardedClient:
    return _client_for(policy_from_settings(), limits.queue_in_use())


def fetch(request: Request) -> Response:
    """Send a request to another machine and return the response; callable in any thread that runs no event loop.

    Raises Refused (scheme, port, address, own domain), TimedOut, TooLarge, WrongType, TooManyRedirects, Unreachable, Untrusted
    (certificate) and Exhausted (budget): all are subclasses of FetchError, and so of errors.Unavailable. After an error, bytes
    that were already written to the request's `file` stay in it.
    """
    return _client().send(request)


async def fetch_async(request: Request) -> Response:
    """Send a request as `fetch` does, on any event loop. Requests are fastest on the loop of `run`, to which the connections
    belong.
    """
    return await _client().send_async(request)


def ask_service(
    url: str,
    *,
    headers: Mapping[str, str],
    max_bytes: int,
    deadline: float,
    loopback: bool,
    method: str = "POST",
    body: bytes | None = None,
    file: IO[bytes] | None = None,
) -> Response:
    """Send a `body`, or a whole open `file` in pieces, to a service of the operator at `url`, which is given by a setting.

    With `loopback`, the service may be on this machine; it may also be in a private network that ALLOWED_PRIVATE_ADDRESSES
    lists. Plain http is allowed, redirects are not. Otherwise like `fetch`.
    """
    policy = replace(policy_from_settings(), loopback=loopback, ports=frozenset({parse_url(url).port}))
    if file is not None:
        headers = {**headers, "Content-Length": str(file.seek(0, 2))}
        file.seek(0)
    request = Request(
        url, method, headers, body, upload=file, max_bytes=max_bytes, deadline=deadline, redirects=0, schemes=_HTTP
    )
    return _client_for(policy).send(request)


def run(work: Coroutine[Any, Any, T], timeout: float | None = None) -> T:
    """Run a coroutine that makes many fetches on the network loop, and wait for it at most `timeout` seconds.

    Used for deliveries, because the connections outlive the call, unlike with `asyncio.run`. The coroutine shares the loop with
    all other fetches of the process, so it must neither compute for long nor query the database. Raises TimeoutError and the
    coroutine's errors.
    """
    return network.current().call(work, timeout)
