"""Lists of people over HTTP: followers, requests, blocks, mutes, endorsements; and the acts that change them."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from rest_framework.request import Request

from accounts.models import Account
from accounts.queries.accounts import find_account
from accounts.queries.networks import (
    list_endorsed,
    list_follow_requests,
    list_followers,
    list_following,
    load_familiar_followers,
)
from accounts.queries.relations import list_blocked, list_muted, load_known_relations
from accounts.queries.users import find_own_account
from accounts.serializers.discovery import FamiliarFollowersSerializer
from accounts.serializers.inputs.networks import FamiliarInput, NoteInput
from accounts.serializers.muted import MutedAccountSerializer
from accounts.serializers.presenting import present_accounts
from accounts.serializers.relationship import RelationshipSerializer
from accounts.services.follow_requests import authorize_request, reject_request, remove_follower
from accounts.services.private import endorse_account, unendorse_account, write_note
from social.api.access import optional_user, user
from social.api.declarations import Endpoint
from social.api.pagination import ByCursor, Limit, Page
from social.api.responses import reply
from social.api.viewsets import ApiViewSet

LIMIT = Limit(40, 80)
_BY_ROW = ByCursor(LIMIT, prev="since_id")
_ALL_FOR_ZERO = ByCursor(Limit(40, 80, zero_is_all=True), prev="since_id")
FAMILIAR_IDS_LIMIT = 40

# The time of Mastodon's release 4.4, in seconds.
_SINCE_4_4 = 1751932800


class NetworksViewSet(ApiViewSet):
    """Who follows, asks, is blocked, muted and endorsed."""

    endpoints = {
        "followers": Endpoint(optional_user("read:accounts"), "Account", many=True, paging=_BY_ROW),
        "following": Endpoint(optional_user("read:accounts"), "Account", many=True, paging=_BY_ROW),
        "endorsements_of": Endpoint(optional_user("read:accounts"), "Account", many=True, paging=_BY_ROW),
        "familiar_followers": Endpoint(user("read:follows"), "FamiliarFollowers", many=True, input=FamiliarInput),
        "endorsements": Endpoint(user("read:accounts"), "Account", many=True, paging=_ALL_FOR_ZERO),
        "blocks": Endpoint(user("read:blocks", "follow"), "Account", many=True, paging=_BY_ROW),
        "mutes": Endpoint(user("read:mutes", "follow"), "MutedAccount", many=True, paging=_BY_ROW),
        "follow_requests": Endpoint(user("read:follows", "follow"), "Account", many=True, paging=_BY_ROW),
        "authorize": Endpoint(user("write:follows", "follow"), "Relationship"),
        "reject": Endpoint(user("write:follows", "follow"), "Relationship"),
        "remove_from_followers": Endpoint(user("write:follows", "follow"), "Relationship"),
        "endorse": Endpoint(user("write:accounts"), "Relationship"),
        "unendorse": Endpoint(user("write:accounts"), "Relationship"),
        "pin": Endpoint(user("write:accounts"), "Relationship", deprecated=_SINCE_4_4),
        "unpin": Endpoint(user("write:accounts"), "Relationship", deprecated=_SINCE_4_4),
        "note": Endpoint(user("write:accounts"), "Relationship", input=NoteInput),
    }

    def followers(self, request: Request, id: int) -> HttpResponse:
        """Who follows an account."""
        rows = list_followers(find_account(id), self.viewer_id)
        return _respond(self.paginate(rows), self.viewer_id)

    def following(self, request: Request, id: int) -> HttpResponse:
        """Whom an account follows."""
        rows = list_following(find_account(id), self.viewer_id)
        return _respond(self.paginate(rows), self.viewer_id)

    def endorsements_of(self, request: Request, id: int) -> HttpResponse:
        """Whom an account recommends."""
        account = find_account(id)
        rows = list_endorsed(account.id)
        page = self.paginate(rows.none() if account.suspended else rows, cursor="target_id")
        return _respond(page, self.viewer_id)

    def endorsements(self, request: Request) -> HttpResponse:
        """Whom one recommends oneself; with `limit=0` all of them, oldest account first."""
        page = self.paginate(list_endorsed(self.account_id), cursor="target_id")
        if page.limit == 0:
            page.items.reverse()
        return _respond(page, self.viewer_id)

    def blocks(self, request: Request) -> HttpResponse:
        """Whom one blocks."""
        return _respond(self.paginate(list_blocked(self.account_id)), self.viewer_id)

    def mutes(self, request: Request) -> HttpResponse:
        """Whom one mutes, and until when."""
        page = self.paginate(list_muted(self.account_id))
        accounts = present_accounts([row.target_id for row in page.items], self.viewer_id)
        shown = [(accounts[row.target_id], row.expires_at) for row in page.items if row.target_id in accounts]
        return page.respond(MutedAccountSerializer(shown, many=True).data)

    def follow_requests(self, request: Request) -> HttpResponse:
        """Who asks to follow."""
        return _respond(self.paginate(list_follow_requests(self.account_id)), self.viewer_id)

    def authorize(self, request: Request, account_id: int) -> HttpResponse:
        """Let somebody follow who has asked to."""
        requester = find_account(account_id)
        authorize_request(account=self._me(), requester=requester)
        return self._relationship(requester)

    def reject(self, request: Request, account_id: int) -> HttpResponse:
        """Refuse a request."""
        requester = find_account(account_id)
        reject_request(account=self._me(), requester=requester)
        return self._relationship(requester)

    def remove_from_followers(self, request: Request, id: int) -> HttpResponse:
        """End somebody's follow of oneself."""
        follower = find_account(id)
        remove_follower(account=self._me(), follower=follower)
        return self._relationship(follower)

    def endorse(self, request: Request, id: int) -> HttpResponse:
        """Recommend somebody one follows."""
        target = find_account(id)
        endorse_account(account=self._me(), target=target)
        return self._relationship(target)

    def unendorse(self, request: Request, id: int) -> HttpResponse:
        """Recommend somebody no more."""
        target = find_account(id)
        unendorse_account(account=self._me(), target=target)
        return self._relationship(target)

    def pin(self, request: Request, id: int) -> HttpResponse:
        """The older name of `endorse`."""
        return self.endorse(request, id)

    def unpin(self, request: Request, id: int) -> HttpResponse:
        """The older name of `unendorse`."""
        return self.unendorse(request, id)

    def note(self, request: Request, id: int) -> HttpResponse:
        """Keep a private note about somebody; a blank one removes it."""
        target = find_account(id)
        write_note(account=self._me(), target=target, comment=NoteInput.read(request).comment)
        return self._relationship(target)

    def familiar_followers(self, request: Request) -> HttpResponse:
        """Of those one follows, who follows each of these accounts; at most 40 accounts are looked at."""
        ids = FamiliarInput.read(request).ids[:FAMILIAR_IDS_LIMIT]
        found = load_familiar_followers(self.account_id, ids)
        accounts = present_accounts([number for people in found.values() for number in people], self.viewer_id)
        shown = [(number, found[number]) for number in ids if number in found]
        return reply(FamiliarFollowersSerializer(shown, many=True, context={"accounts": accounts}).data)

    def _me(self) -> Account:
        return find_own_account(self.identity.account_id)

    def _relationship(self, target: Account) -> HttpResponse:
        # Known ones: a note about oneself is shown, and `load_relations` leaves oneself out.
        _known, relations = load_known_relations(self.account_id, [target.id], with_suspended=True)
        return reply(RelationshipSerializer(target.id, context={"relations": relations}).data)


def _respond(page: Page[Any], viewer_id: int | None) -> HttpResponse:
    return page.respond(list(present_accounts([row.person_id for row in page.items], viewer_id).values()))
