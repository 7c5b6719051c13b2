"""Pages to which other servers send visitors who want to follow an account, interact with a post, or share a text (federation
section 13; FEP-3b86). Remote addresses are looked up only for signed-in users, at a limited rate.
"""

from typing import Any, Final
from urllib.parse import urlsplit

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods, require_safe

from accounts.models import Account, User
from accounts.pages.person import shown_person
from accounts.pages.settings import counted, signed_in
from accounts.queries.accounts import find_account
from accounts.queries.relations import load_relations
from accounts.queries.users import find_user
from accounts.services.following import FollowChange, follow_account
from accounts.services.remote_accounts import find_or_resolve
from social.api import limits
from social.kernel.errors import NotFound
from social.kernel.text.names import clean_input
from social.pages.frame import show, with_query
from statuses.models import Interaction
from statuses.pages.policies import ASKED_FIRST, REPLY_WAITS
from statuses.pages.post_form import initial_of
from statuses.pages.posts import load_shown
from statuses.pages.short_form import ShortPostForm
from statuses.policies.visibility import requested_visibility
from statuses.queries.marks import Marks, load_marks
from statuses.queries.requests import is_requested
from statuses.queries.statuses import find_post_and_relations
from statuses.services.interactions import favourite_status, reblog_status, unfavourite_status, unreblog_status
from timelines.services.searching import find_at_address

_INTENTS: Final = {("web+mastodon", "follow"): "interact", ("web+mastodon", "share"): "share"}
#: Number of times that the page of a pending follow request reloads itself.
_LOOKS: Final = 5


@require_http_methods(["GET", "HEAD", "POST"])
def interact(request: HttpRequest) -> HttpResponse:
    """`/authorize_interaction?uri=`: follow an account or interact with a post of any server. `uri` (`acct` in older links) is
    an address, or the id or page of an account or post. Raises NotFound for any other value, and for an unreadable post.
    """
    user = find_user(signed_in(request).pk)
    counted(limits.INTERACTIONS, user)
    uri = clean_input(request.GET.get("uri") or request.GET.get("acct", "")).strip()
    if not uri.startswith(("https://", "http://")):
        return _of_person(request, user, find_or_resolve(uri.removeprefix("acct:")))
    found = find_at_address(uri, user.account_id)
    if found.accounts:
        return _of_person(request, user, find_account(found.accounts[0]))
    return _of_post(request, user, found.statuses[0] if found.statuses else None)


@require_safe
def intent(request: HttpRequest) -> HttpResponse:
    """`/intent?uri=`: redirect from a `web+mastodon:` address to the matching page. Raises NotFound for any other address."""
    try:
        address = urlsplit(request.GET.get("uri", ""))
    except ValueError:
        raise NotFound from None
    page = _INTENTS.get((address.scheme, address.netloc))
    if page is None:
        raise NotFound
    return redirect(f"{reverse(page)}?{address.query}")


@require_http_methods(["GET", "HEAD", "POST"])
def share(request: HttpRequest) -> HttpResponse:
    """`/share?text=`: post a text from another site, optionally with the `title` and `url` of its page."""
    user = find_user(signed_in(request).pk)
    form = ShortPostForm(request.POST or None, initial=initial_of(user, " ".join(_shared_texts(request))))
    if request.method == "POST":
        counted(limits.INTERACTIONS, user)
        if form.publish(user):
            messages.success(request, _("Your post has been published."))
            return redirect("share")
    context = {"form": form, "me": shown_person(user.account)}
    return show(request, "timelines/share.html", context, status=422 if form.errors else 200)


def _shared_texts(request: HttpRequest) -> list[str]:
    values = (clean_input(request.GET.get(name, "")).strip() for name in ("title", "text", "url"))
    return [text for text in values if text]


def _of_person(request: HttpRequest, user: User, target: Account) -> HttpResponse:
    if target.suspended:
        raise NotFound
    person = shown_person(target)
    if request.method == "POST":
        follow_account(account=user.account, target=target, change=FollowChange())
        return redirect(request.get_full_path())
    relations = load_relations(user.account_id, [target.id])
    context = {
        "me": shown_person(user.account),
        "person": person,
        "locked": target.locked,
        "is_me": target.id == user.account_id,
        "following": target.id in relations.following,
        "requested": target.id in relations.requested,
    }
    answer = show(request, "timelines/follow.html", context)
    looked = request.GET.get("looked", "")
    looks = int(looked) if looked.isdecimal() and len(looked) == 1 else 0
    if context["requested"] and not target.locked and looks < _LOOKS:
        # The other server usually answers within seconds, so the page reloads itself, at growing intervals.
        again = with_query(request.path, uri=request.GET.get("uri", ""), looked=str(looks + 1))
        answer.headers["Refresh"] = f"{2 << looks}; url={again}"
    return answer


def _of_post(request: HttpRequest, user: User, status_id: int | None) -> HttpResponse:
    found, relations = find_post_and_relations(status_id, user.account_id)
    post = found.proper
    posts = load_shown([post.id])
    if not posts:
        # The visitor cannot have come from the page of this post, because only public and unlisted posts have such a page.
        raise NotFound
    mention = f"@{post.username}@{post.domain}" if post.domain is not None else f"@{post.username}"
    visibility = requested_visibility(post.visibility, local_only=post.local_only)
    initial = initial_of(user, "" if post.account_id == user.account_id else f"{mention} ", visibility)
    answer = ShortPostForm(request.POST if request.POST.get("act") == "reply" else None, initial=initial)
    if request.method == "POST":
        match request.POST.get("act"):
            case "favourite":
                done = favourite_status(account_id=user.account_id, status=post, relations=relations)
                if not done and is_requested(user.account_id, post, Interaction.FAVOURITE):
                    messages.info(request, str(ASKED_FIRST))
            case "unfavourite":
                unfavourite_status(account_id=user.account_id, status_id=post.id)
            case "boost":
                if reblog_status(account=user.account, status=post, relations=relations) is None:
                    messages.info(request, str(ASKED_FIRST))
            case "unboost":
                unreblog_status(account_id=user.account_id, status_id=post.id)
            case "reply" if not answer.publish(user, in_reply_to_id=post.id):
                return _show_post(request, user, posts[0], answer)
            case "reply":
                messages.success(request, str(REPLY_WAITS) if answer.waits else _("Your reply has been published."))
        return redirect(request.get_full_path())
    return _show_post(request, user, posts[0], answer)


def _show_post(request: HttpRequest, user: User, post: dict[str, Any], answer: ShortPostForm) -> HttpResponse:
    number = int(post["id"])
    marks = load_marks([user.account_id], [number]).get(user.account_id, Marks())
    context = {
        "me": shown_person(user.account),
        "post": post,
        "form": answer,
        "favourited": number in marks.favourited,
        "boosted": number in marks.reblogged,
    }
    return show(request, "timelines/interact.html", context, status=422 if answer.errors else 200)
