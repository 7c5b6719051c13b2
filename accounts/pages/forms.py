"""Fields of the forms of pages, and the base of forms whose values a service validates."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from django import forms
from django.utils.functional import Promise
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

from social.kernel.errors import Forbidden, Invalid, KernelError, NotFound, RateLimited

#: Attributes of inputs for names and addresses, which browsers should not correct.
PLAIN: Final = {"autocapitalize": "none", "autocorrect": "off", "spellcheck": "false", "dir": "ltr"}


def text_field(label: Any, **options: Any) -> forms.CharField:
    """Return an optional text field. The service checks its length, because one character may be several code points."""
    widget = options.pop("widget", None) or forms.TextInput({"dir": "auto"})
    return forms.CharField(label=label, required=False, widget=widget, **options)


def address_field(label: Any) -> forms.CharField:
    hint, widget = _("For example name@server.example"), forms.TextInput(PLAIN)
    return forms.CharField(label=label, max_length=2400, help_text=hint, widget=widget)


def check_field(label: Any, help_text: Any = "") -> forms.BooleanField:
    return forms.BooleanField(label=label, required=False, help_text=help_text)


class OpenChoiceField(forms.ChoiceField):
    """Choice field that also accepts a stored value outside its choices; `offer` adds this value to the choices."""

    def title_of(self, value: str) -> str | Promise | None:
        """Return the title of a valid value that is not offered; None for an invalid value."""
        raise NotImplementedError  # each subclass has its own

    def valid_value(self, value: Any) -> bool:
        return super().valid_value(value) or self.title_of(str(value)) is not None

    def offer(self, value: str) -> None:
        title = None if super().valid_value(value) else self.title_of(value)
        if title is not None:
            # `choices` can be assigned values of several types, but reading it always returns an iterator of pairs.
            choices: Any = self.choices
            self.choices = [(value, title), *choices]


#: Service errors that are shown in the form; the form keeps the typed text.
REFUSALS: Final = (Invalid, Forbidden, NotFound, RateLimited)


class ServiceForm(forms.Form):
    """A form whose values a service validates."""

    #: Names of the form's fields, by the names that the service uses for the same values, where the two differ.
    renamed: Mapping[str, str] = {}
    #: The fields of each part of the page.
    parts: Mapping[str, Sequence[str]] = {}

    def sections(self) -> dict[str, list[forms.BoundField]]:
        return {part: [self[name] for name in names if name in self.fields] for part, names in self.parts.items()}

    def offer_values(self) -> None:
        """Add the current value of each OpenChoiceField to the field's choices, if it is not offered yet."""
        for name, field in self.fields.items():
            if isinstance(field, OpenChoiceField):
                field.offer(str(self[name].value() or ""))

    def is_accepted_by(self, service: Callable[[], object]) -> bool:
        """Tell whether the form is valid and the service accepts its values; service errors are shown next to the fields."""
        if not self.is_valid():
            return False
        try:
            service()
        except Invalid as error:
            self.add_details(error)
            return False
        return True

    def add_refusal(self, error: KernelError) -> None:
        """Show one of the REFUSALS of the service."""
        if isinstance(error, Invalid):
            self.add_details(error)
        elif isinstance(error, NotFound):
            self.add_error(
                None, _("The post that you reply to, quote or edit does not exist any more, or you may not see it.")
            )
        elif isinstance(error, RateLimited):
            self.add_error(None, _("You have tried this too many times. Please wait a while, then try again."))
        else:
            self.add_error(None, capfirst(error.said))

    def add_details(self, error: Invalid) -> None:
        """Show the service's errors next to their fields, without repeating a sentence."""
        details = error.extra.get("details")
        if not details:
            self.add_error(None, error.said)
            return
        seen = set()
        for name, errors in details.items():
            field = self.renamed.get(name, name)
            for item in errors:
                if (field, item["description"]) not in seen:
                    seen.add((field, item["description"]))
                    self.add_error(field if field in self.fields else None, capfirst(item["description"]))
