"""Parameters of timelines, lists, markers and search (contract, parameters)."""

from typing import Annotated

from django.utils.translation import gettext as _
from rest_framework.request import Request

from social.api.fields import ClientString, CursorField, IdField, IdListField, ObjectField, StringListField
from social.api.inputs import Form, Input
from social.kernel.errors import BadRequest, FieldError, Invalid
from social.kernel.ids import parse_id
from timelines.services.lists import ListDraft
from timelines.services.searching import SearchForm


class PublicInput(Form):
    """Filters of public posts: only local posts, only remote posts, or only posts with files."""

    local: bool = False
    remote: bool = False
    only_media: bool = False


class LinkInput(Form):
    """Address of a link whose posts are requested."""

    url: str = ""


class TagInput(PublicInput):
    """Further hashtags, of which posts must have any, all or none."""

    any: Annotated[tuple[str, ...], StringListField(scalar=True)] = ()
    all: Annotated[tuple[str, ...], StringListField(scalar=True)] = ()
    none: Annotated[tuple[str, ...], StringListField(scalar=True)] = ()


class ListInput(Input[ListDraft]):
    """A list; the service validates it."""

    fields = ("title", "replies_policy", "exclusive")


class MembersInput(Form):
    """Accounts to add to a list or to remove from it."""

    account_ids: Annotated[tuple[int, ...], IdListField(all_known=True)] = ()


class TimelinesInput(Form):
    """Names of the timelines whose markers are requested; a single name counts as a list."""

    timeline: Annotated[tuple[str, ...], StringListField(scalar=True)] = ()


class PositionInput(Form):
    """Last read item of a timeline, as it was sent."""

    last_read_id: str = ""

    @property
    def position(self) -> int | None:
        """Id of the item; None when nothing was sent. Raises Invalid for an invalid id."""
        if not self.last_read_id:
            return None
        found = parse_id(self.last_read_id.strip())
        if found is None:
            raise Invalid.of([FieldError("last_read_id", "ERR_INVALID", _("is invalid"))])
        return found


class MarkersInput(Input[dict[str, PositionInput]]):
    """Read positions by timeline."""

    home = ObjectField(PositionInput)
    notifications = ObjectField(PositionInput)


class SearchInput(Input[SearchForm]):
    """Search text: words, an address, or operators (contract, behaviours section 15)."""

    required_keys = ("q",)
    fields = ("resolve", "limit", "offset", "following", "exclude_unreviewed")
    q = ClientString(source="text", strip=True)
    type = ClientString(source="kind")
    min_id = CursorField()
    max_id = CursorField()
    account_id = IdField()

    @classmethod
    def read(cls, request: Request) -> SearchForm:
        """Return the search. Raises BadRequest without a search text, and for a negative limit or offset."""
        form = super().read(request)
        if form.limit < 0 or form.offset < 0:
            raise BadRequest(_("Pagination values for `offset` and `limit` must be positive"))
        return form
