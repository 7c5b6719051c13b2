"""Notes on a schedule who has gone away."""

from __future__ import annotations

from celery import shared_task

from timelines.services import presence


@shared_task
def note_absent_people() -> int:
    """Run `services.presence.note_absent_people`; queue "scheduler", once an hour."""
    return presence.note_absent_people()
