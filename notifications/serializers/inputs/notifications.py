"""What clients send for a list of notifications."""

from __future__ import annotations

from dataclasses import dataclass

from social.api.inputs import ClientBoolean, ClientString, Input, StringListField


@dataclass(frozen=True)
class ListForm:
    """Which notifications are wanted."""

    types: tuple[str, ...] = ()
    exclude_types: tuple[str, ...] = ()
    account_id: str = ""
    include_filtered: bool = False


class ListInput(Input[ListForm]):
    """Some types only, or one sender (`account_id`)."""

    draft = ListForm
    types = StringListField()
    exclude_types = StringListField()
    account_id = ClientString()
    include_filtered = ClientBoolean()
