"""A small API for tags, with an endpoint for each kind of access, for the tests of request handling."""

from dataclasses import dataclass
from enum import IntFlag
from typing import Any

from django.db import IntegrityError, OperationalError
from django.http import HttpResponse
from rest_framework.response import Response

from accounts.models import Tag
from social.api.access import any_token, anyone, app_token, optional_user, staff, user
from social.api.declarations import EMPTY, Endpoint
from social.api.fields import (
    ClientBoolean,
    ClientChoice,
    ClientDateTime,
    ClientFile,
    ClientInteger,
    ClientNumber,
    ClientString,
    IdField,
    IdListField,
    NestedListField,
    StringListField,
)
from social.api.inputs import Input, parameters
from social.api.limits import family, limited
from social.api.pagination import ByCursor, ByOffset, Limit
from social.api.requests import ApiRequest
from social.api.responses import reply
from social.api.serializers import EntitySerializer
from social.api.viewsets import ApiViewSet
from social.kernel import errors
from social.kernel.cursors import Cursor


class TagSerializer(EntitySerializer):
    def to_representation(self, instance: Tag) -> dict[str, Any]:
        """Return id and name."""
        return {"id": str(instance.id), "name": instance.name}


class AskingSerializer(EntitySerializer):
    """A serializer that queries the database; tests check that the query raises an error."""

    def to_representation(self, instance: Tag) -> dict[str, Any]:
        """Return the id, and a name that is loaded by a query."""
        return {"id": str(instance.id), "name": Tag.objects.get(id=instance.id).name}


@dataclass(frozen=True)
class OptionDraft:
    title: str = ""
    weight: int = 1


@dataclass(frozen=True)
class TagDraft:
    """A value for each kind of input field."""

    name: str = ""
    sensitive: bool = False
    weight: int = 7
    focus: float = 0.0
    parent_id: int | None = None
    tag_ids: tuple[int, ...] = ()
    words: tuple[str, ...] = ()
    kind: str = "plain"
    due: Any = None
    picture: Any = None
    options: tuple[OptionDraft, ...] = ()


class OptionInput(Input[OptionDraft]):
    title = ClientString(max_length=5)
    weight = ClientInteger()


class TagInput(Input[TagDraft]):
    """An input with a field of each kind."""

    required_keys = ("name",)
    name = ClientString(max_length=20)
    sensitive = ClientBoolean()
    weight = ClientInteger(minimum=-100, maximum=100)
    focus = ClientNumber()
    parent_id = IdField(allow_null=True)
    tag_ids = IdListField(scalar=True, max_items=5)
    words = StringListField()
    kind = ClientChoice(("plain", "loud"))
    due = ClientDateTime(label="Date")
    picture = ClientFile()
    options = NestedListField(OptionInput)


class DetailedInput(TagInput):
    """An input whose errors contain codes for each field."""

    details = True


LIKE_TIMELINES = ByCursor(Limit(20, 40), next_when="any")
LIKE_PEOPLE = ByCursor(Limit(20, 40, zero_is_all=True), prev="since_id")


class TagsViewSet(ApiViewSet):
    """Endpoints that list, create, show and delete tags."""

    endpoints = {
        "list": Endpoint(optional_user("read:statuses"), "SampleTag", many=True, input=TagInput, paging=LIKE_TIMELINES),
        "index": Endpoint(user("read:statuses"), "SampleTag", many=True, paging=LIKE_PEOPLE),
        "offsets": Endpoint(optional_user(), "SampleTag", many=True, paging=ByOffset(Limit(20, 40), links=True)),
        "create": Endpoint(user("write:statuses"), "SampleTag", input=TagInput, throttles=family("statuses")),
        "retrieve": Endpoint(user("read:statuses"), "SampleTag"),
        "destroy": Endpoint(user("write:statuses"), EMPTY, throttles=limited("deletions")),
        "asking": Endpoint(optional_user(), "SampleTag", many=True),
        "unflat": Endpoint(optional_user(), "SampleTag", many=True),
    }

    def list(self, request: ApiRequest) -> HttpResponse:
        """List tags paged like timelines: there is a next page whenever there are items."""
        page = self.paginate(Tag.objects.all())
        return page.respond(TagSerializer(page.items, many=True).data)

    def index(self, request: ApiRequest) -> HttpResponse:
        """List tags paged like lists of accounts."""
        page = self.paginate(Tag.objects.all())
        return page.respond(TagSerializer(page.items, many=True).data)

    def offsets(self, request: ApiRequest) -> HttpResponse:
        """List tags paged like trends."""
        page = self.paginate(Tag.objects.order_by("-id"))
        return page.respond(TagSerializer(page.items, many=True).data)

    def create(self, request: ApiRequest) -> dict[str, Any]:
        """Create a tag from its name."""
        draft = TagInput.read(request)
        if draft.name == "taken":
            raise errors.Invalid.sentence("Name has already been taken")
        return {"id": str(Tag.objects.create(name=draft.name, display_name=draft.name).id), "name": draft.name}

    def retrieve(self, request: ApiRequest, id: int) -> dict[str, Any]:
        """Show a tag; tags whose names begin with "secret" belong to another user."""
        found = Tag.objects.exclude(name__startswith="secret").filter(id=id).first()
        if found is None:
            raise errors.NotFound
        entity: dict[str, Any] = TagSerializer(found).data
        return entity

    def destroy(self, request: ApiRequest, id: int) -> dict[str, Any]:
        """Delete a tag."""
        self.retrieve(request, id)
        Tag.objects.filter(id=id).delete()
        return {}

    def asking(self, request: ApiRequest) -> Any:
        """List tags with a serializer that queries the database."""
        return AskingSerializer(list(Tag.objects.order_by("-id")), many=True).data

    def unflat(self, request: ApiRequest) -> Any:
        """List tags with one query per row."""
        ids = Tag.objects.order_by("-id").values_list("id", flat=True)
        return TagSerializer([Tag.objects.get(id=found) for found in ids], many=True).data


