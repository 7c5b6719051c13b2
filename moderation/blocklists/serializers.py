"""GoToSocial's entities DomainPermissionSubscription and DomainPermission, and their parameters. Source: GoToSocial,
`internal/api/model/domain.go` and `internal/api/client/admin`; differences: `docs/interop.md`.
"""

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import Annotated, Any, Final

from django.utils.translation import gettext as _

from moderation.blocklists.models import Blocklist, BlocklistEntry, BlocklistException, ListMode
from moderation.blocklists.policies import BlocklistDraft
from moderation.models import DomainRule
from social.api.fields import ClientString
from social.api.inputs import Form, Stripped
from social.api.serializers import EntitySerializer
from social.kernel import clock
from social.kernel.errors import BadRequest, FieldError, Invalid, require_valid
from social.kernel.ids import parse_id
from social.kernel.lengths import NAME_LIMIT

PERMISSION_TYPE: Final = "block"
_PERMISSION_TYPES: Final = ("block", "allow")
_NEW: Final = BlocklistDraft(
    name="",
    url="",
    mode=ListMode.DRAFT,
    suspend_as="suspend",
    silence_as="silence",
    noop_as="ignore",
    take_rejections=False,
    follows_limit=0,
)


class SubscriptionSerializer(EntitySerializer):
    """DomainPermissionSubscription. Context: `creators`, the ids of the accounts that created the lists, by list id."""

    def to_representation(self, instance: Blocklist) -> dict[str, Any]:
        entity: dict[str, Any] = {
            "id": str(instance.pk),
            "priority": 0,
            "title": instance.name,
            "permission_type": PERMISSION_TYPE,
            "as_draft": instance.mode == ListMode.DRAFT,
            "adopt_orphans": False,
            "remove_retracted": True,
            "created_at": clock.iso(instance.created_at),
            "created_by": str(self.context["creators"].get(instance.pk, "")),
            "uri": instance.url,
            "content_type": instance.content_type,
            "count": instance.entries_count,
            "enabled": instance.enabled,
        }
        optional = {
            "fetch_username": instance.username,
            "fetched_at": clock.iso_or_none(instance.asked_at),
            "successfully_fetched_at": clock.iso_or_none(instance.checked_at),
            "error": instance.last_error,
        }
        return entity | {name: value for name, value in optional.items() if value}


class EntrySerializer(EntitySerializer):
    """DomainPermission of a rule that a list would add."""

    def to_representation(self, instance: BlocklistEntry) -> dict[str, Any]:
        entity = _permission(instance.domain, instance.comment, "")
        return entity | {"obfuscate": instance.obfuscate, "severity": instance.severity}


class DraftSerializer(EntrySerializer):
    """DomainPermission of an entry that is waiting for a decision. Context: `creators`, account ids by draft id, and
    `list_creators`, account ids by list id.
    """

    def to_representation(self, instance: BlocklistEntry) -> dict[str, Any]:
        entity = super().to_representation(instance) | {
            "id": str(instance.pk),
            "permission_type": PERMISSION_TYPE,
            "private_comment": instance.note,
            "created_at": clock.iso(instance.created_at),
        }
        if instance.blocklist_id is None:
            return entity | _by(self.context["creators"].get(instance.pk))
        creator = self.context["list_creators"].get(instance.blocklist_id)
        return entity | {"subscription_id": str(instance.blocklist_id)} | _by(creator)


class ExclusionSerializer(EntitySerializer):
    """DomainPermission of an exception from lists. Context: `creators`, account ids by exception id."""

    def to_representation(self, instance: BlocklistException) -> dict[str, Any]:
        return {
            **_permission(instance.domain, "", instance.comment),
            "obfuscate": False,
            "id": str(instance.pk),
            "created_at": clock.iso(instance.created_at),
            **_by(self.context["creators"].get(instance.pk)),
        }


class AcceptedSerializer(EntitySerializer):
    """DomainPermission of the rule made from an accepted entry. Context: `entry`, and `account_id` (who accepted the entry)."""

    def to_representation(self, instance: DomainRule) -> dict[str, Any]:
        entry: BlocklistEntry = self.context["entry"]
        entity = {
            **_permission(instance.domain, instance.public_comment or "", instance.private_comment or ""),
            "obfuscate": instance.obfuscate,
            "severity": instance.severity,
            "id": str(instance.pk),
            "created_at": clock.iso(instance.created_at),
            **_by(self.context["account_id"]),
        }
        return entity if entry.blocklist_id is None else entity | {"subscription_id": str(entry.blocklist_id)}


def _permission(domain: str, public_comment: str, private_comment: str) -> dict[str, Any]:
    return {"domain": domain, "public_comment": public_comment, "private_comment": private_comment}


