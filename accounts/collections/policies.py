"""Decides which values a collection may have, and whom it may contain (contract, parameters "Collections")."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _

from accounts.collections.models import DESCRIPTION_LIMIT, NAME_LIMIT
from accounts.models import Account
from accounts.models.tag import TAG_LIMIT
from accounts.policies.featuring import Audience, featuring_audience, is_approved
from accounts.policies.relations import Relations
from social.kernel.errors import FieldError
from social.kernel.text.languages import known_language
from social.kernel.text.names import is_hashtag, normalise_hashtag


@dataclass(frozen=True)
class CollectionDraft:
    """Submitted values of a collection, by field; other fields are not changed."""

    values: Mapping[str, Any]

    def get(self, name: str) -> Any:
        return self.values.get(name)

    @property
    def tag(self) -> str | None:
        """The hashtag in its displayed form, without `#` or spaces; None if no hashtag was submitted."""
        name = self.values.get("tag_name")
        return None if name is None else name.replace(" ", "").lstrip("#")


def draft_errors(draft: CollectionDraft, *, new: bool) -> list[FieldError]:
    """Return the errors of a draft's hashtag or, if it has none, of all other values. A `new` collection must be complete."""
    errors = _tag_errors(draft.tag) if draft.tag is not None else []
    if errors:
        return errors
    name, description, language = (draft.get(field) for field in ("name", "description", "language"))
    if (new and name is None) or (name is not None and not name.strip()):
        errors.append(FieldError.blank("name"))
    for field, text, limit in (("name", name, NAME_LIMIT), ("description", description, DESCRIPTION_LIMIT)):
        if text is not None and len(text) > limit:
            errors.append(FieldError.too_long(field, limit))
    for field in ("sensitive", "discoverable") if new else ():
        if draft.get(field) is None:
            errors.append(FieldError.not_included(field))
    if language and known_language(language) is None:
        errors.append(FieldError.invalid("language"))
    return errors


def _tag_errors(tag: str) -> list[FieldError]:
    if is_hashtag(tag) and len(normalise_hashtag(tag)) <= TAG_LIMIT:
        return []
    blank = [FieldError.blank("name")] if not tag else []
    invalid = _("is invalid")
    return [*blank, FieldError("name", "ERR_INVALID", invalid), FieldError("display_name", "ERR_INVALID", invalid)]


def too_many_collections() -> FieldError:
    """Return the error for a user whose role allows no further collection."""
    return FieldError("base", "ERR_TOO_MANY", _("You have reached the maximum number of collections"), "")


def too_many_items() -> FieldError:
    """Return the error for adding an account to a full collection."""
    return FieldError("base", "ERR_TOO_MANY", _("This collection is full"), "")


def may_be_featured(account: Account, relations: Relations) -> bool:
    """Tell whether the viewer of `relations` may put the account into a collection. The account's policy (`feature_approval`)
    must allow the viewer, and neither may block the other. A remote account still has to consent, whatever its policy.
    """
    if account.id == relations.viewer_id or account.suspended or relations.blocked_either_way(account.id):
        return False
    if account.id in relations.domain_blocking or account.id in relations.domain_blocked_by:
        return False
    audience = featuring_audience(account)
    return audience is Audience.ASKED or is_approved(audience, account.id, relations)
