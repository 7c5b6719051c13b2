"""Writes how far somebody has read (contract, behaviours section 11 "Markers")."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from django.db import transaction

from social.kernel import clock
from social.kernel.errors import Conflict
from social.kernel.locks import lock_within, try_lock
from timelines.models import Marker

_LOCK_SECONDS: Final = 1.0
"""Seconds: a write takes some milliseconds, so that only a process that hangs is waited for in vain."""


def save_markers(*, account_id: int, positions: Mapping[str, int | None]) -> list[Marker]:
    """Write the last item read of each timeline, as it is given, older ones too; the version grows with every change.

    Of writes at the same moment, of which nobody knows the order, those that have to wait move a marker forwards only: two
    clients that read on at once end at the further position. None keeps what is there: a marker that is not yet there
    begins at 0. Returns the markers in their order. Raises Conflict when somebody else's write does not end: nothing is
    written then.
    """
    with transaction.atomic():
        name = f"markers:{account_id}"
        alone = try_lock(name)
        if not alone and not lock_within(name, _LOCK_SECONDS):
            raise Conflict
        known = {marker.timeline: marker for marker in Marker.objects.filter(account_id=account_id)}
        saved = []
        for timeline, position in positions.items():
            marker = known.get(timeline)
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
