"""Changes of custom emojis by staff: enabled, shown in the picker, category; local copies of remote emojis.

Changes take effect at once; cached posts show them within ten minutes. Pictures are imported by
`accounts.emojis.services.packs`.
"""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.copies.models import CopyPurpose, CopyState
from accounts.copies.services.copying import request_copy
from accounts.emojis.models import CustomEmoji
from accounts.emojis.services.packs import Terms, import_emojis
from accounts.models.user import Permission
from accounts.policies.staff import Staff, require
from accounts.services.audit import record
from social.kernel.errors import Conflict, FieldError, Invalid, require_found
from social.kernel.lengths import NAME_LIMIT
from social.kernel.media import storage


def change_emoji(
    *,
    by: Staff,
    emoji: CustomEmoji,
    disabled: bool | None = None,
    listed: bool | None = None,
    category: str | None = None,
) -> None:
    """Change an emoji's values, of a remote emoji only `disabled`; None leaves a value as it is.

    Raises Forbidden, NotFound; Invalid for a category that is too long, and for other values of a remote emoji.
    """
    require(by, Permission.MANAGE_CUSTOM_EMOJIS)
    wanted: dict[str, Any] = {"disabled": disabled, "visible_in_picker": listed, "category": category}
    wanted = {name: value for name, value in wanted.items() if value is not None}
    if len(wanted.get("category", "")) > NAME_LIMIT:
        raise Invalid.of([FieldError("category", "ERR_TOO_LONG", _("is too long"))])
    with transaction.atomic():
        row = require_found(CustomEmoji.objects.select_for_update().filter(pk=emoji.pk).first())
        if row.domain is not None and wanted.keys() - {"disabled"}:
            raise Invalid.sentence(_("This emoji belongs to another server: copy it first."))
        before = {name: getattr(row, name) for name, value in wanted.items() if getattr(row, name) != value}
        if not before:
            return
        after = {name: wanted[name] for name in before}
        CustomEmoji.objects.filter(pk=row.pk).update(**after)
        name = str(row) if row.domain is None else f"{row}@{row.domain}"
        record(
            by=by,
            action="update",
            target_type="CustomEmoji",
            target_id=row.pk,
            target_name=name,
            before=before,
            after=after,
        )


def copy_emoji(*, by: Staff, emoji: CustomEmoji) -> None:
    """Copy a remote emoji to this server, under the same name.

    Raises Forbidden; Conflict for a known name, and while the picture is being fetched; Invalid for a picture or name
    that is not accepted here.
    """
    require(by, Permission.MANAGE_CUSTOM_EMOJIS)
    if emoji.domain is None or CustomEmoji.objects.filter(domain=None, shortcode=emoji.shortcode).exists():
        raise Conflict(_("This server already has an emoji with this name."))
    copy = request_copy(purpose=CopyPurpose.EMOJI, url=emoji.remote_url)
    if copy.state != CopyState.READY:
        raise Conflict(_("Its picture is being fetched: try again in a moment."))
    with storage.opened(copy.file) as file:
        files = [(f"{emoji.shortcode}{PurePosixPath(copy.file).suffix}", file.read())]
    (outcome,) = import_emojis(by=by, files=files, terms=Terms(category=emoji.category))
    if outcome.reason:
        raise Invalid.sentence(outcome.reason)
