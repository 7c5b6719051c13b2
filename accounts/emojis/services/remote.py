"""Stores custom emojis from other servers as these servers describe them; never changes local emojis."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from django.db import transaction
from django.db.models import Q

from accounts.copies.models import CopyPurpose
from accounts.copies.services.removal import forget_copies
from accounts.emojis.models import CustomEmoji
from social.kernel import clock
from social.kernel.batches import BATCH

EMOJIS_PER_SERVER: Final = 10_000
"""Maximum number of stored emojis per server; further emojis are shown as their shortcodes."""


@dataclass(frozen=True)
class RemoteEmoji:
    """A remote emoji as its server describes it; `updated_at` is None if the server does not state it."""

    shortcode: str
    remote_url: str
    uri: str | None = None
    updated_at: datetime | None = None


def store_emojis(domain: str, found: Sequence[RemoteEmoji]) -> bool:
    """Store the new and changed emojis of a server; return whether there were any.

    Call it in a transaction, before accounts or posts are locked. The copy of a changed picture is removed.
    """
    if not found:
        return False
    by_name = {emoji.shortcode: emoji for emoji in found}
    rows = CustomEmoji.objects.filter(domain=domain, shortcode__one_of=by_name.keys())
    known = {row.shortcode: row for row in rows}
    changed = [row for name, row in sorted(known.items()) if _is_newer(by_name[name], row)]
    forget_copies(purposes=[CopyPurpose.EMOJI], urls=[row.remote_url for row in changed])
    for row in changed:
        emoji = by_name[row.shortcode]
        values = {"uri": emoji.uri, "remote_url": emoji.remote_url, "updated_at": emoji.updated_at or clock.now()}
        CustomEmoji.objects.filter(id=row.id).update(**values)
    new = [by_name[name] for name in sorted(by_name.keys() - known.keys())]
    room = EMOJIS_PER_SERVER - CustomEmoji.objects.filter(domain=domain).count() if new else 0
    CustomEmoji.objects.bulk_create(
        (
            CustomEmoji(
                domain=domain,
                shortcode=emoji.shortcode,
                uri=emoji.uri,
                remote_url=emoji.remote_url,
                updated_at=emoji.updated_at or clock.now(),
            )
            for emoji in new[: max(room, 0)]
        ),
        ignore_conflicts=True,
        batch_size=BATCH,
    )
    return bool(changed) or (bool(new) and room > 0)


def _is_newer(emoji: RemoteEmoji, row: CustomEmoji) -> bool:
    return emoji.remote_url != row.remote_url or (emoji.updated_at is not None and emoji.updated_at > row.updated_at)


def remove_emojis(domain: str, limit: int) -> bool:
    """Remove up to `limit` emojis of a server and its subdomains, with their pictures; return whether more are left."""
    # The domain of a server at a non-standard port includes the port.
    below = Q(domain=domain) | Q(domain__endswith=f".{domain}") | Q(domain__startswith=f"{domain}:")
    below |= Q(domain__contains=f".{domain}:")
    with transaction.atomic():
        rows = list(CustomEmoji.objects.filter(below).order_by("id")[: limit + 1])
        chosen = rows[:limit]
        CustomEmoji.objects.filter(id__one_of=[row.id for row in chosen]).delete()
        forget_copies(purposes=[CopyPurpose.EMOJI], urls=[row.remote_url for row in chosen])
    return len(rows) > limit