def _by(account_id: int | None) -> dict[str, str]:
    return {} if account_id is None else {"created_by": str(account_id)}


class SubscriptionInput(Form):
    """Values of a subscription; None stands for a value that was not sent."""

    title: Stripped | None = None
    uri: Stripped | None = None
    permission_type: Stripped | None = None
    content_type: Stripped | None = None
    as_draft: bool | None = None
    adopt_orphans: bool | None = None
    remove_retracted: bool | None = None
    priority: int | None = None
    fetch_username: Annotated[str, ClientString()] | None = None
    fetch_password: Annotated[str, ClientString()] | None = None

    def changes(self) -> Mapping[str, Any]:
        """Return the sent values by the draft's field names. Raises Invalid for unsupported values, and BadRequest if no value
        was sent.
        """
        if self == type(self)():
            raise BadRequest(_("No value that can be changed was sent"))
        require_valid(self._unsupported(), details=True)
        values: dict[str, Any] = {
            "name": self.title,
            "url": self.uri,
            "content_type": self.content_type,
            "mode": None if self.as_draft is None else ListMode.DRAFT if self.as_draft else ListMode.AUTOMATIC,
            "username": self.fetch_username,
            "password": self.fetch_password,
        }
        return {name: value for name, value in values.items() if value is not None}

    def _unsupported(self) -> list[FieldError]:
        errors = permission_type_errors(self.permission_type or PERMISSION_TYPE)
        if self.priority:
            message = _("must be 0: lists have no order, and the strictest of those that name a server counts")
            errors.append(FieldError("priority", "ERR_INCLUSION", message))
        if self.adopt_orphans:
            message = _("must be false: no list takes over the rules of staff")
            errors.append(FieldError("adopt_orphans", "ERR_INCLUSION", message))
        if self.remove_retracted is False:
            message = _("must be true: a rule ends when its list retracts the entry")
            errors.append(FieldError("remove_retracted", "ERR_INCLUSION", message))
        return errors


class NewSubscriptionInput(SubscriptionInput):
    """Values of a new subscription."""

    required_keys = ("uri", "permission_type")

    def draft(self) -> BlocklistDraft:
        """Return the draft; a list without a title is named after its address. Raises Invalid as `changes` does."""
        values: dict[str, Any] = {"name": (self.uri or "")[:NAME_LIMIT], **self.changes()}
        return replace(_NEW, **values)


def permission_type_errors(value: str) -> list[FieldError]:
    """Return the error for a type of permission other than `block`."""
    if value == PERMISSION_TYPE:
        return []
    if value in _PERMISSION_TYPES:
        message = _("must be block: there are no lists of allowed servers")
    else:
        message = _("is not included in the list")
    return [FieldError("permission_type", "ERR_INCLUSION", message)]


class TypeInput(Form):
    """Filter by the type of permission."""

    permission_type: Stripped = ""

    @property
    def is_for_allows(self) -> bool:
        """Tell whether the filter asks for lists of allowed servers, which do not exist. Raises Invalid for an unknown type."""
        if self.permission_type in ("", *_PERMISSION_TYPES):
            return self.permission_type == "allow"
        raise Invalid.of(permission_type_errors(self.permission_type), details=True)


class PreviewInput(TypeInput):
    """The type of permission, which is required."""

    required_keys = ("permission_type",)


class DraftsInput(TypeInput):
    subscription_id: Stripped = ""
    domain: Stripped = ""

    @property
    def list_id(self) -> int | None:
        """The id of the list; None for a text that cannot be an id."""
        return parse_id(self.subscription_id)


class DomainInput(Form):
    domain: Stripped = ""


class NewDraftInput(Form):
    required_keys = ("domain", "permission_type")

    domain: Stripped = ""
    permission_type: Stripped = ""
    obfuscate: bool = False
    public_comment: Annotated[str, ClientString()] = ""
    private_comment: Annotated[str, ClientString()] = ""

    def chosen(self) -> Mapping[str, Any]:
        """Return the values for the service. Raises Invalid for a type other than `block`."""
        require_valid(permission_type_errors(self.permission_type), details=True)
        values = asdict(self)
        del values["permission_type"]
        return values


class NewExclusionInput(Form):
    """A server that no list may block."""

    required_keys = ("domain",)

    domain: Stripped = ""
    private_comment: Annotated[str, ClientString()] = ""


class AcceptInput(Form):
    """Acceptance of an entry; with `overwrite`, an existing rule is changed."""

    overwrite: bool = False


class RemoveDraftInput(Form):
    """Removal of a draft; with `exclude_target`, no list may block the server from now on."""

    exclude_target: bool = False


class RemoveInput(Form):
    """Removal of a list; with `remove_children`, the rules that came only from this list are also removed."""

    remove_children: bool = True
