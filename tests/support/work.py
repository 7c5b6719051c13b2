"""Does the work that waits in the outbox, as a worker would, inside the test's process."""

from __future__ import annotations

from social.kernel.outbox import OutboxRow, drain


def work(rounds: int = 20) -> int:
    """Drain every queue until nothing is due; returns how many rows were done. Fails when a reaction fails."""
    done = 0
    for _round in range(rounds):
        queues = list(OutboxRow.objects.values_list("queue", flat=True).distinct())
        moved = sum(drain(queue) for queue in queues)
        failed = OutboxRow.objects.exclude(last_error="").values_list("subscriber", "last_error")
        assert not list(failed), list(failed)
        done += moved
        if not moved:
            break
    return done
