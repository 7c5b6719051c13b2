"""Knows how Celery is set up: it wakes drains and runs batches; nothing is kept only in the broker."""

from __future__ import annotations

import os

from celery import Celery, Task
from celery.worker.request import Request

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "social.settings.base")


class UnacknowledgedRequest(Request):
    """A task's message in a worker. The queues ask for no acknowledgement; kombu would carry one to Redis all the same."""

    def acknowledge(self) -> None:
        """Note that it was taken."""
        self.acknowledged = True


class WakeUp(Task):
    """What every task is: see the docstring of this module."""

    Request = UnacknowledgedRequest


app = Celery("social", task_cls=WakeUp)
app.config_from_object("social.schedule:CELERY")
app.autodiscover_tasks()
