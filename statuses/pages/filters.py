"""Pages on which a signed-in person lists and edits filters with their keywords and posts, and adds a post to a filter."""

from collections.abc import Iterable
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods, require_safe

from accounts.models import User
from accounts.pages.forms import ServiceForm, check_field, text_field
from accounts.pages.member import back, back_path, refuse
from accounts.pages.settings import signed_in
from social.kernel import clock
from social.kernel.errors import Invalid, NotFound
from social.kernel.ids import parse_id
from social.pages.frame import show
from social.pages.once import once
from social.pages.paging import read_page
from statuses.models import Filter, FilterAction, FilterContext, FilterKeyword
from statuses.models.filter import KEYWORD_LIMIT, TITLE_LIMIT
from statuses.pages.posts import load_shown, reader_of
from statuses.queries.filters import find_filter, find_filter_status, list_filtered_statuses, list_filters
from statuses.queries.statuses import find_post
from statuses.serializers.inputs.filters import FilterInput
from statuses.services.filters import add_status, create_filter, delete_filter, remove_from_filter, update_filter

_CONTEXTS: Final = {
    FilterContext.HOME: gettext_lazy("Home and lists"),
    FilterContext.NOTIFICATIONS: gettext_lazy("Notifications"),
    FilterContext.PUBLIC: gettext_lazy("Public timelines, hashtags and search"),
    FilterContext.THREAD: gettext_lazy("Threads"),
    FilterContext.ACCOUNT: gettext_lazy("Profiles"),
}
_ACTIONS: Final = {
    FilterAction.WARN: gettext_lazy("Hide the post behind a warning that names the filter"),
    FilterAction.BLUR: gettext_lazy("Hide only its pictures, videos and audio files"),
    FilterAction.HIDE: gettext_lazy("Hide the post completely"),
}
_KEEP: Final = "keep"
_DURATIONS: Final = (
    ("", gettext_lazy("Until you delete it")),
    ("1800", gettext_lazy("30 minutes")),
    ("3600", gettext_lazy("1 hour")),
    ("21600", gettext_lazy("6 hours")),
    ("86400", gettext_lazy("1 day")),
    ("604800", gettext_lazy("7 days")),
    ("2592000", gettext_lazy("1 month")),
)
#: The number of keywords on one page is limited, because the server accepts a limited number of form fields.
_KEYWORDS_PER_PAGE: Final = 100
_NEW_KEYWORDS: Final = ("new_1", "new_2", "new_3")
#: Number of keywords that the list shows for each filter.
_KEYWORDS_IN_LIST: Final = 5


