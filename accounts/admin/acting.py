"""The staff member who uses the admin, the title of the admin, and the buttons and menu entries of declared actions."""

from collections.abc import Callable
from functools import partial
from typing import Any, ClassVar

from django.conf import settings
from django.contrib import admin
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.response import TemplateResponse

from accounts.models.user import Permission
from accounts.policies.staff import Staff, can, staff_of
from accounts.queries.site_settings import find_site_title
from social.api.staff import ReadOnlyAdmin, action
from social.api.staff_acts import Act, BoundAct, Words
from social.api.staff_filters import is_form_field


def acting(request: HttpRequest) -> Staff:
    """Return the staff member who uses the admin, in the form that services expect."""
    user: Any = request.user
    return staff_of(user)


class ActingAdmin(ReadOnlyAdmin):
    """Admin of a model with the staff actions in `acts`, as buttons on a row's page and in the menu of the list.

    A subclass may name methods in `actions` and `actions_detail`; their buttons and menu entries precede those of the acts. A
    subclass may also name some of its acts in `actions`, to move them to the beginning of the menu.
    """

    acts: ClassVar[tuple[Act, ...]] = ()
    # Required for acts that do not name a permission.
    permission: ClassVar[Permission]
    actions_detail: ClassVar[Any] = ()
    list_filter_submit: ClassVar[bool]

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        # Filters with form fields have a button that submits them.
        cls.list_filter_submit = any(isinstance(one, tuple) or is_form_field(one) for one in cls.list_filter)
        own = vars(cls)
        if "acts" not in own:
            return
        for act in cls.acts:
            setattr(cls, f"has_{_permission_name(act)}_permission", _permission_check(act))
            if act.one is not None:
                setattr(cls, act.name, _button(act, act.one))
        entries = {act.name: _entry(act, act.many) for act in cls.acts if act.many is not None}
        first = [entries.pop(name, name) for name in own.get("actions", ())]
        cls.actions = (*first, *entries.values())
        cls.actions_detail = (*own.get("actions_detail", ()), *_buttons(cls.acts))

    def outranks(self, by: Staff, row: Any) -> bool:
        """Tell whether the staff member outranks the person whom the row concerns; True if the row concerns nobody."""
        return True

    def get_actions_detail(self, request: HttpRequest, object_id: Any) -> Any:
        """Return the buttons of the actions that the staff member may take and that would change something about this row."""
        actions = super().get_actions_detail(request, object_id)  # type: ignore[misc]  # the theme has no types
        conditional = [act for act in self.acts if act.one is not None and (act.ranked or act.fits is not None)]
        row = self.get_object(request, str(object_id)) if conditional else None
        outranks = row is not None and self.outranks(acting(request), row)
        useless = {
            act.name
            for act in conditional
            if row is None or (act.ranked and not outranks) or (act.fits is not None and not act.fits(row))
        }
        return [button for button in actions if button.path not in useless]


def _permission_name(act: Act) -> str:
    return f"{act.name}_act"


def _permission_check(act: Act) -> Callable[..., bool]:
    def check(self: ActingAdmin, request: HttpRequest, object_id: Any = None) -> bool:
        return can(acting(request), Permission(self.permission if act.permission is None else act.permission))

    return check


def _buttons(acts: tuple[Act, ...]) -> list[Any]:
    """Return the buttons in the theme's format: names, and menus of names. A menu takes the place of its first button."""
    buttons: list[Any] = []
    menus: dict[Any, list[str]] = {}
    for act in acts:
        if act.one is not None and act.menu is None:
            buttons.append(act.name)
        elif act.one is not None and act.menu is not None:
            if act.menu not in menus:
                menus[act.menu] = []
                buttons.append({"title": act.menu.title, "icon": act.menu.icon, "items": menus[act.menu]})
            menus[act.menu].append(act.name)
    return buttons


def bound(act: Act, request: HttpRequest, words: Words) -> BoundAct:
    """Return the action as `ReadOnlyAdmin.one` and `ReadOnlyAdmin.each` expect it, with the sender of the request as `by`."""
    by = acting(request)
    form = act.form if act.form is None or isinstance(act.form, type) else act.form(by)
    return BoundAct(partial(act.run, by), act.logged, words.done, words.question, form)


def _button(act: Act, words: Words) -> Callable[..., HttpResponse]:
    @action(
        description=words.title or act.title, icon=act.icon, permissions=[_permission_name(act)], variant=act.variant
    )
    def on_row(self: ReadOnlyAdmin, request: HttpRequest, object_id: Any) -> HttpResponse:
        return self.one(request, object_id, bound(act, request, words))

    return on_row


def _entry(act: Act, words: Words) -> Callable[..., TemplateResponse | None]:
    @admin.action(description=words.title or act.title, permissions=[_permission_name(act)])
    def on_rows(self: ReadOnlyAdmin, request: HttpRequest, queryset: QuerySet[Any]) -> TemplateResponse | None:
        return self.each(request, queryset, bound(act, request, words))

    on_rows.__name__ = act.name
    return on_rows


def site_title(request: HttpRequest) -> str:
    """Return the name of this server, which is read once for each request."""
    known: str | None = getattr(request, "staff_site_title", None)
    if known is None:
        known = find_site_title()
        request.staff_site_title = known  # type: ignore[attr-defined]  # kept for this request
    return known


def subtitle(request: HttpRequest) -> str:
    return str(settings.LOCAL_DOMAIN)
