"""Accounts over HTTP: sign-up, other accounts, and the caller's relationships to them."""

from collections.abc import Sequence
from typing import Any, Final

from django.http import HttpResponse
from rest_framework.request import Request

from accounts.emojis.queries import EmojiLookup
from accounts.models import Account
from accounts.queries.accounts import find_account, find_by_address, list_accounts
from accounts.queries.discovery import search_accounts
from accounts.queries.relations import load_featuring, load_known_relations, load_relations
from accounts.queries.users import find_own_account
from accounts.serializers import inputs
from accounts.serializers.account import AccountSerializer, present_accounts
from accounts.serializers.relationship import RelationshipSerializer
from accounts.services.blocking import block_account, mute_account, unblock_account, unmute_account
from accounts.services.following import FollowChange, follow_account, unfollow_account
from accounts.services.remote_accounts import find_or_resolve, proper_address
from social.api.access import optional_user, user
from social.api.declarations import Endpoint
from social.api.limits import family
from social.api.pagination import ByOffset, Limit
from social.api.responses import reply
from social.api.viewsets import ApiViewSet
from social.kernel.errors import Invalid
from social.kernel.ids import parse_id

ACCOUNTS_LIMIT = 40
# Members of Relationship that Account does not have.
_SHOWN_OF_RELATIONSHIP: Final = (
    "following",
    "requested",
    "showing_reblogs",
    "notifying",
    "followed_by",
    "blocking",
    "muting",
    "muting_notifications",
    "domain_blocking",
)
_SEARCH = ByOffset(Limit(40, 80))
# 30 March 2022 (contract, endpoints: "deprecated 3.5.0").
_DEPRECATION_3_5: Final = 1648598400


