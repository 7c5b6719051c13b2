"""Work that continues after an answer, and how clients poll for its end (contract, entities "AsyncRefresh")."""

from dataclasses import dataclass


@dataclass(frozen=True)
class AsyncRefresh:
    """State of work that continues after an answer; `result_count` is the number of results so far, None if not counted."""

    id: int
    running: bool
    result_count: int | None = None

    def headers(self, retry: int) -> dict[str, str]:
        """Return the header that tells the client to poll every `retry` seconds; empty when the work is done."""
        if not self.running:
            return {}
        counted = "" if self.result_count is None else f", result_count={self.result_count}"
        return {"Mastodon-Async-Refresh": f'id="{self.id}", retry={retry}{counted}'}
