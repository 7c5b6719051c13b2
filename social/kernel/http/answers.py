"""Limits the number of bytes that another server may send in an answer in addition to its body (security row 83)."""

from typing import Any, Final

import aiohttp
from aiohttp.client_proto import ResponseHandler
from aiohttp.connector import Connection

_INTERIM_ANSWERS: Final = 16
_OVERHEAD_BYTES: Final = 256 * 1024
#: Bytes of overhead that are allowed for each byte of the body, in addition to _OVERHEAD_BYTES; a chunk of one byte has five
#: bytes of overhead.
_OVERHEAD_SHARE: Final = 8


class Answer(aiohttp.ClientResponse):
    """Response from another server, with limits on interim responses and on bytes that belong to neither headers nor body.

    Without the limits, the library's parser would skip any number of empty lines before the answer, and chunk extensions of any
    length.
    """

    async def start(self, connection: Connection) -> aiohttp.ClientResponse:
        """Read the headers of the answer. Raises ClientPayloadError for too many interim answers (RFC 9110 section 15.2)."""
        protocol = connection.protocol
        assert protocol is not None  # the connection is open
        read, left = protocol.read, _INTERIM_ANSWERS

        async def counted() -> Any:
            nonlocal left
            found = await read()
            left -= 1
            if left < 0 and found[0].code < 200:
                raise aiohttp.ClientPayloadError("too many interim answers")
            return found

        self._limit_overhead(protocol)
        vars(protocol)["read"] = counted
        try:
            return await super().start(connection)
        finally:
            del vars(protocol)["read"]

    def _limit_overhead(self, protocol: ResponseHandler) -> None:
        """Close the connection if far more bytes arrive than the body contains. Each answer is counted separately."""
        received = 0
        body: aiohttp.StreamReader | None = None

        def feed_data(found: Any, size: int = 0) -> None:
            # The body is stored here, because much of it may have been received before `start` continues.
            nonlocal body
            _head, body = found
            ResponseHandler.feed_data(protocol, found, size)

        def data_received(data: bytes) -> None:
            nonlocal received
            received += len(data)
            ResponseHandler.data_received(protocol, data)
            allowed = _OVERHEAD_BYTES + (body.total_bytes * (1 + _OVERHEAD_SHARE) if body is not None else 0)
            if received > allowed and protocol.transport is not None:
                protocol.set_exception(aiohttp.ClientPayloadError("too many bytes that are no part of the answer"))
                protocol.transport.abort()

        vars(protocol).update(feed_data=feed_data, data_received=data_received)
        if protocol.transport is not None:
            # uvloop looks up `data_received` when a transport gets its protocol, so the protocol is set again.
            protocol.transport.set_protocol(protocol)
