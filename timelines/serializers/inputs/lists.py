"""What clients send for lists (contract, parameters "Lists")."""

from __future__ import annotations

from dataclasses import dataclass

from social.api.inputs import ClientBoolean, ClientString, IdListField, Input
from timelines.services.lists import ListDraft


class ListInput(Input[ListDraft]):
    """A list; the rules are the service's."""

    draft = ListDraft
    title = ClientString()
    replies_policy = ClientString()
    exclusive = ClientBoolean()


@dataclass(frozen=True)
class MembersForm:
    """Who is put into a list or taken out."""

    account_ids: tuple[int, ...] = ()


class MembersInput(Input[MembersForm]):
    """Some accounts."""

    draft = MembersForm
    account_ids = IdListField(all_known=True)
