"""Decides who may put an account into collections (contract, entities "feature_approval")."""

from enum import StrEnum

from accounts.models import Account
from accounts.policies.relations import Relations


class Audience(StrEnum):
    """Groups that may put an account into collections; ASKED: anybody, but the account has to consent; MISSING: its
    server states no policy.
    """

    NOBODY = ""
    PUBLIC = "public"
    FOLLOWERS = "followers"
    ASKED = "asked"
    MISSING = "missing"


def featuring_audience(account: Account) -> Audience:
    """Return who may put the account into collections. A discoverable local account allows everybody, or only its followers if
    it is locked; any other local account allows nobody. A remote account allows the group that its server states (FEP-7aa9).
    """
    if not account.local:
        return Audience.MISSING if account.feature_policy is None else Audience(account.feature_policy)
    if not account.discoverable:
        return Audience.NOBODY
    return Audience.FOLLOWERS if account.locked else Audience.PUBLIC


def is_approved(audience: Audience, account_id: int, relations: Relations) -> bool:
    """Tell whether the viewer of `relations` belongs to the `audience` of the account; the viewer may be the account itself."""
    if relations.viewer_id is None or audience not in (Audience.PUBLIC, Audience.FOLLOWERS):
        return False
    return audience is Audience.PUBLIC or account_id == relations.viewer_id or account_id in relations.following
