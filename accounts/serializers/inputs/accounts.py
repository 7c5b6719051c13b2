"""Parameters of accounts: look-ups, the directory, and actions on other accounts and servers."""

from __future__ import annotations

from typing import Annotated

from accounts.services.following import FollowChange
from social.api.fields import IdListField, StringListField
from social.api.inputs import Form, Input, Stripped


class MuteInput(Form):
    """Options of a mute: whether notifications are hidden, and for how many seconds."""

    notifications: bool = True
    duration: int = 0


class FollowInput(Input[FollowChange]):
    """The options of a follow; options that are not sent stay unchanged."""

    fields = ("reblogs", "notify", "languages")


class LegacyFollowInput(Form):
    """The account to follow: `user` or `user@domain`, also with blanks around it."""

    uri: Stripped = ""


class IdsInput(Form):
    """Account ids, as `id[]`; a single `id` is not a list and is ignored."""

    id: tuple[str, ...] = ()


class RelationshipsInput(Form):
    """The accounts whose relationships are requested: `id[]`, or a single `id`."""

    id: Annotated[tuple[str, ...], StringListField(scalar=True)] = ()
    with_suspended: bool = False


class LookupInput(Form):
    """An address, with or without a domain."""

    acct: str = ""


class SearchInput(Form):
    """The beginning of a name, or an address, which may be looked up on its server (`resolve`)."""

    q: Stripped = ""
    resolve: bool = False
    following: bool = False


class NoteInput(Form):
    """A private note about an account."""

    comment: str = ""


class FamiliarInput(Form):
    """The accounts whose followers are requested: `id[]`, or a single `id`."""

    id: Annotated[tuple[int, ...], IdListField(scalar=True)] = ()


class DomainInput(Form):
    """The domain of a server, in the query or in the body."""

    domain: str = ""


class DirectoryInput(Form):
    """Parameters of the directory: `order` is "active" or "new"."""

    order: str = "active"
    local: bool = False
