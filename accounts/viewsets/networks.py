"""Lists of accounts over HTTP (followers, requests, blocks, mutes, endorsements, suggestions) and actions on them."""

from typing import Any, Final

from django.http import HttpResponse
from rest_framework.request import Request

from accounts.models import Account
from accounts.queries import networks
from accounts.queries.accounts import find_account
from accounts.queries.discovery import list_directory, load_suggestions
from accounts.queries.relations import list_blocked, list_blocked_domains, list_muted, load_known_relations
from accounts.queries.users import find_own_account
from accounts.serializers import relationship
from accounts.serializers.account import present_accounts
from accounts.serializers.inputs import DirectoryInput, DomainInput, FamiliarInput, NoteInput
from accounts.services.blocking import block_domain, unblock_domain
from accounts.services.follow_requests import authorize_request, reject_request, remove_follower
from accounts.services.private import dismiss_suggestion, endorse_account, unendorse_account, write_note
from social.api.access import optional_user, user
from social.api.declarations import EMPTY, Endpoint
from social.api.pagination import ByCursor, ByOffset, Limit, ListPage
from social.api.responses import reply
from social.api.viewsets import ApiViewSet
from social.kernel.ids import parse_id

LIMIT = Limit(40, 80)
_ROW_PAGES = ByCursor(LIMIT, prev="since_id")
_UNLIMITED_PAGES = ByCursor(Limit(40, 80, zero_is_all=True), prev="since_id")
FAMILIAR_IDS_LIMIT = 40

# The time of Mastodon's release 4.4, as Unix time.
_DEPRECATION_4_4 = 1751932800


