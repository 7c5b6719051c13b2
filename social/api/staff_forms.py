"""Admin forms in the style of the theme."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from django import forms
from django.forms.widgets import Input
from unfold.widgets import (
    CHECKBOX_CLASSES,
    INPUT_CLASSES,
    RADIO_CLASSES,
    SELECT_CLASSES,
    TEXTAREA_CLASSES,
    UnfoldAdminCheckboxSelectMultipleWidget,
    UnfoldAdminFileFieldWidget,
    UnfoldAdminSelectWidget,
)

if TYPE_CHECKING:
    _Mixin = forms.BaseForm
else:
    _Mixin = object

# The first widget class that matches is used, since some of Django's widgets extend others.
_CLASSES: tuple[tuple[type[forms.Widget], list[str]], ...] = (
    (forms.CheckboxInput, CHECKBOX_CLASSES),
    (forms.RadioSelect, RADIO_CLASSES),
    (forms.SelectMultiple, [*SELECT_CLASSES, "min-h-40"]),
    (forms.Select, SELECT_CLASSES),
    (forms.Textarea, TEXTAREA_CLASSES),
    (Input, INPUT_CLASSES),
)


# Widgets that need the theme's own class, not only its CSS classes.
_WIDGETS: dict[type[forms.Widget], Any] = {
    forms.CheckboxSelectMultiple: UnfoldAdminCheckboxSelectMultipleWidget,
    forms.ClearableFileInput: UnfoldAdminFileFieldWidget,
    forms.Select: UnfoldAdminSelectWidget,
}


class Lines(forms.CharField):
    def __init__(self, label: Any, help_text: Any) -> None:
        widget = forms.Textarea({"rows": 4, "dir": "auto"})
        super().__init__(label=label, help_text=help_text, required=False, widget=widget)

    def prepare_value(self, value: Any) -> Any:
        return "\n".join(value) if isinstance(value, list | tuple) else value

    def to_python(self, value: Any) -> Any:
        return [line.strip() for line in (value or "").splitlines() if line.strip()]


def text_field(
    label: Any, most: int | None = None, *, rows: int = 2, required: bool = False, help_text: Any = ""
) -> forms.CharField:
    """Return a field for a text of several lines, in any writing direction, with at most `most` characters."""
    widget = forms.Textarea({"rows": rows, "dir": "auto"})
    return forms.CharField(label=label, required=required, max_length=most, help_text=help_text, widget=widget)


class Styled(_Mixin):
    """Mixin that gives the fields of a form the CSS classes of the theme; it comes before the form's class."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for field in self.fields.values():
            replacement = _WIDGETS.get(type(field.widget))
            if replacement is not None:
                choices = getattr(field, "choices", None)
                field.widget = replacement(dict(field.widget.attrs))
                if choices is not None:
                    field.widget.choices = choices
                field.widget.is_required = field.required
                continue
            found = next((names for kind, names in _CLASSES if isinstance(field.widget, kind)), None)
            if found is not None and "class" not in field.widget.attrs:
                field.widget.attrs["class"] = " ".join(found)


class StaffForm(Styled, forms.Form):
    """Base of forms that staff fill in before an action; `ReadOnlyAdmin.each` and `one` show them with the question."""
