"""The entities and parameters of collections (contract, entities "Collections")."""

from typing import Any

from accounts.collections.models import CollectionItem
from accounts.collections.queries import ShownCollection
from social.api.fields import ClearableString, ClientBoolean, ClientString, IdListField
from social.api.inputs import Form, Id, Input
from social.api.serializers import EntitySerializer
from social.kernel import clock, links
from social.kernel.http.addresses import as_uri


class CollectionItemSerializer(EntitySerializer):
    """CollectionItem: an account in a collection."""

    def to_representation(self, instance: CollectionItem) -> dict[str, Any]:
        return {
            "id": str(instance.id),
            "state": instance.state,
            "created_at": clock.iso(instance.created_at),
            "account_id": str(instance.account_id),
        }


class CollectionSerializer(EntitySerializer):
    """Collection as its viewer sees it; `item_count` counts only the items that are shown."""

    def to_representation(self, instance: ShownCollection) -> dict[str, Any]:
        collection = instance.collection
        tag = collection.tag
        return {
            "id": str(collection.id),
            "uri": collection.object_uri,
            "name": collection.name,
            "description": collection.description,
            "language": collection.language,
            "account_id": str(collection.account_id),
            "local": collection.uri is None,
            "sensitive": collection.sensitive,
            "discoverable": collection.discoverable,
            "url": as_uri(collection.page_url),
            "item_count": len(instance.items),
            "created_at": clock.iso(collection.created_at),
            "updated_at": clock.iso(collection.updated_at),
            "tag": None if tag is None else {"name": tag.name, "url": links.tag_url(tag.name)},
            "items": CollectionItemSerializer(instance.items, many=True).data,
        }


class CollectionWithAccountsSerializer(EntitySerializer):
    """CollectionWithAccounts. Context: `accounts`, the entities of the owner and of the accounts in the collection."""

    def to_representation(self, instance: ShownCollection) -> dict[str, Any]:
        return {"collection": CollectionSerializer(instance).data, "accounts": self.context["accounts"]}


class WrappedCollectionSerializer(EntitySerializer):
    """WrappedCollection: a collection that was created or changed."""

    def to_representation(self, instance: ShownCollection) -> dict[str, Any]:
        return {"collection": CollectionSerializer(instance).data}


class WrappedCollectionItemSerializer(EntitySerializer):
    """WrappedCollectionItem: an item that was added."""

    def to_representation(self, instance: CollectionItem) -> dict[str, Any]:
        return {"collection_item": CollectionItemSerializer(instance).data}


class CollectionsSerializer(EntitySerializer):
    """Collections: a page of collections, as one object."""

    def to_representation(self, instance: list[ShownCollection]) -> dict[str, Any]:
        return {"collections": CollectionSerializer(instance, many=True).data}


class CollectionInput(Input[dict[str, Any]]):
    """Values of a collection; the policy validates them. `null` clears the language and the description."""

    name = ClientString()
    description = ClearableString()
    language = ClientString(allow_null=True)
    sensitive = ClientBoolean()
    discoverable = ClientBoolean()
    tag_name = ClientString()
    account_ids = IdListField(all_known=True)


class ItemInput(Form):
    account_id: Id | None = None