class NetworksViewSet(ApiViewSet):
    """Followers, requests, blocks, mutes and endorsements."""

    endpoints = {
        "followers": Endpoint(optional_user("read:accounts"), "Account", many=True, paging=_ROW_PAGES),
        "following": Endpoint(optional_user("read:accounts"), "Account", many=True, paging=_ROW_PAGES),
        "endorsements_of": Endpoint(optional_user("read:accounts"), "Account", many=True, paging=_ROW_PAGES),
        "familiar_followers": Endpoint(user("read:follows"), "FamiliarFollowers", many=True, input=FamiliarInput),
        "endorsements": Endpoint(user("read:accounts"), "Account", many=True, paging=_UNLIMITED_PAGES),
        "blocks": Endpoint(user("read:blocks", "follow"), "Account", many=True, paging=_ROW_PAGES),
        "mutes": Endpoint(user("read:mutes", "follow"), "MutedAccount", many=True, paging=_ROW_PAGES),
        "follow_requests": Endpoint(user("read:follows", "follow"), "Account", many=True, paging=_ROW_PAGES),
        "authorize": Endpoint(user("write:follows", "follow"), "Relationship"),
        "reject": Endpoint(user("write:follows", "follow"), "Relationship"),
        "remove_from_followers": Endpoint(user("write:follows", "follow"), "Relationship"),
        "endorse": Endpoint(user("write:accounts"), "Relationship"),
        "unendorse": Endpoint(user("write:accounts"), "Relationship"),
        "pin": Endpoint(user("write:accounts"), "Relationship", deprecated=_DEPRECATION_4_4),
        "unpin": Endpoint(user("write:accounts"), "Relationship", deprecated=_DEPRECATION_4_4),
        "note": Endpoint(user("write:accounts"), "Relationship", input=NoteInput),
    }

    def followers(self, request: Request, id: int) -> HttpResponse:
        """Followers of an account."""
        rows = networks.list_followers(find_account(id), self.viewer_id)
        return _respond(self.paginate(rows), self.viewer_id)

    def following(self, request: Request, id: int) -> HttpResponse:
        """Accounts that an account follows."""
        rows = networks.list_following(find_account(id), self.viewer_id)
        return _respond(self.paginate(rows), self.viewer_id)

    def endorsements_of(self, request: Request, id: int) -> HttpResponse:
        """Accounts that an account recommends."""
        account = find_account(id)
        rows = networks.list_endorsed(account.id)
        page = self.paginate(rows.none() if account.suspended else rows, cursor="target_id")
        return _respond(page, self.viewer_id)

    def endorsements(self, request: Request) -> HttpResponse:
        """Accounts that the caller recommends; with `limit=0` all of them, oldest account first."""
        page = self.paginate(networks.list_endorsed(self.account_id), cursor="target_id")
        if page.limit == 0:
            page.items.reverse()
        return _respond(page, self.viewer_id)

    def blocks(self, request: Request) -> HttpResponse:
        """Accounts that the caller blocks."""
        return _respond(self.paginate(list_blocked(self.account_id)), self.viewer_id)

    def mutes(self, request: Request) -> HttpResponse:
        """Accounts that the caller mutes, each with the time at which the mute ends."""
        page = self.paginate(list_muted(self.account_id))
        accounts = present_accounts([row.target_id for row in page.items], self.viewer_id)
        shown = [(accounts[row.target_id], row.expires_at) for row in page.items if row.target_id in accounts]
        return page.respond(relationship.MutedAccountSerializer(shown, many=True).data)

    def follow_requests(self, request: Request) -> HttpResponse:
        """Accounts that have requested to follow the caller."""
        return _respond(self.paginate(networks.list_follow_requests(self.account_id)), self.viewer_id)

    def authorize(self, request: Request, account_id: int) -> HttpResponse:
        """Accept a request to follow."""
        requester = find_account(account_id)
        authorize_request(account=self._own_account(), requester=requester)
        return self._relationship(requester)

    def reject(self, request: Request, account_id: int) -> HttpResponse:
        """Reject a request to follow."""
        requester = find_account(account_id)
        reject_request(account=self._own_account(), requester=requester)
        return self._relationship(requester)

    def remove_from_followers(self, request: Request, id: int) -> HttpResponse:
        """Remove an account from the caller's followers."""
        follower = find_account(id)
        remove_follower(account=self._own_account(), follower=follower)
        return self._relationship(follower)

    def endorse(self, request: Request, id: int) -> HttpResponse:
        """Recommend an account that the caller follows."""
        target = find_account(id)
        endorse_account(account=self._own_account(), target=target)
        return self._relationship(target)

    def unendorse(self, request: Request, id: int) -> HttpResponse:
        """Stop recommending an account."""
        target = find_account(id)
        unendorse_account(account=self._own_account(), target=target)
        return self._relationship(target)

    def pin(self, request: Request, id: int) -> HttpResponse:
        """The older name of `endorse`."""
        return self.endorse(request, id)

    def unpin(self, request: Request, id: int) -> HttpResponse:
        """The older name of `unendorse`."""
        return self.unendorse(request, id)

    def note(self, request: Request, id: int) -> HttpResponse:
        """Store a private note about an account; a blank note removes it."""
        target = find_account(id)
        write_note(account=self._own_account(), target=target, comment=NoteInput.read(request).comment)
        return self._relationship(target)

    def familiar_followers(self, request: Request) -> HttpResponse:
        """Followers of each of these accounts (at most 40) among the accounts that the caller follows."""
        ids = FamiliarInput.read(request).id[:FAMILIAR_IDS_LIMIT]
        followers = networks.load_familiar_followers(self.account_id, ids)
        accounts = present_accounts([number for people in followers.values() for number in people], self.viewer_id)
        shown = [(number, followers[number]) for number in ids if number in followers]
        return reply(relationship.FamiliarFollowersSerializer(shown, many=True, context={"accounts": accounts}).data)

    def _own_account(self) -> Account:
        return find_own_account(self.identity.account_id)

    def _relationship(self, target: Account) -> HttpResponse:
        # `load_relations` is not used, because it leaves out the viewer, whose note about their own account is shown as well.
        _known, relations = load_known_relations(self.account_id, [target.id], with_suspended=True)
        return reply(relationship.RelationshipSerializer(target.id, context={"relations": relations}).data)


