"""Base classes of admin pages that require a permission of the role, to view a model or to edit it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.text import capfirst

from accounts.admin.acting import ActingAdmin, acting
from accounts.models.user import Permission
from accounts.policies.staff import Staff, can
from social.api.staff_forms import Styled
from social.kernel.errors import FieldError, KernelError
from social.pages.once import once

if TYPE_CHECKING:
    _ModelForm = forms.ModelForm[Any]
else:  # Django's class takes no type argument at run time
    _ModelForm = forms.ModelForm

_REFUSAL = "staff_refusal"


class RowForm(Styled, _ModelForm):
    # The error that the service raised, which is shown above the form; the form keeps the submitted values.
    refusal = ""

    def draft_errors(self) -> Sequence[FieldError]:
        """Return the policy's errors in the values, once each field is valid on its own; none by default."""
        return ()

    def clean(self) -> dict[str, Any] | None:
        """Add the policy's errors to the form, and return the values. Raises ValidationError after a service error."""
        if self.refusal:
            raise forms.ValidationError(self.refusal)
        sent = super().clean()
        for error in () if self.errors else self.draft_errors():
            if error.field in self.fields:
                self.add_error(error.field, capfirst(error.message))
            else:
                self.add_error(None, error.sentence)
        return sent


class DraftForm(RowForm):
    """A form that passes its values to a service and leaves the row itself unchanged."""

    def _post_clean(self) -> None:
        """Do nothing, because Django's method would write the values into the row."""


class PermittedAdmin(ActingAdmin):
    """A model that staff can view if their role has `permission`."""

    permission: ClassVar[Permission]

    def is_permitted(self, request: HttpRequest) -> bool:
        user: Any = request.user
        return bool(user.is_authenticated and user.is_active and can(acting(request), self.permission))

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.is_permitted(request)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.is_permitted(request)

    def has_manage_permission(self, request: HttpRequest, object_id: Any = None) -> bool:
        """Return `is_permitted`, for actions with `permissions=["manage"]` on a list or on a row's page."""
        return self.is_permitted(request)


@dataclass(frozen=True, slots=True)
class Writes:
    """Functions that call services to write the rows of an `EditedAdmin`.

    The arguments are the staff member, the row and the form; `remove` gets no form. `create` returns the stored row.
    """

    create: Callable[[Staff, Any, Any], Any] | None = None
    change: Callable[[Staff, Any, Any], Any] | None = None
    remove: Callable[[Staff, Any], Any] | None = None


class EditedAdmin(PermittedAdmin):
    """A model that staff can edit: `form` validates the fields, and the functions in `writes` store them. Staff can do only
    what `writes` has a function for. Service errors are shown above the form, which keeps the submitted values.
    """

    writes: ClassVar[Writes]

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        form: Any = super().get_form(request, obj, change, **kwargs)
        form.refusal = getattr(request, _REFUSAL, "")
        return form

    def has_add_permission(self, request: HttpRequest) -> bool:
        return self.writes.create is not None and self.is_permitted(request)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.writes.change is not None and self.is_permitted(request)

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.writes.remove is not None and self.is_permitted(request)

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: bool) -> None:
        if change and self.writes.change is not None:
            self.writes.change(acting(request), obj, form)
        elif not change and self.writes.create is not None:
            obj.pk = self.writes.create(acting(request), obj, form).pk

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        if self.writes.remove is not None:
            self.writes.remove(acting(request), obj)

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        return list(self.readonly_fields)

    def get_actions(self, request: HttpRequest) -> Any:
        """Return the actions without Django's delete action, which bypasses the services."""
        actions = super().get_actions(request)
        actions.pop("delete_selected", None)
        return actions

    def changeform_view(self, request: HttpRequest, object_id: str | None = None, *args: Any, **kwargs: Any) -> Any:
        """Show or save the form; if the service raises an error, show the form again with the error. A form that is sent twice
        creates only one row.
        """
        view = super().changeform_view
        try:
            return (once(view) if object_id is None else view)(request, object_id, *args, **kwargs)
        except KernelError as error:
            if hasattr(request, _REFUSAL):
                self.message_user(request, error.message, messages.ERROR)
                return redirect(request.get_full_path())
            setattr(request, _REFUSAL, error.message)
            return self.changeform_view(request, object_id, *args, **kwargs)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: bool) -> None:
        """Reload the row that the service has written, because messages show its name. There are no related rows."""
        form.instance.refresh_from_db()

    def delete_view(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        """Ask for confirmation, then delete; a service error is shown as a message."""
        try:
            answer: HttpResponse = super().delete_view(request, *args, **kwargs)
        except KernelError as error:
            self.message_user(request, error.message, messages.ERROR)
            return redirect(request.get_full_path())
        return answer
