"""What staff say about hashtags: how they are written, whether they may be used, listed, and shown as trending."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Final

from django.db import transaction
from django.utils.translation import gettext as _

from accounts.models import Tag
from accounts.models.user import Permission
from accounts.policies.staff import Staff, require
from accounts.services.audit import record
from social.kernel import clock
from social.kernel.errors import FieldError, Invalid, NotFound
from social.kernel.text.names import normalise_hashtag

_SHOWN: Final = ("display_name", "usable", "listable", "trendable")


@dataclass(frozen=True, slots=True)
class TagChange:
    """What is said of a hashtag; None: as it is."""

    display_name: str | None = None
    usable: bool | None = None
    listable: bool | None = None
    trendable: bool | None = None


def review_tag(*, by: Staff, tag: Tag, change: TagChange) -> None:
    """Write it down; from then on the hashtag counts as reviewed. Raises Forbidden; NotFound for one that is gone;
    Invalid for a name that is another hashtag's: only its spelling changes.
    """
    require(by, Permission.MANAGE_TAXONOMIES)
    with transaction.atomic():
        current = Tag.objects.select_for_update().filter(pk=tag.pk).first()
        if current is None:
            raise NotFound
        before = _state(current)
        values = {name: value for name, value in asdict(change).items() if value is not None}
        name = values.get("display_name")
        if name is not None and normalise_hashtag(name.removeprefix("#")) != current.name:
            raise Invalid.of([FieldError("display_name", "ERR_INVALID", _("does not match the previous name"))])
        if name is not None:
            values["display_name"] = name.removeprefix("#")
        for column, value in values.items():
            setattr(current, column, value)
        current.reviewed_at = clock.now()
        current.save(update_fields=[*values, "reviewed_at"])
        after = _state(current)
        changed = [column for column in after if after[column] != before[column]]
        record(
            by=by,
            action="update",
            target_type="Tag",
            target_id=current.pk,
            target_name=str(current),
            before={column: before[column] for column in changed},
            after={column: after[column] for column in changed},
        )


def _state(tag: Tag) -> dict[str, Any]:
    return {name: getattr(tag, name) for name in _SHOWN}
