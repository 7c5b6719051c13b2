"""A name server on loopback, for tests of DNS queries."""

import socket
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

import dns.flags
import dns.message
import dns.rcode
import dns.rdatatype
import dns.resolver
import dns.rrset


@dataclass
class NameServer:
    """A name server that answers from `zone`, which contains records as in a zone file, keyed by name and type. A name without
    records of any type does not exist; queries for a name in `silent` get no answer. `asked` contains the queries.
    """

    zone: Mapping[tuple[str, str], Sequence[str]]
    silent: frozenset[str] = frozenset()
    asked: list[tuple[str, str]] = field(default_factory=list)
    port: int = 0

    def resolver(self) -> dns.resolver.Resolver:
        """Return a resolver that asks only this server."""
        made = dns.resolver.Resolver(configure=False)
        made.nameservers = ["127.0.0.1"]
        made.port = self.port
        return made

    def answer(self, packet: bytes) -> bytes | None:
        """Return the answer to a query, or None if it gets no answer."""
        question = dns.message.from_wire(packet)
        name = question.question[0].name.to_text(omit_final_dot=True)
        kind = dns.rdatatype.to_text(question.question[0].rdtype)
        self.asked.append((name, kind))
        if name in self.silent:
            return None
        response = dns.message.make_response(question)
        response.flags |= dns.flags.RA
        records = self.zone.get((name, kind))
        if records:
            response.answer.append(dns.rrset.from_text(f"{name}.", 60, "IN", kind, *records))
        elif not any(known == name for known, _kind in self.zone):
            response.set_rcode(dns.rcode.NXDOMAIN)
        return response.to_wire()


@contextmanager
def name_server(zone: Mapping[tuple[str, str], Sequence[str]], *, silent: Sequence[str] = ()) -> Iterator[NameServer]:
    """Run a name server during the block."""
    server = NameServer(zone, frozenset(silent))
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listening:
        listening.bind(("127.0.0.1", 0))
        server.port = listening.getsockname()[1]

        def serve() -> None:
            while True:
                packet, peer = listening.recvfrom(4096)
                if not packet:
                    return
                answer = server.answer(packet)
                if answer is not None:
                    listening.sendto(answer, peer)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield server
        listening.sendto(b"", listening.getsockname())
        thread.join(5)
