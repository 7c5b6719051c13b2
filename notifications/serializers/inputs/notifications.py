"""Parameters of notifications, of the policy for them and of requests (contract, parameters section 5)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from rest_framework.request import Request

from notifications.models import Handling
from notifications.models.policy import POLICY_COLUMNS
from social.api.fields import ClientBoolean, ClientChoice, ClientInteger, ClientString, IdListField, StringListField
from social.api.inputs import Input
from social.kernel.errors import BadRequest

UNREAD_LIMIT: Final = 100
UNREAD_MAXIMUM: Final = 1000
PARTIAL_AVATARS: Final = "partial_avatars"
_EXPANSIONS: Final = ("full", PARTIAL_AVATARS)


@dataclass(frozen=True)
class Conditions:
    """Conditions on notifications."""

    types: tuple[str, ...] = ()
    exclude_types: tuple[str, ...] = ()
    account_id: str = ""
    include_filtered: bool = False
    supported_types: tuple[str, ...] | None = None


class ListInput(Input[Conditions]):
    """Some types only, or one sender (`account_id`)."""

    draft = Conditions
    types = StringListField()
    exclude_types = StringListField()
    account_id = ClientString()
    include_filtered = ClientBoolean()
    supported_types = StringListField()


@dataclass(frozen=True)
class CountForm(Conditions):
    """Conditions on notifications, and up to which number they are counted."""

    limit: int = UNREAD_LIMIT

    @property
    def effective_limit(self) -> int:
        """The absolute value, capped, as for pages."""
        return min(abs(self.limit), UNREAD_MAXIMUM)


class CountInput(Input[CountForm]):
    """Conditions like those of the list."""

    draft = CountForm
    types = StringListField()
    exclude_types = StringListField()
    account_id = ClientString()
    limit = ClientInteger()


@dataclass(frozen=True)
class GroupConditions(Conditions):
    """Conditions on notifications that are shown in groups, and how."""

    grouped_types: tuple[str, ...] = ()
    expand_accounts: str = "full"


class GroupListInput(Input[GroupConditions]):
    """Conditions like those of the list but for the sender; types that are grouped; accounts in full or in short."""

    draft = GroupConditions
    types = StringListField()
    exclude_types = StringListField()
    include_filtered = ClientBoolean()
    supported_types = StringListField()
    grouped_types = StringListField()
    expand_accounts = ClientString()

    @classmethod
    def read(cls, request: Request) -> GroupConditions:
        """Reads like any input. Raises BadRequest for accounts that are neither in full nor in short."""
        form = super().read(request)
        if form.expand_accounts not in _EXPANSIONS:
            allowed = " and ".join(f"'{value}'" for value in _EXPANSIONS)
            raise BadRequest(
                f"Invalid value for 'expand_accounts': '{form.expand_accounts}', allowed values are {allowed}"
            )
        return form


@dataclass(frozen=True)
class GroupCountForm(CountForm):
    """Conditions on groups, and up to which number they are counted."""

    grouped_types: tuple[str, ...] = ()


class GroupCountInput(Input[GroupCountForm]):
    """Conditions like those of the count of notifications, and types that are grouped."""

    draft = GroupCountForm
    types = StringListField()
    exclude_types = StringListField()
    account_id = ClientString()
    limit = ClientInteger()
    grouped_types = StringListField()


@dataclass(frozen=True)
class PolicyForm:
    """Settings of a policy; None for those that are not sent."""

    for_not_following: str | None = None
    for_not_followers: str | None = None
    for_new_accounts: str | None = None
    for_private_mentions: str | None = None
    for_limited_accounts: str | None = None
    for_bots: str | None = None

    @property
    def settings(self) -> Mapping[str, str]:
        """The settings that were sent."""
        return {name: value for name in POLICY_COLUMNS if (value := getattr(self, name)) is not None}


class PolicyInput(Input[PolicyForm]):
    """`accept`, `filter` or `drop` for people of each kind."""

    draft = PolicyForm
    for_not_following = ClientChoice(Handling.values)
    for_not_followers = ClientChoice(Handling.values)
    for_new_accounts = ClientChoice(Handling.values)
    for_private_mentions = ClientChoice(Handling.values)
    for_limited_accounts = ClientChoice(Handling.values)
    for_bots = ClientChoice(Handling.values)


@dataclass(frozen=True)
class PolicyV1Form:
    """Settings of the first version of the policy, which filters or does not; None for those that are not sent."""

    filter_not_following: bool | None = None
    filter_not_followers: bool | None = None
    filter_new_accounts: bool | None = None
    filter_private_mentions: bool | None = None
    filter_bots: bool | None = None

    @property
    def settings(self) -> Mapping[str, str]:
        """The settings that were sent, as those of today."""
        found = {}
        for column in POLICY_COLUMNS:
            value = getattr(self, column.replace("for_", "filter_"), None)
            if value is not None:
                found[column] = str(Handling.FILTER if value else Handling.ACCEPT)
        return found


class PolicyV1Input(Input[PolicyV1Form]):
    """Whether notifications by people of each kind are filtered."""

    draft = PolicyV1Form
    filter_not_following = ClientBoolean()
    filter_not_followers = ClientBoolean()
    filter_new_accounts = ClientBoolean()
    filter_private_mentions = ClientBoolean()
    filter_bots = ClientBoolean()


@dataclass(frozen=True)
class RequestsForm:
    """Some requests."""

    id: tuple[int, ...] = ()


class RequestsInput(Input[RequestsForm]):
    """The requests of a bulk action; those that are not there are passed over."""

    draft = RequestsForm
    id = IdListField(scalar=True)
