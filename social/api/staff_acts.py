"""Declarations of staff actions on rows. Each action declares its buttons in the admin (`accounts.admin.acting`), its sentence
in the audit log, and its endpoint in the API for staff.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import KW_ONLY, dataclass
from enum import IntFlag
from typing import TYPE_CHECKING, Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from unfold.enums import ActionVariant as ActionVariant

from social.api.staff_forms import StaffForm

if TYPE_CHECKING:
    from django.utils.functional import _StrPromise


@dataclass(frozen=True, slots=True)
class Words:
    """Texts of an action: the question that is asked before it, and the message that is shown after it. Without a question, the
    action is carried out immediately.

    `done` may contain `%(count)d`, and may be an `ngettext_lazy` whose number is `count`. `title` replaces the title of the
    action.
    """

    question: str | Promise
    done: str | _StrPromise
    title: str | _StrPromise = ""


@dataclass(frozen=True, slots=True)
class BoundAct:
    """Action that one staff member runs: `run` gets the row and, if there is a `form`, its cleaned data. `verb` is the name in
    the admin's own log; `done` and `question` are as in `Words`.
    """

    run: Callable[..., Any]
    verb: str
    done: str | _StrPromise
    question: str | Promise = ""
    form: type[StaffForm] | None = None


@dataclass(frozen=True, slots=True)
class Menu:
    title: str | Promise
    icon: str


@dataclass(frozen=True, slots=True)
class Act:
    """Action of staff on a row of a model.

    `run`: calls the service with the member of staff, the row and, if there is a `form`, its cleaned data. The service checks
    permission and rank again, and writes the audit row. `one`: the words of the button on a row's page. `many`: the words of
    the entry in a list's menu, which acts on the chosen rows. `permission`: what the role must grant. If several permissions
    are combined as bits, one of them is enough; None means the permission of the page. `ranked`: the button is only for staff
    who outrank the person whom the row is about. `fits`: tells whether the action would change a row; if not, the button is
    left out. `form`: the form with the fields of the question, or a function that returns the form for a member of staff.
    `icon`: a name of Material Symbols. `menu`: the menu that has the button. `verb`: the name in the admin's own log, by
    default `name`. `audit`: the sentence in the audit log, with `%(by)s` and `%(target)s`; if it is empty, the general sentence
    of `moderation.admin.audit_sentences` is used, which fits targets of any kind. `recorded`: the action that the service
    records, by default `verb`. `api`: the name of an endpoint in the API for staff, for an action without a form;
    `api_summary`: its description in the OpenAPI document.
    """

    name: str
    title: str | _StrPromise
    run: Callable[..., Any]
    _: KW_ONLY
    one: Words | None = None
    many: Words | None = None
    permission: IntFlag | None = None
    ranked: bool = False
    fits: Callable[[Any], bool] | None = None
    form: type[StaffForm] | Callable[[Any], type[StaffForm]] | None = None
    icon: str = ""
    menu: Menu | None = None
    variant: Any = ActionVariant.DEFAULT
    verb: str = ""
    audit: str | Promise = ""
    recorded: str = ""
    api: str = ""
    api_summary: str = ""

    def __post_init__(self) -> None:
        if self.one is not None and not self.one.question:
            raise ValueError(f"The act {self.name} needs a question: a button of a row always asks before it acts.")

    @property
    def logged(self) -> str:
        return self.verb or self.name


def switches(
    switch: Callable[[Any, Any, bool], object], *, on: Sequence[Words], off: Sequence[Words]
) -> tuple[Act, Act]:
    """Return the two actions that switch rows on and off. `on` and `off` are the texts for one row and for several rows."""
    return (
        Act(
            "enable",
            _("Switch on"),
            lambda by, row: switch(by, row, True),
            icon="play_arrow",
            variant=ActionVariant.PRIMARY,
            one=on[0],
            many=on[1],
            fits=lambda row: not row.enabled,
        ),
        Act(
            "disable",
            _("Switch off"),
            lambda by, row: switch(by, row, False),
            icon="pause",
            one=off[0],
            many=off[1],
            fits=lambda row: row.enabled,
        ),
    )
