"""Parameters of filters and of featured hashtags (contract, parameters)."""

from typing import Annotated, Any

from rest_framework.fields import SkipField

from social.api.fields import ClientBoolean, ClientString, IdField, NestedListField, as_integer
from social.api.inputs import Form, Input
from statuses.models import FilterAction
from statuses.services.filters import FilterDraft, KeywordDraft


class ExpiryField(ClientString):
    """Number of seconds until a filter expires; empty or null means never. `expires` tells whether the value was sent."""

    def __init__(self) -> None:
        super().__init__(source="*", allow_null=True)

    def to_internal_value(self, data: Any) -> Any:
        if isinstance(data, list | dict):
            raise SkipField
        return {"expires": True, "expires_in": None if data in (None, "") else as_integer(data)}


class KeywordInput(Input[KeywordDraft]):
    fields = ("keyword", "whole_word")
    id = IdField()
    _destroy = ClientBoolean(source="destroy")


class FilterInput(Input[FilterDraft]):
    fields = ("title", "context")
    filter_action = ClientString(source="action")
    expires_in = ExpiryField()
    keywords_attributes = NestedListField(KeywordInput, source="keywords")


class FilterStatusInput(Form):
    status_id: str | None = None


class FilterV1Input(Form):
    """A filter with one keyword, for `/api/v1/filters`: `phrase` is both title and keyword."""

    phrase: str | None = None
    context: tuple[str, ...] | None = None
    irreversible: bool | None = None
    whole_word: bool | None = None
    expires_in: Annotated[int | None, ExpiryField()] = None
    expires: Annotated[bool, None] = False

    @property
    def filter(self) -> FilterDraft:
        """Filter without its keyword."""
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
        return KeywordDraft(keyword=self.phrase, whole_word=self.whole_word)


class FeaturedTagInput(Form):
    """A hashtag, with or without its `#`."""

    required_keys = ("name",)
    name: str = ""
