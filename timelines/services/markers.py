"""Stores the read positions of timelines (contract, behaviours section 11 "Markers")."""

from collections.abc import Mapping
from typing import Final

from django.db import transaction

from social.kernel import clock
from social.kernel.errors import Conflict
from social.kernel.locks import lock_within, try_lock
from timelines.models import Marker

_LOCK_SECONDS: Final = 1.0
"""Time-out for the lock, in seconds: a write takes a few milliseconds, so only a hanging process exceeds it."""


def save_markers(*, account_id: int, positions: Mapping[str, int | None]) -> list[Marker]:
    """Store the id of the last read item of each timeline, increase the versions of changed markers, and return the markers in
    the order of `positions`. None leaves a marker's position unchanged; in a new marker it is 0.

    A lower id moves a marker backwards, except when the write had to wait for another write, because then the order of both is
    unknown. Raises Conflict, and writes nothing, when the other write does not end in time.
    """
    with transaction.atomic():
        name = f"markers:{account_id}"
        alone = try_lock(name)
        if not alone and not lock_within(name, _LOCK_SECONDS):
            raise Conflict
        markers = {marker.timeline: marker for marker in Marker.objects.filter(account_id=account_id)}
        saved = []
        for timeline, position in positions.items():
            marker = markers.get(timeline)
            if marker is None:
                marker = Marker(account_id=account_id, timeline=timeline, last_read_id=position or 0)
                marker.save(force_insert=True)
            elif position is not None and (
                position != marker.last_read_id if alone else position > marker.last_read_id
            ):
                marker.last_read_id = position
                marker.version += 1
                marker.updated_at = clock.now()
                marker.save()
            saved.append(marker)
    return saved
