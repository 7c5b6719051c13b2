"""What clients send for filters, in the newer and the older spelling (contract, parameters section 4 "filters")."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from social.api.inputs import ClientBoolean, ClientString, IdField, Input, NestedListField, StringListField, as_integer
from statuses.models import FilterAction
from statuses.services.filters import FilterDraft, KeywordDraft

Draft = TypeVar("Draft", "FilterDraft", "FilterV1Form")


class KeywordInput(Input[KeywordDraft]):
    """A keyword of a filter."""

    draft = KeywordDraft
    id = IdField()
    keyword = ClientString()
    whole_word = ClientBoolean()
    _destroy = ClientBoolean(source="destroy")


class FilterInput(Input[FilterDraft]):
    """A filter with its keywords. `expires_in` is a number of seconds; empty or null means never."""

    draft = FilterDraft
    title = ClientString()
    context = StringListField()  # type: ignore[assignment]  # a name of DRF's serializers, for which fields are no attributes
    filter_action = ClientString(source="action")
    expires_in = ClientString()
    keywords_attributes = NestedListField(KeywordInput, source="keywords")

    @classmethod
    def read_mapping(cls, values: Mapping[str, Any]) -> FilterDraft:
        """As of any input; nothing in `expires_in` is a value here."""
        sent = {name: value for name, value in values.items() if name != "expires_in"}
        return _with_expiry(super().read_mapping(sent), values)


@dataclass(frozen=True)
class FilterStatusForm:
    """The parameters of adding a post to a filter."""

    status_id: str | None = None


class FilterStatusInput(Input[FilterStatusForm]):
    """Which post a filter matches besides."""

    draft = FilterStatusForm
    status_id = ClientString()


@dataclass(frozen=True)
class FilterV1Form:
    """A filter with its one keyword: `phrase` is the title and the keyword."""

    phrase: str | None = None
    context: tuple[str, ...] | None = None
    irreversible: bool | None = None
    whole_word: bool | None = None
    expires: bool = False
    expires_in: int | None = None

    @property
    def filter(self) -> FilterDraft:
        """The filter without its keyword."""
        action = FilterAction.HIDE if self.irreversible else FilterAction.WARN
        return FilterDraft(
            title=self.phrase,
            context=self.context,
            action=None if self.irreversible is None else action,
            expires=self.expires,
            expires_in=self.expires_in,
        )

    @property
    def keyword(self) -> KeywordDraft:
        """The keyword."""
        return KeywordDraft(keyword=self.phrase, whole_word=self.whole_word)


class FilterV1Input(Input[FilterV1Form]):
    """The parameters of `/api/v1/filters`."""

    draft = FilterV1Form
    phrase = ClientString()
    context = StringListField()  # type: ignore[assignment]  # a name of DRF's serializers, for which fields are no attributes
    irreversible = ClientBoolean()
    whole_word = ClientBoolean()
    expires_in = ClientString()

    @classmethod
    def read_mapping(cls, values: Mapping[str, Any]) -> FilterV1Form:
        """As of any input; nothing in `expires_in` is a value here."""
        sent = {name: value for name, value in values.items() if name != "expires_in"}
        return _with_expiry(super().read_mapping(sent), values)


def _with_expiry(draft: Draft, values: Mapping[str, Any]) -> Draft:
    sent = values.get("expires_in")
    if "expires_in" not in values or isinstance(sent, list | dict):
        return draft
    return replace(draft, expires=True, expires_in=None if sent in (None, "") else as_integer(sent))
