"""Parameters of notifications, of their policy and of requests (contract, parameters section 5)."""

from collections.abc import Mapping
from typing import Annotated, Final, Self

from rest_framework.request import Request

from notifications.models import Handling
from notifications.models.policy import POLICY_COLUMNS
from social.api.fields import ClientChoice, IdListField
from social.api.inputs import Form
from social.kernel.errors import BadRequest

UNREAD_LIMIT: Final = 100
UNREAD_MAXIMUM: Final = 1000
PARTIAL_AVATARS: Final = "partial_avatars"
_EXPANSIONS: Final = ("full", PARTIAL_AVATARS)
_Choice = Annotated[str | None, ClientChoice(Handling.values)]


class _TypesInput(Form):
    types: tuple[str, ...] = ()
    exclude_types: tuple[str, ...] = ()


class ListInput(_TypesInput):
    """Filter of the list of notifications; `account_id` is the sender."""

    account_id: str = ""
    include_filtered: bool = False
    supported_types: tuple[str, ...] | None = None


class CountInput(_TypesInput):
    """Filter of the notifications to count, and the limit on the count."""

    account_id: str = ""
    limit: int = UNREAD_LIMIT

    @property
    def effective_limit(self) -> int:
        """Return the absolute value of the limit, at most UNREAD_MAXIMUM."""
        return min(abs(self.limit), UNREAD_MAXIMUM)


class GroupListInput(_TypesInput):
    """Filter of the list of groups, by type but not by sender; accounts are shown in full or in short form."""

    include_filtered: bool = False
    supported_types: tuple[str, ...] | None = None
    grouped_types: tuple[str, ...] = ()
    expand_accounts: str = "full"

    @classmethod
    def read(cls, request: Request) -> Self:
        """Read the parameters. Raises BadRequest for an unknown value of `expand_accounts`."""
        form = super().read(request)
        if form.expand_accounts not in _EXPANSIONS:
            allowed = " and ".join(f"'{value}'" for value in _EXPANSIONS)
            raise BadRequest(
                f"Invalid value for 'expand_accounts': '{form.expand_accounts}', allowed values are {allowed}"
            )
        return form


class GroupCountInput(CountInput):
    """Filter for counting groups: the filter for counting notifications, and the types to group."""

    grouped_types: tuple[str, ...] = ()


class PolicyInput(Form):
    """Settings of the policy: `accept`, `filter` or `drop` for each kind of sender; None for settings that are not sent."""

    for_not_following: _Choice = None
    for_not_followers: _Choice = None
    for_new_accounts: _Choice = None
    for_private_mentions: _Choice = None
    for_limited_accounts: _Choice = None
    for_bots: _Choice = None

    @property
    def settings(self) -> Mapping[str, str]:
        """Return the settings that were sent."""
        return {name: value for name in POLICY_COLUMNS if (value := getattr(self, name)) is not None}


class PolicyV1Input(Form):
    """Settings of version 1 of the policy, which can only filter or accept; None for settings that are not sent."""

    filter_not_following: bool | None = None
    filter_not_followers: bool | None = None
    filter_new_accounts: bool | None = None
    filter_private_mentions: bool | None = None
    filter_bots: bool | None = None

    @property
    def settings(self) -> Mapping[str, str]:
        """Return the settings that were sent, converted to the current version."""
        settings = {}
        for column in POLICY_COLUMNS:
            value = getattr(self, column.replace("for_", "filter_"), None)
            if value is not None:
                settings[column] = str(Handling.FILTER if value else Handling.ACCEPT)
        return settings


class RequestsInput(Form):
    """Ids of the requests of a bulk action; unknown ids are skipped."""

    id: Annotated[tuple[int, ...], IdListField(scalar=True)] = ()
