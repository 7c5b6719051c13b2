from collections.abc import Sequence
from typing import Any

from django.http import HttpResponse
from django.utils.translation import gettext as _
from rest_framework.request import Request

from accounts.collections import queries, serializers
from accounts.collections.models import Collection
from accounts.collections.policies import CollectionDraft
from accounts.collections.services import local
from accounts.queries.accounts import find_account
from accounts.queries.users import find_own_account, find_user
from accounts.serializers.account import present_accounts
from social.api.access import optional_user, user
from social.api.declarations import Endpoint
from social.api.pagination import ByOffset, Limit
from social.api.responses import reply, reply_empty
from social.api.viewsets import ApiViewSet
from social.kernel.errors import Forbidden, Invalid


class CollectionsViewSet(ApiViewSet):
    """`/api/v1/collections` and the collections of an account."""

    endpoints = {
        "create": Endpoint(user("write:collections"), "WrappedCollection", input=serializers.CollectionInput),
        "retrieve": Endpoint(optional_user("read:collections"), "CollectionWithAccounts"),
        "update": Endpoint(user("write:collections"), "WrappedCollection", input=serializers.CollectionInput),
        "destroy": Endpoint(user("write:collections"), None),
        "add": Endpoint(user("write:collections"), "WrappedCollectionItem", input=serializers.ItemInput),
        "remove": Endpoint(user("write:collections"), None),
        "revoke": Endpoint(user("write:collections"), None),
        "of_account": Endpoint(
            optional_user("read:collections"), "Collections", paging=ByOffset(Limit(40, 100), True, "beyond_zero")
        ),
        "with_account": Endpoint(
            optional_user("read:collections"), "Collections", paging=ByOffset(Limit(40, 80), True, "beyond_zero")
        ),
    }

    def handle_exception(self, exc: Exception) -> HttpResponse:  # type: ignore[override]  # DRF declares its own Response
        """Nest field errors inside `error` (contract, entities "Errors")."""
        if isinstance(exc, Invalid) and "details" in exc.extra:
            return reply({"error": {"error": exc.message, **exc.extra}}, status=422)
        return super().handle_exception(exc)

    def create(self, request: Request) -> HttpResponse:
        """Create a collection."""
        values = serializers.CollectionInput.read(request)
        account_ids = values.pop("account_ids", ())
        owner = find_user(self.identity.user_id)
        collection = local.create_collection(user=owner, draft=CollectionDraft(values), account_ids=account_ids)
        return self._shown_collection(collection)

    def retrieve(self, request: Request, id: int) -> HttpResponse:
        """A collection with its accounts, the owner first."""
        shown = queries.find_shown(id, self.viewer_id)
        accounts = present_accounts(shown.account_ids, self.viewer_id)
        context = {"accounts": list(accounts.values())}
        return reply(serializers.CollectionWithAccountsSerializer(shown, context=context).data)

    def update(self, request: Request, id: int) -> HttpResponse:
        """Update the submitted values of a collection and keep the others."""
        values = serializers.CollectionInput.read(request)
        values.pop("account_ids", None)
        collection = queries.find_collection(id)
        owner = find_own_account(self.account_id)
        local.update_collection(owner=owner, collection=collection, draft=CollectionDraft(values))
        return self._shown_collection(collection)

    def destroy(self, request: Request, id: int) -> HttpResponse:
        """Delete a collection."""
        local.delete_collection(owner=find_own_account(self.account_id), collection=queries.find_collection(id))
        return reply_empty(request)

    def add(self, request: Request, collection_id: int) -> HttpResponse:
        """Add an account to a collection."""
        collection = queries.find_collection(collection_id)
        account_id = serializers.ItemInput.read(request).account_id
        if account_id is None:
            raise Invalid(_("`account_id` parameter is missing"))
        item = local.add_item(owner=find_own_account(self.account_id), collection=collection, account_id=account_id)
        return reply(serializers.WrappedCollectionItemSerializer(item).data)

    def remove(self, request: Request, collection_id: int, id: int) -> HttpResponse:
        """Remove an account from one of the caller's collections."""
        local.remove_item(owner=find_own_account(self.account_id), item=queries.find_item(collection_id, id))
        return reply_empty(request)

    def revoke(self, request: Request, collection_id: int, id: int) -> HttpResponse:
        """Leave a collection for good."""
        local.revoke_item(account=find_own_account(self.account_id), item=queries.find_item(collection_id, id))
        return reply_empty(request)

    def of_account(self, request: Request, id: int) -> HttpResponse:
        """Collections of an account."""
        collections = queries.list_of_account(find_account(id), self.viewer_id)
        page = self.paginate(collections)
        return page.respond(self._entities(page.items))

    def with_account(self, request: Request, id: int) -> HttpResponse:
        """Collections that contain the caller's own account; 422 without a token, 403 for another account."""
        if self.viewer_id is None:
            raise Invalid(_("This method requires an authenticated user"))
        if find_account(id).id != self.viewer_id:
            raise Forbidden
        page = self.paginate(queries.list_with_account(id))
        return page.respond(self._entities(page.items))

    def _entities(self, collections: Sequence[Collection]) -> Any:
        return serializers.CollectionsSerializer(queries.show(collections, self.viewer_id)).data

    def _shown_collection(self, collection: Collection) -> HttpResponse:
        return reply(serializers.WrappedCollectionSerializer(queries.show([collection], self.viewer_id)[0]).data)
