"""Base class of viewsets: it finds the caller, checks access, runs the action, and encodes the answer as JSON.

    class BookmarksViewSet(ApiViewSet):
        endpoints = {
            "list": Endpoint(user("read:bookmarks"), "Status", many=True, paging=ByCursor(Limit(20, 40))),
            "create": Endpoint(user("write:bookmarks"), "Status", throttles=family("statuses")),
        }

        def list(self, request: Request) -> Any:
            page = self.paginate(list_bookmarks(self.account_id))
            return page.respond(StatusSerializer(page.items, many=True).data)

An action returns plain data (200), or a response made by `responses.reply` or `ListPage.respond`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import IntFlag
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, TypeVar, cast

from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest
from django.http.response import HttpResponseBase
from django.utils.decorators import classonlymethod
from rest_framework.request import Request
from rest_framework.viewsets import ViewSet

from social.api import languages
from social.api.admission import Admission, admission_of, give_back
from social.api.declarations import Endpoint
from social.api.identities import Identity
from social.api.limits import refuse_exceeded
from social.api.pagination import ByCursor, ByOffset, ListPage, Loader, paginate, paginate_offset
from social.api.requests import ApiRequest, BodilessRequest
from social.api.responses import reply
from social.kernel import errors
from social.kernel.ids import parse_id

if TYPE_CHECKING:
    from django.db.models import QuerySet

T = TypeVar("T")

_PUBLIC = "public, max-age=15"
_PRIVATE = "private, no-store"
_METHODS = ["get", "head", "post", "put", "patch", "delete"]
# Attributes of DRF's generic views, negotiation, versioning and metadata, which have no effect here because the endpoint's
# declaration replaces them.
_INERT = (
    "renderer_classes",
    "content_negotiation_class",
    "versioning_class",
    "metadata_class",
    "queryset",
    "serializer_class",
    "filter_backends",
    "pagination_class",
    "lookup_field",
)


def is_id(parameter: str) -> bool:
    """Tell whether a path parameter holds an id: `id` and `<something>_id` do."""
    return parameter == "id" or parameter.endswith("_id")


class ApiViewSet(ViewSet):
    """Base of every endpoint: a DRF ViewSet whose actions declare themselves in `endpoints` (`social.api.declarations`).

    Of DRF's own attributes, `permission_classes` and `throttle_classes` apply in addition to the declaration;
    `check_object_permissions` works as in DRF; `authentication_classes` and `parser_classes` can be replaced. Attributes
    that the declaration replaces, and `@action`, are refused when the class is made.

    Path parameters named `id` or `..._id` are passed as ints; if one cannot be an id, NotFound is raised after the check of
    access.
    """

    http_method_names = _METHODS
    endpoints: ClassVar[Mapping[str, Endpoint]] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Raise ImproperlyConfigured for DRF attributes that this class would silently ignore."""
        super().__init_subclass__(**kwargs)
        for name in _INERT:
            if getattr(cls, name, None) is not getattr(ApiViewSet, name, None):
                raise ImproperlyConfigured(f"{cls.__name__}.{name} has no effect: `endpoints` declares actions")
        for extra in cast("list[Any]", cls.get_extra_actions()):
            raise ImproperlyConfigured(
                f"{cls.__name__}.{extra.__name__}: @action has no effect: name it in `endpoints`, route it by `endpoint()`"
            )

    @property
    def default_response_headers(self) -> dict[str, str]:  # without DRF's `Allow` and `Vary`
        return {}

    @classonlymethod
    def as_view(cls, actions: Any = None, **initkwargs: Any) -> Any:
        """Return the view of one path; `actions` maps HTTP methods (lower case) to names of actions. Raises
        ImproperlyConfigured for an action that is missing or not declared.
        """
        methods: dict[str, Any] = dict(actions or {})
        for method, action in methods.items():
            if method not in _METHODS:
                raise ImproperlyConfigured(f"{cls.__name__}: {method} is no method of the API")
            if not hasattr(cls, action):
                raise ImproperlyConfigured(f"{cls.__name__} has no action {action}")
            if action not in cls.endpoints:
                raise ImproperlyConfigured(f"{cls.__name__}.{action} is not among its endpoints")
        return super().as_view(methods, **initkwargs)

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Return the action's response. The viewset forgets request and response, because they refer to the viewset and would
        stay in memory, with the response's body, until a garbage collection.
        """
        try:
            return super().dispatch(request, *args, **kwargs)
        finally:
            made = vars(self).get("request")
            if isinstance(made, ApiRequest):
                made.parser_context.clear()
            vars(self).clear()

    def initialize_request(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Request:
        """Return the ApiRequest that actions get. If the method has no action, the body is not read, not even for its token."""
        self.action = self.action_map.get((request.method or "").lower(), "")
        declared = self.endpoints.get(self.action)
        context: dict[str, Any] = {"view": self, "max_body": 0}
        if declared is not None:
            context |= {"max_body": declared.max_body, "max_text": declared.max_text or declared.max_body}
        return (BodilessRequest if declared is None else ApiRequest)(
            request,
            parsers=self.get_parsers(),
            authenticators=self.get_authenticators(),
            negotiator=self.get_content_negotiator(),
            parser_context=context,
        )

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Perform the checks that all actions have in common, in the contract's order: caller, access, limits, parameters."""
        super().initial(request, *args, **kwargs)
        if cast(ApiRequest, request).has_body and not languages.is_in_query(request):
            # Parameters are read only after the checks, because the body is not read for a caller without access.
            languages.activate_named(cast(ApiRequest, request).parameters.get("lang"))
        # `dispatch` passes this dictionary to the action.
        self.kwargs.update(self._parsed(kwargs))

    def check_permissions(self, request: Request) -> None:
        """Check the declared access, then `permission_classes`. Raises NotFound for a method without an action."""
        declared = self.endpoints.get(self.action)
        if declared is None:
            raise errors.NotFound("Not Found")
        access, admission = declared.access, admission_of(request)
        access.check(self.caller, refusal=admission.refusal if admission is not None else None)
        cast(ApiRequest, request).call_as(access.effective_caller(self.caller))
        if access.permission is not None:
            self.require_permission(access.permission)
        super().check_permissions(request)

    def permission_denied(self, request: Request, message: str | None = None, code: str | None = None) -> NoReturn:
        """Raise Forbidden, even for an anonymous caller, because the declared access has already decided who needs a token."""
        raise errors.Forbidden(message)

    def check_throttles(self, request: Request) -> None:
        """Check the declared limits, then `throttle_classes`. Raises RateLimited."""
        admission = admission_of(request)
        if admission is not None and admission.families:
            refuse_exceeded(admission.families)
        super().check_throttles(request)

    def require_permission(self, permission: IntFlag) -> None:
        """Raise Forbidden if the caller's role does not grant the permission. Only viewsets for staff override this method."""
        raise ImproperlyConfigured(f"{type(self).__name__}.{self.action} is for staff and does not know roles")

    def finalize_response(  # type: ignore[override]  # DRF declares its own Response
        self, request: Request, response: Any, *args: Any, **kwargs: Any
    ) -> HttpResponseBase:
        """Encode what the action returned, and add the headers for caches and rate limits."""
        returned: Any = response if isinstance(response, HttpResponseBase) else reply(response)
        answer: HttpResponseBase = super().finalize_response(request, returned, *args, **kwargs)
        admission: Admission | None = admission_of(request)
        if admission is not None:
            if answer.status_code >= 400 and admission.families:
                give_back(admission)
            for name, value in admission.headers().items():
                answer.headers[name] = value
        answer.headers.setdefault("Cache-Control", self._cache_control(request, admission, answer.status_code))
        answer.headers.setdefault("Vary", "Authorization")
        declared = self.endpoints.get(self.action)
        if declared is not None and declared.deprecated is not None:
            answer.headers["Deprecation"] = f"@{declared.deprecated}"
        return answer

    def paginate(
        self,
        source: QuerySet[Any, T] | Loader[T] | Sequence[T],
        *,
        cursor: str = "id",
        ends: Callable[[Sequence[T]], tuple[int, int]] | None = None,
    ) -> ListPage[T]:
        """Return the requested page of `source`, paginated as the endpoint declares (`social.api.pagination`)."""
        paging, repeated = self.endpoint.paging, self.endpoint.is_repeated
        if isinstance(paging, ByCursor):
            loader = cast("Loader[T]", source)
            return paginate(self.request, loader, paging, cursor=cursor, ends=ends, repeated=repeated)
        if isinstance(paging, ByOffset):
            return paginate_offset(self.request, cast("Sequence[T]", source), paging, repeated=repeated)
        raise ImproperlyConfigured(f"{type(self).__name__}.{self.action} declares no paging")

    @property
    def endpoint(self) -> Endpoint:
        return self.endpoints[self.action]

    @property
    def identity(self) -> Identity:
        """The caller of an action whose access requires one. Raises Unauthorized if the request has no caller."""
        identity = self.caller
        if identity is None:
            raise errors.Unauthorized
        return identity

    @property
    def caller(self) -> Identity | None:
        return self.request.auth  # type: ignore[return-value]  # ours, not a token of DRF

    @property
    def viewer_id(self) -> int | None:
        identity = self.caller
        return identity.account_id if identity is not None else None

    @property
    def account_id(self) -> int:
        """The id of the caller's account, for an action whose access requires a user. Raises Unauthorized without a user."""
        account_id = self.identity.account_id
        if account_id is None:
            raise errors.Unauthorized
        return account_id

    def _cache_control(self, request: Request, admission: Admission | None, status: int) -> str:
        if status == 200 and request.method in ("GET", "HEAD"):
            declared = self.endpoint.cache_control
            if declared is not None:
                return declared
            if admission is None or not admission.token_sent:
                return _PUBLIC
        return _PRIVATE

    @staticmethod
    def _parsed(kwargs: dict[str, Any]) -> dict[str, Any]:
        parsed = {}
        for name, value in kwargs.items():
            if is_id(name):
                # A path with a suffix such as `.json` does not exist (contract, behaviours section 3).
                value = errors.require_found(parse_id(value) if "." not in value else None)
            elif "\0" in value:
                raise errors.NotFound
            parsed[name] = value
        return parsed


class NowhereViewSet(ApiViewSet):
    """Viewset of all paths without an endpoint: requests are counted like every request under `/api`, and answered with 404.

    Source: contract, behaviours section 3 (unknown paths) and section 4 ("all `/api`", headers on API answers).
    """

    action_map: ClassVar[dict[str, str]] = {}  # type: ignore[misc]  # DRF's types declare it for instances alone
