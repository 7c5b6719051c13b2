"""Pages of collections, and the forms that change them. Visitors can read only the page of a single collection."""

from collections.abc import Iterable
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from accounts.collections import queries
from accounts.collections.models import DESCRIPTION_LIMIT, Collection, ItemState
from accounts.collections.policies import CollectionDraft
from accounts.collections.services import local
from accounts.models import Account, User
from accounts.pages.forms import PLAIN, ServiceForm, check_field, text_field
from accounts.pages.member import back, refuse, viewer_of
from accounts.pages.person import load_entities, shown_person
from accounts.pages.relations import with_relations
from accounts.pages.settings import counted, signed_in
from accounts.queries.accounts import find_account, find_by_address
from social.api import limits
from social.kernel.errors import Forbidden, Invalid, NotFound, require_found
from social.kernel.ids import parse_id
from social.kernel.text.names import clean_input, visible_text
from social.pages import frame
from social.pages.once import once

#: Maximum number of collections in a list.
_SHOWN: Final = 40


class CollectionForm(ServiceForm):
    """Form for the name, description and other values of a collection."""

    renamed = {"display_name": "tag_name", "base": ""}

    name = text_field(gettext_lazy("Name"))
    description = text_field(
        gettext_lazy("Description"), widget=forms.Textarea({"rows": 2, "maxlength": DESCRIPTION_LIMIT})
    )
    tag_name = text_field(gettext_lazy("Hashtag of the collection"), widget=forms.TextInput(PLAIN))
    discoverable = check_field(gettext_lazy("Show it on your profile, where everybody can find it"))
    sensitive = check_field(gettext_lazy("It has accounts that post sensitive content"))

    def draft(self) -> CollectionDraft:
        """Return the values of a valid form. An empty hashtag is treated as not submitted; the old hashtag stays."""
        values = {
            name: clean_input(value) if isinstance(value, str) else value for name, value in self.cleaned_data.items()
        }
        if not values["tag_name"].strip():
            del values["tag_name"]
        return CollectionDraft(values)


@require_safe
def collection(request: HttpRequest, id: str) -> HttpResponse:
    """`/collections/:id`: a collection as the reader sees it, with buttons to follow its members and to leave it.

    Raises NotFound. Visitors do not see remote collections here, because a remote collection has a page on its own server.
    """
    number, viewer = require_found(parse_id(id)), viewer_of(request)
    shown = queries.find_shown(number, viewer.account_id if viewer is not None else None)
    if viewer is None and shown.collection.uri is not None:
        raise NotFound
    context = _texts_for_template(shown.collection)
    if viewer is not None:
        context |= _for_member(shown, viewer)
    else:
        owner, *members = queries.load_members(shown)
        context |= {"owner": shown_person(owner), "members": [shown_person(member) for member in members]}
    sharing = frame.sharing_of_site(request.path, title=context["name"], description=context["description"])
    return frame.allow_caching(frame.show(request, "accounts/collection.html", context | {"sharing": sharing}))


def _texts_for_template(found: Collection) -> dict[str, Any]:
    return {
        "id": found.id,
        "name": visible_text(found.name),
        "description": visible_text(found.description or ""),
        "sensitive": found.sensitive,
    }


def _for_member(shown: queries.ShownCollection, viewer: User) -> dict[str, Any]:
    """Return the owner and the people of a collection with their relations to the reader, for the buttons of the page."""
    collection = shown.collection
    owner, *people = with_relations(viewer, load_entities(shown.account_ids, viewer.account_id))
    items = {item.account_id: item for item in shown.items}
    for person in people:
        item = items[person["id"]]
        person |= {"item": item.id, "pending": item.state == ItemState.PENDING}
    return {
        "owner": owner["person"],
        "people": people,
        "mine": collection.account_id == viewer.account_id,
        "member_of": viewer.account_id in items,
        "remote_url": collection.page_url if collection.uri is not None else "",
    }


def _rows(collections: Iterable[Collection], viewer_id: int) -> list[dict[str, Any]]:
    """Return collections in the form that `accounts/collection_rows.html` expects."""
    return [
        {**_texts_for_template(each.collection), "count": len(each.items)}
        for each in queries.show(collections, viewer_id)
    ]


