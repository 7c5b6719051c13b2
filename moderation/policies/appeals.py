"""Who may appeal against what, and when (contract, behaviours section 18; APPEAL_PERIOD)."""

from __future__ import annotations

from datetime import datetime

from django.utils.translation import gettext as _

from moderation.models.strike import APPEAL_PERIOD, APPEAL_TEXT_LIMIT, Appeal, Strike
from social.kernel.errors import FieldError


def may_be_appealed(strike: Strike, appeal: Appeal | None, *, now: datetime) -> bool:
    """Whether an appeal against a strike can be filed: the first one, in time, while the strike stands."""
    return appeal is None and strike.overruled_at is None and now < strike.created_at + APPEAL_PERIOD


def appeal_errors(text: str) -> list[FieldError]:
    """What is against a rule in the text of an appeal."""
    if not text.strip():
        return [FieldError("text", "ERR_BLANK", _("can't be blank"))]
    if len(text) > APPEAL_TEXT_LIMIT:
        message = _("is too long (maximum is %(count)d characters)") % {"count": APPEAL_TEXT_LIMIT}
        return [FieldError("text", "ERR_TOO_LONG", message)]
    return []
