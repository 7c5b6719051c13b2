"""Requests to other machines, their responses, and the policy that says which machines may be contacted.

Sources: DESIGN "One way out", contract, federation section 10, security rows 4, 6 and 7.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import IO

from multidict import CIMultiDictProxy

from social.kernel.http.addresses import Address, AddressBlock, Target, is_allowed
from social.kernel.http.content import media_type
from social.kernel.http.errors import Refused

Signer = Callable[[str, str, Mapping[str, str], bytes | None], Mapping[str, str]]
"""`signer(method, url, headers, body)` -> headers to add or replace.

Called for each hop with exactly what will be sent, except User-Agent and Accept-Encoding (contract, federation section 10). The
signer runs on the network loop, so it must only compute, and must not query the database.
"""


@dataclass(frozen=True, slots=True)
class Response:
    """Response of any status; type, size and completeness are guaranteed only for a status of 2xx.

    The body of any other status is cut at 16 KiB. If the request has `cut`, the body is cut at `max_bytes`. `url` is the URL
    that sent the response, after redirects and without a fragment: its host is the one to trust (security row 7). `headers`
    ignores the case of names.
    """

    status: int
    headers: CIMultiDictProxy[str]
    body: bytes
    url: str

    @property
    def media_type(self) -> str:
        """The content type in lower case without parameters, or an empty text."""
        return media_type(self.headers.get("Content-Type", ""))[0]


@dataclass(frozen=True, slots=True)
class Request:
    """Request to another machine.

    `accept`: the media types wanted, sent as Accept and required of a 2xx response, unless `any_type` is set;
    `application/ld+json` always needs the ActivityStreams profile. `max_bytes`: size limit of the body, before and after
    decompression. `deadline`: seconds for the whole exchange, name look-up and redirects included; less if the web request's
    budget grants less. `redirects`: how many are followed, each checked and signed like the first request, for GET and HEAD
    only (for other methods, a redirect is the response). `schemes`: the allowed schemes; for federation only https. `cut`: the
    beginning of a longer body is enough; a body that breaks off may then be returned incomplete or empty. `file`: an open file
    for the body of a 2xx response, which is not held in memory; `Response.body` is empty then. `upload`: an open file that is
    sent in pieces in place of `body`.
    """

    url: str
    method: str = "GET"
    headers: Mapping[str, str] | None = None
    body: bytes | None = None
    accept: Sequence[str] | None = None
    any_type: bool = False
    max_bytes: int = 1 << 20
    deadline: float = 10.0
    redirects: int = 3
    signer: Signer | None = None
    schemes: Sequence[str] = ("https",)
    cut: bool = False
    file: IO[bytes] | None = None
    upload: IO[bytes] | None = None


@dataclass(frozen=True)
class Policy:
    """Rules for the machines that may be contacted, and the User-Agent to use.

    `loopback` adds http, every port and the addresses of this machine (FEDERATION_LOOPBACK, for trials on one machine).
    `exceptions` are networks that may be contacted although they are not public.
    """

    loopback: bool = False
    own_domains: frozenset[str] = frozenset()
    user_agent: str = "Social"
    ports: frozenset[int] = frozenset({80, 443})
    exceptions: tuple[AddressBlock, ...] = ()

    def permits(self, address: Address) -> bool:
        return is_allowed(address, loopback=self.loopback) or any(address in network for network in self.exceptions)

    def check(self, target: Target, schemes: Sequence[str]) -> None:
        """Raise Refused unless scheme, port and host are allowed; names are checked here, their addresses later."""
        if target.scheme not in schemes and not (self.loopback and target.scheme == "http"):
            raise Refused(f"scheme {target.scheme} is not accepted here")
        if target.port not in self.ports and not self.loopback:
            raise Refused(f"port {target.port} is not accepted")
        host = target.host
        if not self.own_domains.isdisjoint((host.written, f"{host.written}:{target.port}")):
            raise Refused("this server does not ask itself")
        if host.address is not None and not self.permits(host.address):
            raise Refused(f"{host.name} may not be connected to")
        if host.is_reserved and not (self.loopback and host.is_loopback):
            raise Refused(f"{host.name} is not a public name")