@require_http_methods(["GET", "HEAD", "POST"])
@once
def collections(request: HttpRequest) -> HttpResponse:
    """`/collections`: the reader's own collections, and those that include the reader. A POST request creates a collection."""
    user = signed_in(request)
    form = CollectionForm(request.POST or None, initial={"discoverable": True})
    if request.method == "POST" and form.is_valid():
        counted(limits.INTERACTIONS, user)
        try:
            return redirect("collection", id=local.create_collection(user=user, draft=form.draft()).id)
        except Invalid as refusal:
            form.add_details(refusal)
    me = user.account_id
    context = {
        "form": form,
        "collections": _rows(queries.list_of_account(user.account, me)[:_SHOWN], me),
        "joined": _rows(queries.list_with_account(me)[:_SHOWN], me),
    }
    return frame.show(request, "accounts/collections.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def of_person(request: HttpRequest, id: int) -> HttpResponse:
    """`/people/:id/collections`: the person's collections and the reader's own.

    A POST request adds the person to the collection whose id is in `add`, or removes the person from the collection whose id is
    in `remove`. Raises NotFound.
    """
    user, person = signed_in(request), find_account(id)
    me = user.account_id
    if person.suspended:
        raise NotFound
    mine = queries.show(queries.list_of_account(user.account, me), me)
    if request.method == "POST":
        number = parse_id(request.POST.get("add", "")) or parse_id(request.POST.get("remove", ""))
        chosen = require_found(next((each for each in mine if each.collection.id == number), None))
        _change(request, user, chosen, person, adds="add" in request.POST)
        return back(request)
    own = [
        {**_texts_for_template(each.collection), "inside": any(item.account_id == person.id for item in each.items)}
        for each in mine
    ]
    context = {
        "person": shown_person(person),
        "person_id": person.id,
        "collections": _rows(queries.list_of_account(person, me)[:_SHOWN], me) if person.id != me else [],
        "own": own if person.id != me else [],
    }
    return frame.show(request, "accounts/person_collections.html", context)


def _change(request: HttpRequest, user: User, shown: queries.ShownCollection, person: Account, *, adds: bool) -> None:
    """Add a person to a collection of the user, or remove them; a repeated request has no effect."""
    counted(limits.INTERACTIONS, user)
    item = next((each for each in shown.items if each.account_id == person.id), None)
    if adds and item is None:
        try:
            local.add_item(owner=user.account, collection=shown.collection, account_id=person.id)
        except Forbidden:
            messages.error(request, _("The owner of this account does not allow you to add it to collections."))
        except Invalid as refusal:
            refuse(request, refusal)
    elif item is not None and not adds:
        local.remove_item(owner=user.account, item=queries.find_item(shown.collection.id, item.id))


def _find_own(request: HttpRequest, collection_id: int) -> Collection:
    collection = queries.find_collection(collection_id)
    if collection.account_id != signed_in(request).account_id:
        raise NotFound
    return collection


@require_http_methods(["GET", "HEAD", "POST"])
def edit_collection(request: HttpRequest, id: int) -> HttpResponse:
    """`/collections/:id/edit`: the values of a collection, and its people. Raises NotFound.

    A POST request adds the person whose address is in `add`, removes the person whose id is in `remove`, or changes the values.
    """
    user, collection = signed_in(request), _find_own(request, id)
    if "add" in request.POST or "remove" in request.POST:
        shown = queries.show([collection], user.account_id)[0]
        try:
            if "add" in request.POST:
                person = find_by_address(clean_input(request.POST["add"]).strip())
            else:
                person = find_account(require_found(parse_id(request.POST["remove"])))
        except NotFound:
            messages.error(request, _("This server does not know an account with this address. Search for it first."))
        else:
            _change(request, user, shown, person, adds="add" in request.POST)
        return back(request, "people")
    tag = collection.tag.display_name if collection.tag is not None else ""
    initial = {name: getattr(collection, name) for name in ("name", "description", "discoverable", "sensitive")}
    form = CollectionForm(request.POST or None, initial=initial | {"tag_name": tag})
    if request.method == "POST" and form.is_accepted_by(
        lambda: local.update_collection(owner=user.account, collection=collection, draft=form.draft())
    ):
        return redirect("collection", id=collection.id)
    members = _for_member(queries.show([collection], user.account_id)[0], user)
    context = {**members, "form": form, "collection": _texts_for_template(collection)}
    return frame.show(request, "accounts/collection_edit.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def remove_collection(request: HttpRequest, id: int) -> HttpResponse:
    """`/collections/:id/delete`: ask for confirmation, then delete the collection. Raises NotFound."""
    user, collection = signed_in(request), _find_own(request, id)
    if request.method == "POST":
        local.delete_collection(owner=user.account, collection=collection)
        messages.success(request, _("The collection has been deleted."))
        return redirect("collections")
    return frame.show(request, "accounts/collection_delete.html", {"collection": _texts_for_template(collection)})


@require_POST
def leave_collection(request: HttpRequest, id: int) -> HttpResponse:
    """`POST /collections/:id/leave`: remove the reader from a collection for good. Raises NotFound for nonmembers."""
    user = signed_in(request)
    items = queries.find_shown(id, user.account_id).items
    item = require_found(next((each for each in items if each.account_id == user.account_id), None))
    local.revoke_item(account=user.account, item=queries.find_item(id, item.id))
    messages.success(request, _("You have left the collection."))
    return back(request)
