"""Celery messages are taken without acknowledgement: the sweep makes up for lost ones."""

from __future__ import annotations

from celery.worker.request import Request


class UnacknowledgedRequest(Request):
    """A task's message in a worker. The queues ask for no acknowledgement; kombu would carry one to Redis all the same,
    which costs a third of a short task.
    """

    def acknowledge(self) -> None:
        """Note that it was taken."""
        self.acknowledged = True
