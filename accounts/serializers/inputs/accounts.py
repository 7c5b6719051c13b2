"""What clients send for accounts: sign-up, look-ups, and acts on other people."""

from __future__ import annotations

from dataclasses import dataclass

from accounts.services.following import FollowChange
from social.api.inputs import ClientAgreement, ClientBoolean, ClientInteger, ClientString, Input, StringListField


@dataclass(frozen=True)
class SignUpForm:
    """The parameters of `POST /api/v1/accounts`."""

    username: str = ""
    email: str = ""
    password: str = ""
    agreement: bool = False
    locale: str | None = None
    reason: str = ""
    time_zone: str | None = None
    date_of_birth: str = ""
    invite_code: str = ""


class SignUpInput(Input[SignUpForm]):
    """What somebody who signs up sends; the rules are the policy's."""

    draft = SignUpForm
    username = ClientString(strip=True)
    email = ClientString(strip=True)
    password = ClientString()
    agreement = ClientAgreement()
    locale = ClientString()
    reason = ClientString()
    time_zone = ClientString()
    date_of_birth = ClientString()
    invite_code = ClientString(strip=True)


@dataclass(frozen=True)
class MuteForm:
    """The parameters of a mute."""

    notifications: bool = True
    duration: int = 0


class MuteInput(Input[MuteForm]):
    """Whether notifications are hidden, and for how many seconds."""

    draft = MuteForm
    notifications = ClientBoolean()
    duration = ClientInteger()


class FollowInput(Input[FollowChange]):
    """The options of a follow; what is not sent stays."""

    draft = FollowChange
    reblogs = ClientBoolean()
    notify = ClientBoolean()
    languages = StringListField()


@dataclass(frozen=True)
class LegacyFollowForm:
    """The parameters of `POST /api/v1/follows`."""

    address: str = ""


class LegacyFollowInput(Input[LegacyFollowForm]):
    """Whom to follow: `user` or `user@domain`, however blank."""

    draft = LegacyFollowForm
    uri = ClientString(source="address", strip=True)


@dataclass(frozen=True)
class IdsForm:
    """Things that are asked for together."""

    ids: tuple[str, ...] = ()
    with_suspended: bool = False


class IdsInput(Input[IdsForm]):
    """`id[]`; a single `id` is no list and dropped."""

    draft = IdsForm
    id = StringListField(source="ids")


class RelationshipsInput(Input[IdsForm]):
    """Whom to compare oneself with: `id[]`, or a single `id`."""

    draft = IdsForm
    id = StringListField(scalar=True, source="ids")
    with_suspended = ClientBoolean()


@dataclass(frozen=True)
class LookupForm:
    """The parameters of a look-up."""

    acct: str = ""


class LookupInput(Input[LookupForm]):
    """An address, with or without a domain."""

    draft = LookupForm
    acct = ClientString()


@dataclass(frozen=True)
class SearchForm:
    """The parameters of a search for accounts."""

    query: str = ""
    resolve: bool = False
    following: bool = False


class SearchInput(Input[SearchForm]):
    """The beginning of a name, or an address that may be looked up elsewhere (`resolve`)."""

    draft = SearchForm
    q = ClientString(source="query", strip=True)
    resolve = ClientBoolean()
    following = ClientBoolean()