class AccountsViewSet(ApiViewSet):
    """`/api/v1/accounts` and the endpoints below an account."""

    endpoints = {
        "list": Endpoint(optional_user("read:accounts"), "Account", many=True, input=inputs.IdsInput),
        "retrieve": Endpoint(optional_user("read:accounts"), "Account"),
        "lookup": Endpoint(optional_user("read:accounts"), "Account", input=inputs.LookupInput),
        "search": Endpoint(user("read:accounts"), "Account", many=True, input=inputs.SearchInput, paging=_SEARCH),
        "relationships": Endpoint(user("read:follows"), "Relationship", many=True, input=inputs.RelationshipsInput),
        "follow": Endpoint(
            user("write:follows", "follow"), "Relationship", input=inputs.FollowInput, throttles=family("follows")
        ),
        "follow_by_address": Endpoint(
            user("write:follows", "follow"),
            "FollowedAccount",
            input=inputs.LegacyFollowInput,
            throttles=family("follows"),
        ),
        "unfollow": Endpoint(user("write:follows", "follow"), "Relationship"),
        "block": Endpoint(user("write:blocks", "follow"), "Relationship"),
        "unblock": Endpoint(user("write:blocks", "follow"), "Relationship"),
        "mute": Endpoint(user("write:mutes", "follow"), "Relationship", input=inputs.MuteInput),
        "unmute": Endpoint(user("write:mutes", "follow"), "Relationship"),
        "identity_proofs": Endpoint(user(), "NoProofs", deprecated=_DEPRECATION_3_5),
    }

    def list(self, request: Request) -> HttpResponse:
        """Accounts by id, at most 40; unknown ids are left out."""
        numbers = map(parse_id, inputs.IdsInput.read(request).id)
        ids = {number for number in numbers if number is not None}
        if len(ids) > ACCOUNTS_LIMIT:
            raise Invalid
        accounts = list_accounts().filter(id__one_of=ids).order_by("id")
        return reply(self._entities(list(accounts)))

    def retrieve(self, request: Request, id: int) -> HttpResponse:
        """An account; the profile of a suspended account is blank."""
        return reply(self._entities([find_account(id)])[0])

    def lookup(self, request: Request) -> HttpResponse:
        """The account with an address, which is looked up on this server only."""
        return reply(self._entities([find_by_address(inputs.LookupInput.read(request).acct)])[0])

    def search(self, request: Request) -> HttpResponse:
        """Search accounts by the beginning of their name."""
        form = inputs.SearchInput.read(request)
        if not form.q:
            return reply([])
        text = proper_address(form.q) if form.resolve else form.q
        account_ids = search_accounts(text, viewer_id=self.account_id, following=form.following)
        return reply(list(present_accounts(self.paginate(account_ids).items, self.viewer_id).values()))

    def relationships(self, request: Request) -> HttpResponse:
        """Relationships to accounts, in the order of the request; unknown and suspended accounts are left out."""
        form = inputs.RelationshipsInput.read(request)
        numbers = map(parse_id, form.id)
        ids = list(dict.fromkeys(number for number in numbers if number is not None))
        known, relations = load_known_relations(self.account_id, ids, with_suspended=form.with_suspended)
        known_ids = [number for number in ids if number in known]
        return reply(RelationshipSerializer(known_ids, many=True, context={"relations": relations}).data)

    def follow(self, request: Request, id: int) -> HttpResponse:
        """Follow an account, or change the options of the follow."""
        target = find_account(id)
        change = inputs.FollowInput.read(request)
        follow_account(account=self._own_account(), target=target, change=change)
        return self._relationship(target, instant=True)

    def follow_by_address(self, request: Request) -> HttpResponse:
        """`POST /api/v1/follows`, for older clients: follow the account with this address. Returns the account, together with
        the members of the relationship to it (SEED-103, decision D-01).
        """
        target = find_or_resolve(inputs.LegacyFollowInput.read(request).uri)
        follow_account(account=self._own_account(), target=target, change=FollowChange())
        entity = self._entities([find_account(target.id)])[0]
        relationship = self._relationship_entity(target, instant=True)
        return reply(entity | {name: relationship[name] for name in _SHOWN_OF_RELATIONSHIP})

    def unfollow(self, request: Request, id: int) -> HttpResponse:
        """End a follow, or withdraw the request."""
        target = find_account(id)
        unfollow_account(account=self._own_account(), target=target)
        return self._relationship(target)

    def block(self, request: Request, id: int) -> HttpResponse:
        """Block an account."""
        target = find_account(id)
        block_account(account=self._own_account(), target=target)
        return self._relationship(target)

    def unblock(self, request: Request, id: int) -> HttpResponse:
        """End a block."""
        target = find_account(id)
        unblock_account(account=self._own_account(), target=target)
        return self._relationship(target)

    def mute(self, request: Request, id: int) -> HttpResponse:
        """Mute an account, for a time or until it is unmuted."""
        target = find_account(id)
        form = inputs.MuteInput.read(request)
        mute_account(
            account=self._own_account(),
            target=target,
            hide_notifications=form.notifications,
            duration=form.duration,
        )
        return self._relationship(target)

    def unmute(self, request: Request, id: int) -> HttpResponse:
        """End a mute."""
        target = find_account(id)
        unmute_account(account=self._own_account(), target=target)
        return self._relationship(target)

    def _own_account(self) -> Account:
        return find_own_account(self.identity.account_id)

    def _entities(self, accounts: Sequence[Account]) -> Sequence[dict[str, Any]]:
        context = {
            "emojis": EmojiLookup.for_accounts(accounts),
            "relations": load_featuring(self.viewer_id, accounts),
        }
        entities: Sequence[dict[str, Any]] = AccountSerializer(accounts, many=True, context=context).data
        return entities

    def identity_proofs(self, request: Request, id: int) -> HttpResponse:
        """Return an empty list, because proofs by third parties were removed in API version 3.5 (contract, endpoints)."""
        find_account(id)
        return reply([])

    def _relationship(self, target: Account, *, instant: bool = False) -> HttpResponse:
        return reply(self._relationship_entity(target, instant=instant))

    def _relationship_entity(self, target: Account, *, instant: bool = False) -> dict[str, Any]:
        """Return the relationship after the action. With `instant`, a follow of a remote account that is not known to
        be locked is shown as accepted (SEED-105).
        """
        relations = load_relations(self.account_id, [target.id])
        entity: dict[str, Any] = RelationshipSerializer(target.id, context={"relations": relations}).data
        if instant and entity["requested"] and not target.locked and not target.local:
            entity |= {"following": True, "requested": False}
        return entity