class FilterForm(ServiceForm):
    """Form for a filter, with new keywords and those existing keywords that are shown on this page (`keywords`)."""

    parts = {"contexts": [f"in_{context.value}" for context in _CONTEXTS]}

    title = text_field(gettext_lazy("Title"), widget=forms.TextInput({"dir": "auto", "maxlength": TITLE_LIMIT}))
    action = forms.ChoiceField(label=gettext_lazy("What happens to the posts"), choices=list(_ACTIONS.items()))
    expires_in = forms.ChoiceField(label=gettext_lazy("How long it applies"), required=False, choices=_DURATIONS)

    def __init__(self, *args: Any, keywords: Iterable[FilterKeyword] = (), ends: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        for context, label in _CONTEXTS.items():
            self.fields[f"in_{context.value}"] = check_field(label)
        known = {str(row.id): row for row in keywords}
        self.numbers = [*known, *_NEW_KEYWORDS]
        for place, number in enumerate(self.numbers, 1):
            row = known.get(number)
            widget = forms.TextInput({"dir": "auto", "maxlength": KEYWORD_LIMIT})
            name = _("Keyword %(number)d") % {"number": place}
            self.fields[f"keyword_{number}"] = text_field(
                name, widget=widget, strip=False, initial=row.keyword if row is not None else ""
            )
            whole = check_field(_("Whole word"))
            whole.initial = row is None or row.whole_word
            self.fields[f"whole_{number}"] = whole
        if ends:
            expires = self.fields["expires_in"]
            assert isinstance(expires, forms.ChoiceField)
            expires.choices = [(_KEEP, _("Unchanged")), *_DURATIONS]

    def keyword_rows(self) -> list[tuple[forms.BoundField, forms.BoundField]]:
        """Return the text field of each keyword with its whole-word field."""
        return [(self[f"keyword_{number}"], self[f"whole_{number}"]) for number in self.numbers]

    def parameters(self) -> dict[str, Any]:
        """Return the parameters of the client API; an existing keyword whose text was cleared is marked for deletion."""
        typed = self.cleaned_data
        values: dict[str, Any] = {
            "title": typed["title"],
            "context": [context.value for context in _CONTEXTS if typed[f"in_{context.value}"]],
            "filter_action": typed["action"],
            "keywords_attributes": [],
        }
        for number in self.numbers:
            text = typed[f"keyword_{number}"]
            row = {"keyword": text, "whole_word": typed[f"whole_{number}"]}
            if number not in _NEW_KEYWORDS:
                row |= {"id": number} | ({} if text.strip() else {"_destroy": True})
            values["keywords_attributes"].append(row)
        if typed["expires_in"] != _KEEP:
            values["expires_in"] = typed["expires_in"]
        return values


@require_safe
def filters(request: HttpRequest) -> HttpResponse:
    """`/filters`: all filters of the reader, the oldest first, as the API lists them."""
    rows = [_for_template(row) for row in list_filters(signed_in(request).account_id)]
    return show(request, "statuses/filters.html", {"filters": rows})


def _for_template(row: Filter) -> dict[str, Any]:
    keywords = [keyword.keyword for keyword in row.keywords.all()]
    return {
        "id": row.id,
        "title": row.title,
        "action": _ACTIONS[FilterAction(row.action)],
        "contexts": [label for context, label in _CONTEXTS.items() if context.value in row.context],
        "keywords": keywords[:_KEYWORDS_IN_LIST],
        "more": max(0, len(keywords) - _KEYWORDS_IN_LIST),
        "posts": len(row.statuses.all()),
        "expires_at": row.expires_at,
        "expired": row.expires_at is not None and row.expires_at <= clock.now(),
    }


@require_http_methods(["GET", "HEAD", "POST"])
@once
def new_filter(request: HttpRequest) -> HttpResponse:
    """`/filters/new`: a form for a new filter, which may contain the post `post`. Raises NotFound for an unreadable post."""
    user = signed_in(request)
    number = parse_id(request.POST.get("post") or request.GET.get("post") or "")
    post = find_post(number, user.account_id).proper if number is not None else None
    initial = {"in_home": True, "in_public": True, "in_thread": True, "in_notifications": True}
    form = FilterForm(request.POST or None, initial=initial)

    def save() -> None:
        made = create_filter(account_id=user.account_id, draft=FilterInput.read_mapping(form.parameters()))
        if post is not None:
            add_status(found=made, status_id=post.id)

    if request.method == "POST" and form.is_accepted_by(save):
        messages.success(request, _("The filter has been created."))
        return back(request, f"post-{post.id}") if post is not None else redirect("filters")
    context = {"form": form, "post_id": post.id if post is not None else "", "next": back_path(request)}
    return show(request, "statuses/filter_edit.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def edit_filter(request: HttpRequest, id: int) -> HttpResponse:
    """`/filters/:id`: the settings of a filter, and a page of its keywords, after the keyword `after`. Raises NotFound."""
    found = find_filter(id, signed_in(request).account_id)
    after = parse_id(request.GET.get("after", "")) or 0
    keywords = [row for row in found.keywords.all() if row.id > after]
    page, more = keywords[:_KEYWORDS_PER_PAGE], len(keywords) > _KEYWORDS_PER_PAGE
    if request.method == "POST":
        # Keywords that the submitted form did not contain were added in the meantime, and must not count as cleared.
        page = [row for row in found.keywords.all() if f"keyword_{row.id}" in request.POST]
    ends = found.expires_at is not None
    initial = {
        "title": found.title,
        "action": found.action,
        "expires_in": _KEEP if ends else "",
        **{f"in_{context}": True for context in found.context},
    }
    form = FilterForm(request.POST or None, initial=initial, keywords=page, ends=ends)

    def save() -> None:
        update_filter(found=found, draft=FilterInput.read_mapping(form.parameters()))

    if request.method == "POST" and form.is_accepted_by(save):
        messages.success(request, _("The filter has been saved."))
        return redirect("filters")
    context = {
        "form": form,
        "filter": _for_template(found),
        "older": f"?after={page[-1].id}" if more else "",
        "newest": request.path if after else "",
    }
    return show(request, "statuses/filter_edit.html", context, status=422 if form.errors else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def remove_filter(request: HttpRequest, id: int) -> HttpResponse:
    """`/filters/:id/delete`: ask for confirmation, then delete the filter. Raises NotFound."""
    found = find_filter(id, signed_in(request).account_id)
    if request.method == "POST":
        delete_filter(found=found)
        messages.success(request, _("The filter has been deleted."))
        return redirect("filters")
    return show(request, "statuses/filter_delete.html", {"filter": found})


@require_http_methods(["GET", "HEAD", "POST"])
def filter_posts(request: HttpRequest, id: int) -> HttpResponse:
    """`/filters/:id/posts`: the posts of a filter, the last added first. POST removes the entry `remove`. Raises NotFound."""
    user = signed_in(request)
    found = find_filter(id, user.account_id)
    if request.method == "POST":
        try:
            remove_from_filter(found=find_filter_status(request.POST.get("remove", ""), user.account_id))
        except NotFound:
            messages.info(request, _("This has already been done."))
        return back(request)
    rows, paging = read_page(request, list_filtered_statuses(found))
    posts = {post["number"]: post for post in load_shown([row.status_id for row in rows], reader_of(user, ""))}
    context = {
        **paging,
        "filter": found,
        "entries": [{"id": row.id, "post": posts.get(row.status_id)} for row in rows],
    }
    return show(request, "statuses/filter_posts.html", context)


@require_http_methods(["GET", "HEAD", "POST"])
def filter_post(request: HttpRequest, id: int) -> HttpResponse:
    """`/statuses/:id/filter`: the reader's filters; POST adds the post to the filter `filter`. Raises NotFound."""
    user = signed_in(request)
    post = find_post(id, user.account_id).proper
    if request.method == "POST":
        _add(request, user, post.id)
        return back(request, f"post-{post.id}")
    rows = [
        {"id": row.id, "title": row.title, "has_it": any(entry.status_id == post.id for entry in row.statuses.all())}
        for row in list_filters(user.account_id)
    ]
    context = {"filters": rows, "posts": load_shown([post.id], reader_of(user, "")), "next": back_path(request)}
    return show(request, "statuses/filter_post.html", context | {"post_id": post.id})


def _add(request: HttpRequest, user: User, status_id: int) -> None:
    found = find_filter(request.POST.get("filter", ""), user.account_id)
    if any(entry.status_id == status_id for entry in found.statuses.all()):
        messages.info(request, _("This has already been done."))
        return
    try:
        add_status(found=found, status_id=status_id)
    except Invalid as refusal:
        refuse(request, refusal)
    else:
        messages.success(request, _("The post has been added to the filter."))
