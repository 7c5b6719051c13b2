"""Rules of polls: limits of local polls, and valid votes (contract, parameters section 3, behaviours section 9 "Polls")."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Final

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from social.kernel.errors import FieldError, Invalid
from social.kernel.text.characters import graphemes

OPTION_COUNTS: Final = (2, 4)
"""Minimum and maximum number of options."""

OPTION_LIMIT: Final = 50
"""Maximum number of characters of an option, counted as grapheme clusters."""

DURATION_SECONDS: Final = (300, 2_629_746)
"""Minimum and maximum duration of a poll: five minutes, and a month."""

_RAW_OPTION_LIMIT: Final = 2_000


@dataclass(frozen=True)
class PollDraft:
    """Poll as a client sent it; `sent` has the unparsed values. `expires_in` is in seconds; with `keeps_end`, an edit does not
    change when the poll ends.
    """

    options: tuple[str, ...] = ()
    expires_in: int | None = None
    multiple: bool = False
    hide_totals: bool = False
    keeps_end: bool = False
    sent: Mapping[str, Any] = field(default_factory=dict)

    @property
    def choices(self) -> list[str]:
        """The options in their stored form: stripped, skipping blank options."""
        return [stripped for stripped in (option.strip() for option in self.options) if stripped]


@dataclass(frozen=True)
class RemotePoll:
    """Remote poll as its document describes it. `voters_count` and `expires_at` are None if the document lacks them."""

    options: list[str]
    tallies: list[int]
    voters_count: int | None
    multiple: bool
    hide_totals: bool
    expires_at: datetime | None


def check_poll(draft: PollDraft) -> None:
    """Raise Invalid with all errors of a poll."""
    choices = draft.choices
    reasons: list[FieldError] = []

    def refuse(field: str, code: str, message: str) -> None:
        label = _("Choices") if field == "options" else _("Deadline")
        reasons.append(FieldError(field, code, message, label))

    if not choices:
        refuse("options", "ERR_BLANK", _("can't be blank"))
    if len(choices) < OPTION_COUNTS[0]:
        refuse("options", "ERR_TOO_FEW", _("must have more than one item"))
    if len(choices) > OPTION_COUNTS[1]:
        message = ngettext(
            "can't contain more than %(count)d item", "can't contain more than %(count)d items", OPTION_COUNTS[1]
        )
        refuse("options", "ERR_TOO_MANY", message % {"count": OPTION_COUNTS[1]})
    elif any(len(choice) > _RAW_OPTION_LIMIT or graphemes(choice) > OPTION_LIMIT for choice in choices):
        message = _("cannot be longer than %(count)d characters each") % {"count": OPTION_LIMIT}
        refuse("options", "ERR_TOO_LONG", message)
    if len(set(choices)) < len(choices):
        refuse("options", "ERR_TAKEN", _("contain duplicate items"))
    if draft.expires_in is None:
        refuse("expires_in", "ERR_BLANK", _("can't be blank"))
    elif draft.expires_in < DURATION_SECONDS[0]:
        refuse("expires_in", "ERR_INVALID", _("is too soon"))
    elif draft.expires_in > DURATION_SECONDS[1]:
        refuse("expires_in", "ERR_INVALID", _("is too far into the future"))
    if reasons:
        raise Invalid.of(reasons)


def has_ended(expires_at: datetime | None, moment: datetime) -> bool:
    """Tell whether voting has ended."""
    return expires_at is not None and expires_at <= moment


def check_vote(choices: Sequence[int], already: Sequence[int], *, options: int, multiple: bool) -> None:
    """Raise Invalid if an option does not exist, or if the account would have more votes than allowed."""
    if any(not 0 <= choice < options for choice in choices):
        raise Invalid.sentence(_("The chosen vote option does not exist"))
    both = [*already, *choices]
    if len(set(both)) < len(both) or (not multiple and len(both) > 1):
        raise Invalid.sentence(_("You have already voted on this poll"))
