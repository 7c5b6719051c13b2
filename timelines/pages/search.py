"""Search page for signed-in people: finds people, posts and hashtags by words, or any object by its address."""

from collections.abc import Sequence
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_safe

from accounts.collections.queries import load_visible
from accounts.models import User
from accounts.pages.person import load_entities
from accounts.pages.relations import with_relations
from accounts.pages.settings import counted, signed_in
from social.api import limits
from social.kernel.ids import parse_id
from social.kernel.text.names import clean_input, visible_text
from social.pages.frame import path_of, show, url_of, with_query
from social.pages.paging import PAGE_SIZE
from statuses.pages.posts import load_shown, reader_of
from timelines.pages.public import tags_for_templates
from timelines.policies.search_query import InvalidDate
from timelines.services.searching import Found, SearchForm, search

#: Number of people and of hashtags that a search for everything shows above the posts.
_SHORT_SIZE: Final = 5
#: Kinds of results, by their names in the API, with their titles.
_KINDS: Final[dict[str, str | Promise]] = {
    "": gettext_lazy("Everything"),
    "accounts": gettext_lazy("People"),
    "statuses": gettext_lazy("Posts"),
    "hashtags": gettext_lazy("Hashtags"),
}


@require_safe
def search_page(request: HttpRequest) -> HttpResponse:
    """`/search`: the results for the text `q`, of every kind or of one `type`, in pages; 422 for an invalid text."""
    user = signed_in(request)
    text = clean_input(request.GET.get("q", "")).strip()
    kind = request.GET.get("type", "")
    kind = kind if kind in _KINDS else ""
    context: dict[str, Any] = {
        "q": text,
        "kind": kind,
        "tabs": [
            {"title": title, "url": with_query(request.path, q=text, type=name), "current": name == kind}
            for name, title in _KINDS.items()
        ],
    }
    if not text:
        return show(request, "timelines/search.html", context)
    counted(limits.GENERAL_RULES[0], user)
    offset = parse_id(request.GET.get("offset", "")) or 0 if kind else 0
    form = SearchForm(text, kind, resolve=True, limit=PAGE_SIZE + 1, offset=offset)
    try:
        found = search(form, user.account_id)
    except InvalidDate:
        context["problem"] = _("A date is written like this: 2026-01-31.")
        return show(request, "timelines/search.html", context, status=422)
    context |= _results(found, user, few=not kind)
    first = with_query(request.path, q=text, type=kind)
    following = with_query(request.path, q=text, type=kind, offset=str(offset + PAGE_SIZE))
    context |= {"newest": first if offset else "", "older": following if kind and context["more"] else ""}
    return show(request, "timelines/search.html", context)


def _results(found: Found, user: User, *, few: bool) -> dict[str, Any]:
    """Return the results as the template expects them; `more` is the set of kinds that have more results than are shown."""
    short = _SHORT_SIZE if few else PAGE_SIZE
    sizes: dict[str, tuple[Sequence[Any], int]] = {
        "accounts": (found.accounts, short),
        "hashtags": (found.hashtags, short),
        "statuses": (found.statuses, PAGE_SIZE),
    }
    people = load_entities(found.accounts[:short], user.account_id)
    return {
        "searched": True,
        "people": with_relations(user, people),
        "tags": tags_for_templates(found.hashtags[:short], user.account_id),
        "collections": [
            {
                "name": visible_text(each.collection.name),
                "url": url_of("collection", id=each.collection.id) or path_of(each.collection.page_url),
            }
            for each in load_visible(found.collections, user.account_id)
        ],
        "posts": load_shown(found.statuses[:PAGE_SIZE], reader_of(user, "public")),
        "more": {kind for kind, (rows, size) in sizes.items() if len(rows) > size},
    }
