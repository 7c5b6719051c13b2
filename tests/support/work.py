"""Runs the queued jobs as a worker would, but inside the test's process."""

from typing import Any

from django.db.models.functions import Now

from social.api import later
from social.kernel.outbox import OutboxRow, drain
from tests.support.client import Api


def work(rounds: int = 20) -> int:
    """Drain every queue until nothing is due, and return how many rows were processed; fail if a reaction fails."""
    done = 0
    for _round in range(rounds):
        queues = list(OutboxRow.objects.filter(due_at__lte=Now()).values_list("queue", flat=True).distinct())
        moved = sum(drain(queue) for queue in queues)
        failed = OutboxRow.objects.exclude(last_error="").values_list("subscriber", "last_error")
        assert not list(failed), list(failed)
        done += moved
        if not moved:
            break
    return done


def show(address: str) -> Any:
    """Request a file without a token, and run the jobs that the response is waiting for, as a worker would."""
    waits: list[later.Wait] = []
    answer = Api().client.get(address.removeprefix("http://social.localhost"), **{later.KEY: waits})  # type: ignore[arg-type]  # no header, but the server's
    if waits:
        work()
        found = waits[0].poll()
        assert found is not None, "the jobs did not complete the response"
        return found
    return answer
