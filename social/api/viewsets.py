"""Base class of viewsets, which runs an action: authentication, check of access, the action, its answer as JSON.

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
from functools import update_wrapper
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, cast

from django.core.exceptions import ImproperlyConfigured
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.translation import gettext as _
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.viewsets import ViewSet

from social.api import exceptions, languages
from social.api.admission import Admission, admission_of, give_back
from social.api.declarations import Endpoint
from social.api.identities import Identity
from social.api.limits import refuse_exceeded
from social.api.pagination import ByCursor, ByOffset, ListPage, Loader, paginate, paginate_offset
from social.api.requests import ApiRequest
from social.api.responses import JsonOnly, OrjsonRenderer, reply
from social.kernel import errors
from social.kernel.ids import parse_id

if TYPE_CHECKING:
    from django.db.models import QuerySet

T = TypeVar("T")

_PUBLIC = "public, max-age=15"
_PRIVATE = "private, no-store"
_METHODS = frozenset({"get", "head", "post", "put", "patch", "delete"})


def is_id(parameter: str) -> bool:
    """Tell whether a path parameter holds an id: `id` and `<something>_id` do."""
    return parameter == "id" or parameter.endswith("_id")


class ApiViewSet(ViewSet):
    """Base of every endpoint: a DRF ViewSet whose helpers are created once per class instead of once per request.

    `endpoints`: the declaration of every action (`social.api.declarations`); an action without one cannot be routed.

    Of DRF's own attributes, `permission_classes` and `throttle_classes` apply in addition to the declaration: they are
    created once per class and called once per request, and False is answered with 403 or 429; `check_object_permissions`
    works as in DRF. `authentication_classes` and `parser_classes` can be replaced. All others have no effect:
    `renderer_classes`, content negotiation, versioning, metadata, `@action` and its options, routers, filter backends,
    pagination classes, and overridden `get_permissions`, `get_throttles`, `get_authenticators`, `get_parsers`,
    `check_permissions` or `check_throttles`.

    Path parameters named `id` or `..._id` are passed as ints; one that cannot be an id raises NotFound after the check of
    access.
    """

    endpoints: ClassVar[Mapping[str, Endpoint]] = {}

    @classmethod
    def as_view(cls, actions: Any = None, **initkwargs: Any) -> Any:
        """The view of one path; `actions` maps HTTP methods (lower case) to names of actions.

        Raises ImproperlyConfigured for an action that is missing or not declared.
        """
        methods: dict[str, str] = dict(actions)
        for method, action in methods.items():
            if method not in _METHODS:
                raise ImproperlyConfigured(f"{cls.__name__}: {method} is no method of the API")
            if not hasattr(cls, action):
                raise ImproperlyConfigured(f"{cls.__name__} has no action {action}")
            if action not in cls.endpoints:
                raise ImproperlyConfigured(f"{cls.__name__}.{action} is not among its endpoints")
        if "get" in methods:
            methods.setdefault("head", methods["get"])

        def view(request: HttpRequest, **kwargs: Any) -> HttpResponseBase:
            method = (request.method or "").lower()
            action = methods.get(method)
            if action is None:
                return NowhereViewSet.answer(request)
            viewset = cls(**initkwargs)
            viewset.action_map = methods
            viewset.action = action
            return viewset.dispatch(request, **kwargs)

        update_wrapper(view, cls, updated=())
        view.cls = cls  # type: ignore[attr-defined]  # as DRF's `as_view` does
        view.actions = methods  # type: ignore[attr-defined]  # as DRF's `as_view` does
        view.initkwargs = initkwargs  # type: ignore[attr-defined]  # as DRF's `as_view` does
        view.login_required = False  # type: ignore[attr-defined]  # as DRF's `as_view` does
        # Another site cannot make a browser send a token, as it could a cookie.
        view.csrf_exempt = True  # type: ignore[attr-defined]  # read by Django's middleware
        return view

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponseBase:
        """Check the caller, run the action and finish its answer; every error becomes JSON."""
        self.args, self.kwargs = args, kwargs
        wrapped = self.initialize_request(request)
        self.request = wrapped
        try:
            self.initial(wrapped)
            if kwargs:
                kwargs = self._parsed(kwargs)
            answer = getattr(self, self.action)(wrapped, **kwargs)
            response = answer if isinstance(answer, HttpResponseBase) else reply(answer)
        except Exception as exc:
            response = self.handle_exception(exc)
        return self.finalize_response(wrapped, response)

    def initialize_request(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Request:
        """The ApiRequest that actions get."""
        endpoint = self.endpoint
        context = {"view": self, "max_body": endpoint.max_body, "max_text": endpoint.max_text or endpoint.max_body}
        return ApiRequest(
            request,
            parsers=self._machinery("parser_classes"),
            authenticators=self._machinery("authentication_classes"),
            negotiator=_NEGOTIATOR,
            parser_context=context,
        )

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Make the checks that all actions have in common, in the contract's order."""
        cast(ApiRequest, request).authenticate()
        admission = admission_of(request)
        access = self.endpoint.access
        access.check(self.caller, refusal=admission.refusal if admission is not None else None)
        cast(ApiRequest, request).call_as(access.effective_caller(self.caller))
        if access.permission is not None:
            self.require_permission(access.permission)
        for permission in self._machinery("permission_classes"):
            if not permission.has_permission(request, self):
                raise errors.Forbidden(getattr(permission, "message", None))
        if admission is not None and admission.families:
            refuse_exceeded(admission.families)
        for throttle in self._machinery("throttle_classes"):
            if not throttle.allow_request(request, self):
                raise errors.RateLimited
        if cast(ApiRequest, request).has_body and not languages.was_asked_for(request):
            # Only after the checks, since the body is not read for a caller without access.
            languages.activate_named(cast(ApiRequest, request).parameters.get("lang"))

    def require_permission(self, permission: IntFlag) -> None:
        """Raise Forbidden for a caller whose role does not grant the permission. Only the viewsets for staff implement it."""
        raise ImproperlyConfigured(f"{type(self).__name__}.{self.action} is for staff and does not know roles")

    def handle_exception(self, exc: Exception) -> HttpResponse:  # type: ignore[override]  # DRF declares its own Response
        return exceptions.exception_handler(exc, {"view": self, "request": self.request})

    def finalize_response(  # type: ignore[override]  # DRF declares its own Response
        self, request: Request, response: Any, *args: Any, **kwargs: Any
    ) -> HttpResponseBase:
        """Add the headers for caches and rate limits, and render DRF's own responses."""
        admission: Admission | None = admission_of(request)
        if admission is not None:
            if response.status_code >= 400 and admission.families:
                give_back(admission)
            for name, value in admission.headers().items():
                response.headers[name] = value
        response.headers.setdefault("Cache-Control", self._cache_control(request, admission, response.status_code))
        response.headers.setdefault("Vary", "Authorization")
        declared = self.endpoints.get(self.action)  # a path without an endpoint has no declaration
        if declared is not None and declared.deprecated is not None:
            response.headers["Deprecation"] = f"@{declared.deprecated}"
        if isinstance(response, Response):
            response.accepted_renderer = _RENDERER
            response.accepted_media_type = _RENDERER.media_type
            context = {"view": self, "request": request, "response": response}
            response.renderer_context = context  # type: ignore[attr-defined]  # read by DRF's Response
            response.render()
        return response  # type: ignore[no-any-return]  # DRF declares no type

    def paginate(
        self,
        source: QuerySet[Any, T] | Loader[T] | Sequence[T],
        *,
        cursor: str = "id",
        ends: Callable[[Sequence[T]], tuple[int, int]] | None = None,
    ) -> ListPage[T]:
        """The requested page of `source`, paginated as the endpoint declares (`social.api.pagination`)."""
        paging, repeated = self.endpoint.paging, self.endpoint.is_repeated
        if isinstance(paging, ByCursor):
            loader = cast("Loader[T]", source)
            return paginate(self.request, loader, paging, cursor=cursor, ends=ends, repeated=repeated)
        if isinstance(paging, ByOffset):
            return paginate_offset(self.request, cast("Sequence[T]", source), paging, repeated=repeated)
        raise ImproperlyConfigured(f"{type(self).__name__}.{self.action} declares no paging")

    @property
    def endpoint(self) -> Endpoint:
        """The declaration of the current action."""
        return self.endpoints[self.action]

    @property
    def identity(self) -> Identity:
        """The caller of an action whose access requires one. Raises Unauthorized if there is none."""
        identity = self.caller
        if identity is None:
            raise errors.Unauthorized
        return identity

    @property
    def caller(self) -> Identity | None:
        """The caller; None for an anonymous caller."""
        return self.request.auth  # type: ignore[return-value]  # ours, not a token of DRF

    @property
    def viewer_id(self) -> int | None:
        """The id of the viewer's account, None for an anonymous viewer."""
        identity = self.caller
        return identity.account_id if identity is not None else None

    @property
    def account_id(self) -> int:
        """The id of the caller's account, for an action whose access requires a user. Raises Unauthorized if there is
        no user.
        """
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

    @classmethod
    def _machinery(cls, name: str) -> tuple[Any, ...]:
        # DRF creates these objects for every request; ours have no state, so that one instance per class is enough.
        made = cls.__dict__.get("_made")
        if made is None:
            made = {}
            type.__setattr__(cls, "_made", made)
        found = made.get(name)
        if found is None:
            found = made[name] = tuple(part() for part in getattr(cls, name))
        return cast("tuple[Any, ...]", found)


_NEGOTIATOR = JsonOnly()
_RENDERER = OrjsonRenderer()


class _UnreadRequest(ApiRequest):
    """Request whose body is not read."""

    def may_carry_token(self) -> bool:
        return False

    def _read_body(self) -> dict[str, Any]:
        return {}


class NowhereViewSet(ApiViewSet):
    """The answer to paths without an endpoint: counted like every request under `/api`, then 404 for every caller.

    Source: contract, behaviours section 3 (unknown paths) and section 4 ("all `/api`", headers on API answers).
    """

    action = ""

    @classmethod
    def answer(cls, request: HttpRequest) -> HttpResponseBase:
        """A 404 in JSON, or a 429."""
        return cls().dispatch(request)

    def initialize_request(self, request: HttpRequest, *args: Any, **kwargs: Any) -> Request:
        """The request without its body, so that only header and query can hold the token."""
        authenticators = self._machinery("authentication_classes")
        context = {"view": self, "max_body": 0}
        return _UnreadRequest(
            request, parsers=(), authenticators=authenticators, negotiator=_NEGOTIATOR, parser_context=context
        )

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Count the request, then raise NotFound."""
        self.perform_authentication(request)
        raise errors.NotFound(_("Not Found"))