class Duty(IntFlag):
    """The permissions of the sample's roles."""

    READ = 1


class AccessViewSet(ApiViewSet):
    """Endpoints for each kind of access."""

    endpoints = {
        "public": Endpoint(anyone(), "Sample"),
        "optional": Endpoint(optional_user("read:accounts"), "Sample"),
        "anybody": Endpoint(any_token(), "Sample"),
        "application": Endpoint(app_token("write:accounts"), "Sample"),
        "person": Endpoint(user("read:accounts", "profile"), "Sample"),
        "follows": Endpoint(user("write:follows"), "Sample"),
        "crypto": Endpoint(user("crypto"), "Sample"),
        "moderator": Endpoint(staff("admin:read:reports", Duty.READ), "Sample"),
        "documented": Endpoint(anyone(), "Sample", cache_control="public, max-age=300"),
    }

    def require_permission(self, permission: IntFlag) -> None:
        """Grant every permission to the main user only."""
        if self.identity.user_id != 1:
            raise errors.Forbidden

    def public(self, request: ApiRequest) -> dict[str, Any]:
        """Return who sent the request, and from which address."""
        identity = request.auth
        return {
            "user": identity.user_id if identity else None,
            "address": request.client_ip,
            "authenticated": request.user.is_authenticated,
        }

    optional = anybody = application = person = follows = crypto = moderator = documented = public


class EchoViewSet(ApiViewSet):
    """Endpoints that return their parameters."""

    endpoints = {
        "echo": Endpoint(anyone(), "Sample"),
        "big": Endpoint(anyone(), "Sample", max_body=8 * 1024 * 1024),
        "draft": Endpoint(anyone(), "Sample", input=TagInput),
        "detailed": Endpoint(anyone(), "Sample", input=TagInput),
    }

    def echo(self, request: ApiRequest) -> Any:
        """Return the parsed parameters, with the name and size of files."""
        return _shown(parameters(request))

    big = echo

    def draft(self, request: ApiRequest) -> Any:
        """Return the dataclass of an input."""
        return _shown(TagInput.read(request).__dict__)

    def detailed(self, request: ApiRequest) -> Any:
        """Return the dataclass of an input whose errors have details."""
        return _shown(DetailedInput.read(request).__dict__)


def _shown(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _shown(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_shown(item) for item in value]
    if isinstance(value, OptionDraft):
        return value.__dict__
    if hasattr(value, "read"):
        return {
            "file": value.name,
            "type": value.content_type,
            "size": value.size,
            "head": value.read(20).decode("latin-1"),
        }
    return value


class FeedViewSet(ApiViewSet):
    """A list of numbers that are not stored in a table."""

    endpoints = {"list": Endpoint(anyone(), None, paging=LIKE_TIMELINES)}
    asked: list[Cursor] = []

    def list(self, request: ApiRequest) -> HttpResponse:
        """List the numbers from 100 down to 1."""

        def load(cursor: Cursor) -> list[int]:
            self.asked.append(cursor)
            found = [
                number
                for number in range(100, 0, -1)
                if (cursor.before is None or number < cursor.before) and (cursor.after is None or number > cursor.after)
            ]
            return found[-cursor.limit :] if cursor.ascending else found[: cursor.limit]

        page = self.paginate(load)
        return page.respond([str(number) for number in page.items])


class FailuresViewSet(ApiViewSet):
    """Endpoints that raise the error which a test has set."""

    endpoints = dict.fromkeys(("raise_it", "drf", "created"), Endpoint(anyone(), "Sample"))
    ERRORS: dict[str, Exception] = {}

    def raise_it(self, request: ApiRequest, name: str) -> Any:
        """Raise the error with this name."""
        raise self.ERRORS.get(name) or errors.NotFound

    def drf(self, request: ApiRequest) -> Response:
        """Return a response of DRF's own class."""
        return Response({"ok": True}, status=202)

    def created(self, request: ApiRequest) -> HttpResponse:
        """Return a status other than 200, and additional headers."""
        return reply({"ok": True}, status=201, headers={"Cache-Control": "public, max-age=5", "Deprecation": "@1"})


class UniqueViolation(Exception):
    """The error of psycopg that causes an IntegrityError."""

    sqlstate = "23505"


class ForeignKeyViolation(Exception):
    """The error of psycopg for a missing row, with PostgreSQL's state."""

    sqlstate = "23503"


def duplicate() -> IntegrityError:
    """Return the error of a duplicate value in a unique column."""
    error = IntegrityError("duplicate key")
    error.__cause__ = UniqueViolation()
    return error


def reference_gone() -> IntegrityError:
    """Return the error of a reference to a row that was deleted at the same moment."""
    error = IntegrityError("no such row")
    error.__cause__ = ForeignKeyViolation()
    return error


def database_gone() -> OperationalError:
    """Return the error of a database that does not respond."""
    return OperationalError("connection refused")
