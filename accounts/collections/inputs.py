"""Parameters of collections."""

from __future__ import annotations

from typing import Any

from social.api.fields import ClearableString, ClientBoolean, ClientString, IdListField
from social.api.inputs import Form, Id, Input


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
    """The account to be added to a collection."""

    account_id: Id | None = None