def _respond(page: ListPage[Any], viewer_id: int | None) -> HttpResponse:
    return page.respond(list(present_accounts([row.person_id for row in page.items], viewer_id).values()))


class DomainBlocksViewSet(ApiViewSet):
    endpoints = {
        "list": Endpoint(
            user("read:blocks", "follow"), "Text", many=True, paging=ByCursor(Limit(100, 200), prev="since_id")
        ),
        "preview": Endpoint(user("write:blocks", "follow"), "DomainBlockPreview", input=DomainInput),
        "create": Endpoint(user("write:blocks", "follow"), EMPTY, input=DomainInput),
        "destroy": Endpoint(user("write:blocks", "follow"), EMPTY, input=DomainInput),
    }

    def list(self, request: Request) -> HttpResponse:
        """The servers that the caller blocks, newest first."""
        page = self.paginate(list_blocked_domains(self.account_id))
        return page.respond([block.domain for block in page.items])

    def preview(self, request: Request) -> Any:
        """The follows that blocking a server would end."""
        domain = DomainInput.read(request).domain
        return relationship.DomainBlockPreviewSerializer(networks.count_follows_with(self.account_id, domain)).data

    def create(self, request: Request) -> Any:
        """Block a server."""
        block_domain(account=find_own_account(self.account_id), domain=DomainInput.read(request).domain)
        return {}

    def destroy(self, request: Request) -> Any:
        """Unblock a server."""
        unblock_domain(account=find_own_account(self.account_id), domain=DomainInput.read(request).domain)
        return {}


# The time of Mastodon's release 3.4, as Unix time.
_DEPRECATION_3_4 = 1621123200
_PAGES: Final = ByOffset(Limit(40, 80))


class DiscoveryViewSet(ApiViewSet):
    """`/api/v1/directory` and `/api/v1/suggestions`, `/api/v2/suggestions`."""

    endpoints = {
        "directory": Endpoint(optional_user(), "Account", many=True, input=DirectoryInput, paging=_PAGES),
        "suggestions": Endpoint(user("read:accounts"), "Suggestion", many=True, paging=_PAGES),
        "suggested_accounts": Endpoint(
            user("read:accounts"), "Account", many=True, paging=_PAGES, deprecated=_DEPRECATION_3_4
        ),
        "dismiss": Endpoint(user("write:accounts"), EMPTY),
    }

    def directory(self, request: Request) -> HttpResponse:
        """Accounts that may be suggested to others (`discoverable`)."""
        form = DirectoryInput.read(request)
        ids = list_directory(self.viewer_id, order=form.order or "active", local=form.local).values_list(
            "id", flat=True
        )
        page = self.paginate(ids)
        return page.respond(list(present_accounts(page.items, self.viewer_id).values()))

    def suggestions(self, request: Request) -> HttpResponse:
        """Suggestions of accounts to follow, with their reasons."""
        page = self.paginate(load_suggestions(self.account_id))
        accounts = present_accounts([suggestion.account_id for suggestion in page.items], self.viewer_id)
        shown = [suggestion for suggestion in page.items if suggestion.account_id in accounts]
        return page.respond(relationship.SuggestionSerializer(shown, many=True, context={"accounts": accounts}).data)

    def suggested_accounts(self, request: Request) -> HttpResponse:
        """Suggestions of accounts to follow."""
        page = self.paginate(load_suggestions(self.account_id))
        accounts = present_accounts([suggestion.account_id for suggestion in page.items], self.viewer_id)
        return page.respond(list(accounts.values()))

    def dismiss(self, request: Request, account: str) -> Any:
        """Stop suggesting an account; an unknown id is ignored."""
        target_id = parse_id(account)
        if target_id is not None:
            dismiss_suggestion(account_id=self.account_id, target_id=target_id)
        return {}
