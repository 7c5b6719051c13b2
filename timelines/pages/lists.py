"""Pages of a signed-in person's lists: all lists, the posts of a list, and its settings and members."""

from collections.abc import Mapping
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.models import Account, User
from accounts.pages.forms import ServiceForm, check_field, text_field
from accounts.pages.member import back, refuse
from accounts.pages.person import shown_author
from accounts.pages.settings import counted, signed_in
from accounts.queries.accounts import find_account
from accounts.serializers.account import present_accounts
from social.api import limits
from social.kernel.errors import Forbidden, Invalid, NotFound
from social.kernel.ids import parse_id
from social.kernel.text.names import clean_input
from social.pages.frame import show
from social.pages.once import once
from social.pages.paging import PAGE_SIZE, cursor_of, links, one_page, read_page
from statuses.pages.posts import posts_for_templates, reader_of
from statuses.queries.page import fill
from timelines.models import List, RepliesPolicy
from timelines.queries.lists import find_list, list_lists, list_lists_with, list_members
from timelines.services.home import load_list_page
from timelines.services.lists import (
    ListDraft,
    add_by_title,
    add_members,
    create_list,
    delete_list,
    remove_members,
    update_list,
)

_POLICIES: Final = (
    (RepliesPolicy.LIST, gettext_lazy("Replies to members of the list")),
    (RepliesPolicy.FOLLOWED, gettext_lazy("Replies to people you follow")),
    (RepliesPolicy.NONE, gettext_lazy("None")),
)


class ListForm(ServiceForm):
    """Form for the title and the settings of a list."""

    title = text_field(gettext_lazy("Title"))
    replies_policy = forms.ChoiceField(
        label=gettext_lazy("Which replies to show"), choices=_POLICIES, initial=RepliesPolicy.LIST
    )
    exclusive = check_field(gettext_lazy("Hide the posts of its members in Home"))

    def draft(self) -> ListDraft:
        """Return the values of a valid form."""
        values = self.cleaned_data
        return ListDraft(clean_input(values["title"]), values["replies_policy"], values["exclusive"])


@require_http_methods(["GET", "HEAD", "POST"])
@once
def lists(request: HttpRequest) -> HttpResponse:
    """`/lists`: all lists of the reader; a POST request creates a list."""
    account_id = signed_in(request).account_id
    form = ListForm(request.POST or None)
    if request.method == "POST" and form.is_valid():
        try:
            return redirect("list", id=create_list(account_id=account_id, draft=form.draft()).id)
        except Invalid as refusal:
            form.add_details(refusal)
    context = {"form": form, "lists": list(list_lists(account_id))}
    return show(request, "timelines/lists.html", context, status=422 if form.errors else 200)


@require_safe
def list_posts(request: HttpRequest, id: int) -> HttpResponse:
    """`/lists/:id`: the posts of `GET /api/v1/timelines/list/:id`, with the same cursors. Raises NotFound."""
    user = signed_in(request)
    found = find_list(id, user.account_id)
    cursor = cursor_of(request, PAGE_SIZE)
    page = load_list_page(found, cursor)
    rows, page.rows = page.rows, one_page(page.rows, cursor)
    posts = posts_for_templates(fill(page), reader_of(user, "home")) if page.rows else []
    context = {**links(request, rows, cursor, page.ids), "list": found, "posts": posts}
    return show(request, "timelines/list.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def edit_list(request: HttpRequest, id: int) -> HttpResponse:
    """`/lists/:id/edit`: the settings and members of a list. A POST request changes the settings, or removes the member with
    the id `remove`. Raises NotFound.
    """
    account_id = signed_in(request).account_id
    found = find_list(id, account_id)
    removed = parse_id(request.POST.get("remove", ""))
    if removed is not None:
        remove_members(found=found, account_ids=[removed])
        return back(request)
    initial = {"title": found.title, "replies_policy": found.replies_policy, "exclusive": found.exclusive}
    form = ListForm(request.POST or None, initial=initial)
    if request.method == "POST" and form.is_accepted_by(lambda: update_list(found=found, draft=form.draft())):
        return redirect("list", id=found.id)
    context: dict[str, Any] = {"form": form, "list": found, **_members(request, found, account_id)}
    return show(request, "timelines/list_edit.html", context, status=422 if form.errors else 200)


def _members(request: HttpRequest, found: List, account_id: int) -> dict[str, Any]:
    # Sorted by account id, the highest first.
    rows, paging = read_page(request, list_members(found), "person_id")
    entities = present_accounts([row.account_id for row in rows], account_id)
    people = [{"id": entity["id"], "person": shown_author(entity, member=True)} for entity in entities.values()]
    return {"people": people, "of_others": True, **paging}


def lists_with(user: User, person: Account, relation: Mapping[str, Any] | None) -> list[dict[str, Any]] | None:
    """Return the user's lists for the person's profile; each says whether it contains the person. None unless the user follows
    the person or has requested to (behaviours section 14). `relation` is the entity "Relationship". Takes two queries.
    """
    if relation is None or not (relation["following"] or relation["requested"]):
        return None
    inside = {found.id for found in list_lists_with(user.account_id, person.id)}
    return [
        {"id": found.id, "title": found.title, "inside": found.id in inside} for found in list_lists(user.account_id)
    ]


@require_POST
def list_person(request: HttpRequest, id: int) -> HttpResponse:
    """`POST /people/:id/lists`: add a person to the list with the id `add`, add them to the list with the title `title`, which
    is created if missing, or remove them from the list with the id `remove`. Raises NotFound for an unknown account, and for
    another owner's list.
    """
    user, person = signed_in(request), find_account(id)
    counted(limits.GENERAL_RULES[0], user)
    if person.suspended:
        raise NotFound
    me, title = user.account_id, clean_input(request.POST.get("title", "")).strip()
    added, removed = (parse_id(request.POST.get(name, "")) for name in ("add", "remove"))
    try:
        if removed is not None:
            remove_members(found=find_list(removed, me), account_ids=[person.id])
        elif added is None:
            add_by_title(account=user.account, title=title, member=person)
        elif not list_lists_with(me, person.id).filter(id=added).exists():
            add_members(found=find_list(added, me), account_ids=[person.id])
    except (Forbidden, Invalid) as refusal:
        refuse(request, refusal)
    return back(request, "lists")


@require_http_methods(["GET", "HEAD", "POST"])
def remove_list(request: HttpRequest, id: int) -> HttpResponse:
    """`/lists/:id/delete`: ask for confirmation, then delete the list. Raises NotFound."""
    found = find_list(id, signed_in(request).account_id)
    if request.method == "POST":
        delete_list(found=found)
        messages.success(request, _("The list has been deleted."))
        return redirect("lists")
    return show(request, "timelines/list_delete.html", {"list": found})
