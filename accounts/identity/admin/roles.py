"""Admin page of roles. Staff can edit the names, ranks and permissions of roles that they outrank."""

from typing import Any, ClassVar, Final

from django import forms
from django.contrib import admin
from django.http import HttpRequest
from django.utils.translation import gettext_lazy as _

from accounts.admin.acting import acting
from accounts.admin.permitted import DraftForm, EditedAdmin, Writes
from accounts.identity.admin.users import PERMISSION_NAMES, role_name
from accounts.identity.services.staff import create_role, delete_role, update_role
from accounts.models import Role, User
from accounts.models.user import EVERYONE_ROLE_ID, EVERYONES_PERMISSIONS, IDLE_PERMISSIONS, Permission
from accounts.policies.staff import RoleDraft, Staff, can, outranks, role_errors
from social.api.staff import NAMES_LIMIT
from social.api.staff_columns import address, lines, shown

_LIMITS: Final = ("imported_posts_limit", "imported_mebibytes_limit")


class RoleForm(DraftForm):
    """Form for a role; `by` is the staff member who edits the role."""

    by: ClassVar[Staff]
    bits = forms.TypedMultipleChoiceField(
        label=_("Permissions"),
        required=False,
        coerce=int,
        choices=[(str(int(bit)), name) for bit, name in PERMISSION_NAMES.items() if not bit & IDLE_PERMISSIONS],
        widget=forms.CheckboxSelectMultiple,
    )

    class Meta:
        model = Role
        fields = ("name", "color", "position", "highlighted", "media_megabytes", "posts_per_day", *_LIMITS)
        labels = {
            "name": _("Name"),
            "color": _("Colour"),
            "position": _("Rank"),
            "highlighted": _("Shown on the profile"),
            "media_megabytes": _("Storage for files in megabytes"),
            "posts_per_day": _("Posts per 24 hours"),
            "imported_posts_limit": _("Old posts from archives"),
            "imported_mebibytes_limit": _("Files from archives (MiB)"),
        }
        help_texts = {
            "color": _("For example #0b6e66; may be empty"),
            "position": _("People with a higher rank may act on people with a lower rank"),
            "media_megabytes": _("0: unlimited. Files that were uploaded before are kept"),
            "posts_per_day": _("0: unlimited. Boosts do not count"),
            "imported_posts_limit": _("How many posts one person may import in total; 0 for none"),
            "imported_mebibytes_limit": _("Total size of the files of these posts"),
        }
        widgets = {"name": forms.TextInput({"dir": "auto"}), "color": forms.TextInput({"dir": "ltr"})}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        permissions, everyone = self.instance.permissions, self.instance.pk == EVERYONE_ROLE_ID
        self.fields["bits"].initial = [str(int(bit)) for bit in Permission if permissions & bit]
        for name in ("color", "media_megabytes", "posts_per_day", *_LIMITS):
            if name in self.fields:
                self.fields[name].required = False
        for name in ("name", "color", "position", "highlighted") if everyone else ():
            self.fields.pop(name, None)
        if everyone:
            self.fields["bits"].choices = [  # type: ignore[attr-defined]  # a choice field
                (str(int(bit)), name) for bit, name in PERMISSION_NAMES.items() if bit & EVERYONES_PERMISSIONS
            ]

    @property
    def draft(self) -> RoleDraft:
        sent = self.cleaned_data
        return RoleDraft(
            name=sent.get("name") or "",
            permissions=sum(sent.get("bits") or ()) | (self.instance.permissions & IDLE_PERMISSIONS),
            position=sent.get("position") or 0,
            color=sent.get("color") or "",
            highlighted=bool(sent.get("highlighted")),
            media_megabytes=sent.get("media_megabytes") or 0,
            posts_per_day=sent.get("posts_per_day") or 0,
            **{name: self._former_value(name) if sent.get(name) is None else sent[name] for name in _LIMITS},
        )

    def _former_value(self, name: str) -> Any:
        return self.get_initial_for_field(self.fields[name], name)

    def clean(self) -> dict[str, Any]:
        sent: dict[str, Any] = super().clean() or {}
        if not self.errors:
            before = self.instance if self.instance.pk is not None else None
            for error in role_errors(self.draft, by=self.by, before=before, taken=False):
                field = "bits" if error.field == "permissions" else error.field
                self.add_error(field if field in self.fields else None, error.message)
        return sent


@admin.register(Role)
class RoleAdmin(EditedAdmin):
    """Roles. Staff can change only roles that they outrank; roles are assigned on the page of an account."""

    permission = Permission.MANAGE_ROLES
    form = RoleForm
    writes = Writes(
        create=lambda by, row, form: create_role(by=by, draft=form.draft),
        change=lambda by, row, form: update_role(by=by, role=row, draft=form.draft),
        remove=lambda by, row: delete_role(by=by, role=row),
    )
    list_display = (
        shown("name", _("Name"), role_name, order="name"),
        shown("position", _("Rank"), order="position", minor=True),
        shown(
            "permissions",
            _("Permissions"),
            lambda role: [str(name) for bit, name in PERMISSION_NAMES.items() if role.permissions & bit],
        ),
        shown("media_megabytes", _("Storage for files in megabytes"), minor=True),
        shown("posts_per_day", _("Posts per 24 hours"), minor=True),
        shown("highlighted", _("Shown on the profile"), minor=True),
        shown("color", _("Colour"), lambda role: address(role.color) if role.color else None, minor=True),
    )
    search_fields = ("name",)
    ordering = ("-position",)

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """Allow staff who manage users to view roles as well, because they filter accounts by role."""
        return super().has_view_permission(request, obj) or can(acting(request), Permission.MANAGE_USERS)

    def has_module_permission(self, request: HttpRequest) -> bool:
        return self.has_view_permission(request)

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.is_permitted(request) and (obj is None or outranks(acting(request), obj))

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.has_change_permission(request, obj) and (obj is None or obj.pk != EVERYONE_ROLE_ID)

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        if not self.has_change_permission(request, obj):
            return [lines(None, *self.list_display)]
        everyone = obj is not None and obj.pk == EVERYONE_ROLE_ID
        names = RoleForm.Meta.fields
        return [(None, {"fields": (*(names[-4:] if everyone else names), "bits")})]

    def get_form(self, request: HttpRequest, obj: Any = None, change: bool = False, **kwargs: Any) -> Any:
        form = super().get_form(request, obj, change=change, **{**kwargs, "fields": RoleForm.Meta.fields})
        return type("RoleForm", (form,), {"by": acting(request)})

    def get_deleted_objects(self, objs: Any, request: HttpRequest) -> Any:
        """Return the names of the roles and of some of their users, who are not deleted but get the default role."""
        roles = list(objs)
        people = User.objects.filter(role_id__one_of=[role.pk for role in roles]).select_related("account")
        names = [f"@{user.account.username}" for user in people.order_by("-id")[:NAMES_LIMIT]]
        return [*(role_name(role) for role in roles), *names], {}, set(), []
