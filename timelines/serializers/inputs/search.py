"""What clients send to search."""

from __future__ import annotations

from django.utils.translation import gettext as _
from rest_framework.request import Request

from social.api.inputs import ClientBoolean, ClientInteger, ClientString, CursorField, IdField, Input
from social.kernel.errors import BadRequest
from timelines.services.searching import SearchForm


class SearchInput(Input[SearchForm]):
    """Words, an address, or operators (contract, behaviours section 15)."""

    draft = SearchForm
    q = ClientString(source="text", strip=True)
    type = ClientString(source="kind")
    resolve = ClientBoolean()
    limit = ClientInteger()
    offset = ClientInteger()
    min_id = CursorField()
    max_id = CursorField()
    account_id = IdField()
    following = ClientBoolean()
    exclude_unreviewed = ClientBoolean()

    @classmethod
    def read(cls, request: Request) -> SearchForm:
        """The search. Raises BadRequest without anything to search for, and for a negative limit or offset."""
        form = super().read(request)
        if not form.text.strip():
            raise BadRequest.missing("q")
        if form.limit < 0 or form.offset < 0:
            raise BadRequest(_("Pagination values for `offset` and `limit` must be positive"))
        return form
