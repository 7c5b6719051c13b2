"""Work that goes on behind an answer, and how a client asks for its end (contract, entities "AsyncRefresh")."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class AsyncRefresh:
    """State of the work behind an answer; `result_count` is what it has brought so far, None where nothing is counted."""

    id: int
    running: bool
    result_count: int | None = None

    def headers(self, retry: int) -> dict[str, str]:
        """The header that says how to ask again, every `retry` seconds; none when the work is done."""
        if not self.running:
            return {}
        counted = "" if self.result_count is None else f", result_count={self.result_count}"
        return {"Mastodon-Async-Refresh": f'id="{self.id}", retry={retry}{counted}'}
