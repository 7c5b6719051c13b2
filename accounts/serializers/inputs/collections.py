"""What clients send for collections."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from social.api.inputs import ClientBoolean, ClientString, IdField, IdListField, Input


class CollectionInput(Input[dict[str, Any]]):
    """What is sent of a collection; the rules are the policy's. `null` clears the language."""

    draft = dict
    name = ClientString()
    description = ClientString()
    language = ClientString(allow_null=True)
    sensitive = ClientBoolean()
    discoverable = ClientBoolean()
    tag_name = ClientString()
    account_ids = IdListField(all_known=True)


@dataclass(frozen=True)
class ItemForm:
    """The parameters of adding an account."""

    account_id: int | None = None


class ItemInput(Input[ItemForm]):
    """Which account is added to a collection."""

    draft = ItemForm
    account_id = IdField()
