"""Relation of a signed-in reader to another account, as profiles and lists show it, and the forms that change it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_POST

from accounts.models import Account, User
from accounts.pages.member import back, refuse
from accounts.pages.person import shown_author, shown_biography
from accounts.pages.settings import counted, signed_in
from accounts.queries.accounts import find_account
from accounts.queries.relations import load_relations
from accounts.serializers.relationship import RelationshipSerializer
from accounts.services.blocking import block_account, mute_account, unblock_account, unmute_account
from accounts.services.following import FollowChange, follow_account, unfollow_account
from accounts.services.private import write_note
from social.api import limits
from social.kernel.errors import Forbidden, Invalid, NotFound
from social.kernel.text.names import clean_input
from social.pages.frame import url_of


def relation_of(user: User, account: Account) -> dict[str, Any] | None:
    """Return the Relationship entity of the user to the account, for `pages/relation.html`; None for the user's own account."""
    if account.id == user.account_id:
        return None
    relations = load_relations(user.account_id, [account.id])
    entity: dict[str, Any] = RelationshipSerializer(account.id, context={"relations": relations}).data
    return entity | {
        "report_url": url_of("report", account_id=account.id),
        "collections_url": url_of("person_collections", id=account.id),
    }


def with_relations(user: User, entities: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the people of these Account entities for `pages/people.html`, with the user's relation to each. One query."""
    ids = [int(entity["id"]) for entity in entities]
    relations = load_relations(user.account_id, ids)
    return [
        {
            "id": number,
            "person": shown_author(entity, member=True),
            "note": shown_biography(entity),
            "following": number in relations.following,
            "requested": number in relations.requested,
            "may_follow": number != user.account_id and not relations.blocked_either_way(number),
        }
        for number, entity in zip(ids, entities, strict=True)
    ]


def _follow(change: FollowChange) -> Callable[[Account, Account], object]:
    return lambda account, target: follow_account(account=account, target=target, change=change)


#: The service behind each button. Pressing a button twice has the same effect as pressing it once.
_ACTS: Final[dict[str, Callable[[Account, Account], object]]] = {
    "follow": _follow(FollowChange()),
    "notify": _follow(FollowChange(notify=True)),
    "unnotify": _follow(FollowChange(notify=False)),
    "hide_boosts": _follow(FollowChange(reblogs=False)),
    "show_boosts": _follow(FollowChange(reblogs=True)),
    "unfollow": lambda account, target: unfollow_account(account=account, target=target),
    "mute": lambda account, target: mute_account(account=account, target=target),
    "unmute": lambda account, target: unmute_account(account=account, target=target),
    "block": lambda account, target: block_account(account=account, target=target),
    "unblock": lambda account, target: unblock_account(account=account, target=target),
}


@require_POST
def act_on_person(request: HttpRequest, id: int) -> HttpResponse:
    """`POST /people/:id/act`: performs the action named in `act` on an account, then redirects to the page in `next`, or to the
    account's row there if `at` is sent.

    The private note in the same form is saved with every action; only the action `note` removes it. Raises NotFound for an
    unknown or suspended account and for an unknown action.
    """
    user, name = signed_in(request), request.POST.get("act", "")
    counted(limits.GENERAL_RULES[0], user)
    target = find_account(id)
    if target.suspended:
        raise NotFound
    try:
        comment = clean_input(request.POST.get("comment", ""))
        if name == "note" or (comment.strip() and name in _ACTS):
            write_note(account=user.account, target=target, comment=comment)
        if name in _ACTS:
            if name == "follow":
                counted(limits.family("follows")[0], user)
            _ACTS[name](user.account, target)
        elif name != "note":
            raise NotFound
    except (Forbidden, Invalid) as refusal:
        refuse(request, refusal)
    return back(request, f"person-{id}" if "at" in request.POST else "")
