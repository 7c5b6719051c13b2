"""Reads an account's lists of other accounts, newest row first, and follows that blocks or suspensions have ended.

The rows have `id` and `person_id`, the id of the other account; the caller loads the entities for a page of them.
"""

from collections.abc import Collection, Iterable
from typing import Final

from django.db.models import F, QuerySet

from accounts.models import Account, Endorsement, Follow, FollowRequest
from accounts.models.relations import SeveredAccount, SeveredFollow
from accounts.policies.audience import PRESENT, is_present
from accounts.policies.relations import hidden_from
from accounts.queries.relations import load_relations
from social.kernel.errors import require_found
from social.kernel.statements import rows_of
from social.kernel.text.names import normalise_domain

FAMILIAR_SHOWN = 10


def list_followers(account: Account, viewer_id: int | None) -> QuerySet[Follow]:
    """List followers of the account that the viewer may see: none if the account is suspended, hides its network or
    blocks the viewer. Accounts that the viewer blocks or mutes, or that block the viewer, are left out.
    """
    rows = Follow.objects.filter(target=account).annotate(person_id=F("account_id"))
    return _shown_to(rows, "account_id", account, viewer_id)


def list_following(account: Account, viewer_id: int | None) -> QuerySet[Follow]:
    """List accounts that the account follows; accounts are left out as in `list_followers`."""
    rows = Follow.objects.filter(account=account).annotate(person_id=F("target_id"))
    return _shown_to(rows, "target_id", account, viewer_id)


def list_follows(account_id: int) -> QuerySet[Follow]:
    """List all follows by the account with their `target`, including follows of suspended accounts.

    Only the account itself may see this list.
    """
    return Follow.objects.filter(account_id=account_id).select_related("target")


def list_follow_requests(account_id: int) -> QuerySet[FollowRequest]:
    """List pending follow requests to the account; requests from suspended accounts are left out."""
    rows = FollowRequest.objects.filter(is_present("account"), target_id=account_id)
    return rows.annotate(person_id=F("account_id"))


def list_endorsed(account_id: int) -> QuerySet[Endorsement]:
    """List accounts that the account endorses, to be paged by the endorsed account's id; suspended ones are left out."""
    rows = Endorsement.objects.filter(is_present("target"), account_id=account_id)
    return rows.annotate(person_id=F("target_id"))


def count_follows_with(account_id: int, domain: str) -> tuple[int, int]:
    """Count the accounts of a server that the account follows, and those that follow it; both are 0 for an invalid domain."""
    name = normalise_domain(domain)
    if not name:
        return 0, 0
    following = Follow.objects.filter(account_id=account_id, target__domain=name).count()
    return following, Follow.objects.filter(target_id=account_id, account__domain=name).count()


# The query starts from the viewer's follows, which are fewer than the followers of a popular account.
_FAMILIAR: Final = f"""
SELECT known.id, familiar.account_id
  FROM unnest(%(ids)s::bigint[]) known (id) CROSS JOIN LATERAL (
    SELECT f.account_id FROM accounts_follow mine
      JOIN accounts_follow f ON f.account_id = mine.target_id AND f.target_id = known.id
      JOIN accounts_account a ON a.id = f.account_id
     WHERE mine.account_id = %(viewer)s AND a.hide_collections IS NOT TRUE
       AND {PRESENT.sql("a.id", has_viewer=False, joined="a")} AND f.account_id <> %(viewer)s
     ORDER BY f.id DESC LIMIT {FAMILIAR_SHOWN}) familiar
"""  # noqa: S608 (constants)


def load_familiar_followers(viewer_id: int, account_ids: Iterable[int]) -> dict[int, list[int]]:
    """Load at most FAMILIAR_SHOWN followers of each account whom the viewer also follows and who do not hide whom they
    follow. Takes two queries.
    """
    known = Account.objects.filter(is_present(), id__one_of=account_ids).values_list("id", "hide_collections")
    open_ids = [number for number, hidden in known if not hidden and number != viewer_id]
    followers: dict[int, list[int]] = {number: [] for number, _hidden in known}
    for target_id, account_id in rows_of(_FAMILIAR, {"viewer": viewer_id, "ids": open_ids}) if open_ids else ():
        followers[target_id].append(account_id)
    return followers


def _shown_to(rows: QuerySet[Follow], person: str, owner: Account, viewer_id: int | None) -> QuerySet[Follow]:
    if owner.suspended or (owner.hide_collections and viewer_id != owner.id):
        return rows.none()
    if viewer_id is None or viewer_id == owner.id:
        return rows
    if load_relations(viewer_id, [owner.id]).is_blocked_by(owner.id):
        return rows.none()
    return rows.exclude(hidden_from(viewer_id, person))


def list_severances(account_id: int) -> QuerySet[SeveredAccount]:
    """List the blocks and suspensions that ended follows of the account, the latest first, with the numbers of follows."""
    return SeveredAccount.objects.filter(account_id=account_id).select_related("severance").order_by("-id")


def load_severances(severed_ids: Collection[int]) -> dict[int, SeveredAccount]:
    """Load these rows keyed by id, each with the block or suspension that ended the follows (`severance`)."""
    if not severed_ids:
        return {}
    found = SeveredAccount.objects.filter(id__one_of=list(severed_ids)).select_related("severance")
    return {severed.id: severed for severed in found}


def find_severance(account_id: int, severed_id: int) -> SeveredAccount:
    """Return the account's row for a block or suspension. Raises NotFound, also for another account's row."""
    return require_found(list_severances(account_id).filter(id=severed_id).first())


def list_ended_follows(severed: SeveredAccount) -> QuerySet[SeveredFollow]:
    """List the ended follows in which the account was the follower, each with its `target`."""
    rows = SeveredFollow.objects.filter(severance_id=severed.severance_id, account_id=severed.account_id)
    return rows.select_related("target")


def list_ended_followers(severed: SeveredAccount) -> QuerySet[SeveredFollow]:
    """List the ended follows in which the account was followed, each with its follower (`account`)."""
    rows = SeveredFollow.objects.filter(severance_id=severed.severance_id, target_id=severed.account_id)
    return rows.select_related("account")
