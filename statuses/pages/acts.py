"""Actions of signed-in readers on a post. Each post on a page is a form that submits to this module."""

from collections.abc import Callable
from functools import partial
from typing import Final

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_POST

from accounts.models import User
from accounts.pages.member import back, refuse
from accounts.pages.settings import counted, signed_in
from accounts.queries.accounts import find_account
from accounts.services.blocking import block_account, mute_account
from social.api import limits
from social.kernel.errors import Forbidden, Invalid, NotFound
from social.kernel.ids import parse_id
from statuses.models import Interaction
from statuses.pages.policies import ASKED_FIRST
from statuses.pages.posts import load_shown, reader_of
from statuses.queries.authors import find_author
from statuses.queries.posts import load_votes
from statuses.queries.requests import is_requested
from statuses.queries.statuses import find_poll, find_post, find_post_and_relations
from statuses.serializers.inputs.statuses import VoteInput
from statuses.services import interactions
from statuses.services.pins import pin_status, unpin_status
from statuses.services.polls import vote


def _favourite(user: User, status_id: int) -> bool:
    post, relations = find_post_and_relations(status_id, user.account_id)
    done = interactions.favourite_status(account_id=user.account_id, status=post, relations=relations)
    return not done and is_requested(user.account_id, post.proper, Interaction.FAVOURITE)


def _boost(user: User, status_id: int) -> bool:
    counted_all(limits.family("statuses"), user)
    post, relations = find_post_and_relations(status_id, user.account_id)
    return interactions.reblog_status(account=find_author(user.account_id), status=post, relations=relations) is None


def _unboost(user: User, status_id: int) -> None:
    counted_all(limits.limited("deletions"), user)
    interactions.unreblog_status(account_id=user.account_id, status_id=status_id)


def _on_post(service: Callable[..., object]) -> Callable[[User, int], object]:
    return lambda user, number: service(account_id=user.account_id, status=find_post(number, user.account_id))


def _undo(service: Callable[..., object]) -> Callable[[User, int], object]:
    return lambda user, number: service(account_id=user.account_id, status_id=number)


def _on_author(service: Callable[..., object]) -> Callable[[User, int], object]:
    return lambda user, number: service(
        account=user.account, target=find_account(find_post(number, user.account_id).proper.account_id)
    )


#: Functions called by the buttons; a second call has no further effect. A function returns True if the author is asked first.
_ACTS: Final[dict[str, Callable[[User, int], object]]] = {
    "favourite": _favourite,
    "unfavourite": _undo(interactions.unfavourite_status),
    "boost": _boost,
    "unboost": _unboost,
    "bookmark": _on_post(interactions.bookmark_status),
    "unbookmark": _undo(interactions.unbookmark_status),
    "mute": _on_post(interactions.mute_conversation),
    "unmute": _on_post(interactions.unmute_conversation),
    "pin": _on_post(pin_status),
    "unpin": _on_post(unpin_status),
    "mute_author": _on_author(mute_account),
    "block_author": _on_author(block_account),
}
#: Messages shown after actions whose effect is not visible on the card.
_DONE: Final[dict[str, str | Promise]] = {
    "mute": gettext_lazy("You will no longer be notified about this conversation."),
    "unmute": gettext_lazy("You will be notified about this conversation again."),
    "pin": gettext_lazy("The post has been pinned to your profile."),
    "unpin": gettext_lazy("The post is no longer pinned to your profile."),
    "mute_author": gettext_lazy("You have muted this account."),
    "block_author": gettext_lazy("You have blocked this account."),
}
#: Actions for which the service raises an error when they are repeated; the pages ignore that error.
_SECOND_TIME: Final = ("pin",)


def counted_all(rules: tuple[limits.Rule, ...], user: User) -> None:
    """Count an action of a user under several rate limits. Raises RateLimited after too many actions."""
    for rule in rules:
        counted(rule, user)


@require_POST
def act(request: HttpRequest, id: int) -> HttpResponse:
    """`POST /statuses/:id/act`: perform `act` on a post, and redirect (303) to the card `at` on the page `next`. Raises
    NotFound.

    With `Prefer: return=minimal` (RFC 7240) there is no body: 204, 202 if the post's author is asked first, 422 if the action
    is refused.
    """
    user, name = signed_in(request), request.POST.get("act", "")
    minimal = request.headers.get("Prefer") == "return=minimal"
    counted_all(limits.GENERAL_RULES[:1], user)
    do = partial(_vote, request) if name == "vote" else _ACTS.get(name)
    if do is None:
        raise NotFound
    try:
        asked_first = do(user, id) is True
    except (Forbidden, Invalid) as refusal:
        if minimal:
            return HttpResponse(status=422)
        if name not in _SECOND_TIME or not _is_pinned(user, id):
            refuse(request, refusal)
    else:
        if minimal:
            return HttpResponse(status=202 if asked_first else 204)
        if asked_first:
            messages.info(request, str(ASKED_FIRST))
        if name in _DONE:
            messages.success(request, str(_DONE[name]))
    return back(request, f"post-{parse_id(request.POST.get('at', '')) or id}")


def _is_pinned(user: User, status_id: int) -> bool:
    return any(post.get("pinned") for post in load_shown([status_id], reader_of(user, "")))


def _vote(request: HttpRequest, user: User, status_id: int) -> None:
    poll, post, relations = find_poll(request.POST.get("poll", ""), user.account_id)
    if post.id != status_id:
        raise NotFound
    chosen = request.POST.getlist("choices")
    if not chosen:
        raise Invalid.sentence(_("Choose an answer first"))
    choices = VoteInput.read_mapping({"choices": chosen}).choices
    if {*choices} == {*load_votes([user.account_id], [post.id]).get(user.account_id, {}).get(post.id, ())}:
        return
    vote(account_id=user.account_id, poll=poll, post=post, relations=relations, choices=choices)
