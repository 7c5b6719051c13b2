"""Domain errors, independent of HTTP: the API layer maps each class to a status code.

Sources: contract, behaviours section 3 (texts) and entities "Errors" (shapes).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeVar

from django.utils.translation import gettext as _
from django.utils.translation import gettext_noop

T = TypeVar("T")


class KernelError(Exception):
    """An error for the caller.

    `message` is translated text, `said` is the same text with each sentence only once (for pages), `untranslated` is the text
    before the default of a class is translated, and `extra` is added to the JSON body.
    """

    default: ClassVar[str] = gettext_noop("Internal Server Error")

    def __init__(self, message: str | None = None, **extra: Any) -> None:
        self.untranslated = message if message is not None else self.default
        self.message = message if message is not None else _(self.default)
        self.said, self.extra = self.message, extra
        super().__init__(self.message)


class BadRequest(KernelError):
    """The request cannot be understood, e.g. a required parameter is missing."""

    default = gettext_noop("Bad Request")

    @classmethod
    def missing(cls, name: str) -> Self:
        """Return the error for an absent required parameter (contract, parameters section 0)."""
        return cls(_("param is missing or the value is empty or invalid: %(name)s") % {"name": name})


class Unauthorized(KernelError):
    """Refusal of a request without a token, or with an invalid one."""

    default = gettext_noop("The access token is invalid")


class Forbidden(KernelError):
    default = gettext_noop("This action is not allowed")


class NotFound(KernelError):
    """Record that is absent or hidden from this viewer: the answer does not reveal which."""

    default = gettext_noop("Record not found")


def require_found(value: T | None) -> T:
    """Return the value. Raises NotFound for None."""
    if value is None:
        raise NotFound
    return value


class Conflict(KernelError):
    default = gettext_noop("Conflict during update, please try again")


class Gone(KernelError):
    default = gettext_noop("Gone")


class RateLimited(KernelError):
    """The rate limit of a family of requests is used up; `limit`, `remaining` and `reset` in `extra` are for the headers."""

    default = gettext_noop("Too many requests")


class Unavailable(KernelError):
    """A service outside this server did not answer as it should."""

    default = gettext_noop("Remote data could not be fetched")


# Labels of fields in messages, unless the code that finds the error gives a label.
_LABELS = {
    "username": gettext_noop("Username"),
    "email": gettext_noop("E-mail address"),
    "password": gettext_noop("Password"),
    "agreement": gettext_noop("Service agreement"),
    "reason": gettext_noop("Reason"),
    "display_name": gettext_noop("Display name"),
    "note": gettext_noop("Note"),
    "fields": gettext_noop("Fields"),
    "title": gettext_noop("Title"),
    "name": gettext_noop("Name"),
    "file": gettext_noop("File"),
    "description": gettext_noop("Description"),
}


@dataclass(frozen=True)
class FieldError:
    """Violation of a rule for a field: `code` is a constant such as `ERR_BLANK`; `message` follows the field's label in the
    sentence.
    """

    field: str
    code: str
    message: str
    label: str | None = None

    @classmethod
    def blank(cls, field: str, label: str | None = None) -> Self:
        return cls(field, "ERR_BLANK", _("can't be blank"), label)

    @classmethod
    def invalid(cls, field: str, label: str | None = None) -> Self:
        return cls(field, "ERR_INVALID", _("is invalid"), label)

    @classmethod
    def not_included(cls, field: str) -> Self:
        """Return the error for a value that is not one of the possible values."""
        return cls(field, "ERR_INCLUSION", _("is not included in the list"))

    @classmethod
    def taken(cls, field: str) -> Self:
        return cls(field, "ERR_TAKEN", _("has already been taken"))

    @classmethod
    def too_long(cls, field: str, limit: int, label: str | None = None) -> Self:
        return cls(field, "ERR_TOO_LONG", _("is too long (maximum is %(count)d characters)") % {"count": limit}, label)

    @property
    def sentence(self) -> str:
        """The label and the message: `Username can't be blank`."""
        label = self.label
        if label is None:
            label = _(_LABELS[self.field]) if self.field in _LABELS else self.field.replace("_", " ").capitalize()
        return f"{label} {self.message}".strip()


class Invalid(KernelError):
    """Request that was understood, but breaks a rule (422)."""

    default = gettext_noop("Validation failed")
    errors: Sequence[FieldError] = ()

    @classmethod
    def of(cls, errors: Sequence[FieldError], *, details: bool = False) -> Self:
        """Make the error `Validation failed: ...` from field errors; `details` adds the codes of each field to the body."""
        sentences = [error.sentence for error in errors]
        made = cls.sentence(", ".join(sentences))
        made.said, made.errors = ", ".join(dict.fromkeys(sentences)), tuple(errors)
        if details:
            made.extra["details"] = {}
            for error in errors:
                described = {"error": error.code, "description": error.message}
                made.extra["details"].setdefault(error.field, []).append(described)
        return made

    @classmethod
    def sentence(cls, text: str) -> Self:
        """Make the error `Validation failed: <text>`, for a rule that concerns no single field."""
        return cls(_("Validation failed: %(errors)s") % {"errors": text})


def require_valid(errors: Sequence[FieldError], *, details: bool = False) -> None:
    """Do nothing if there are no errors. Raises Invalid, made by `Invalid.of`, if there are any."""
    if errors:
        raise Invalid.of(errors, details=details)
