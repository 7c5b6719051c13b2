"""HTTP endpoints for the policies of new posts and for interaction requests, as in GoToSocial."""

from typing import Any

from django.http import HttpResponse
from rest_framework.request import Request

from accounts.services.preferences import PreferencesChange, change_preferences
from social.api.access import user
from social.api.declarations import Endpoint
from social.api.pagination import ByCursor, Limit
from social.api.viewsets import ApiViewSet
from social.kernel.errors import BadRequest, NotFound
from social.kernel.ids import parse_id
from statuses.models import InteractionRequest
from statuses.queries.authors import find_author
from statuses.queries.requests import find_request, list_requests
from statuses.serializers.inputs.policies import DefaultPoliciesInput, RequestsInput
from statuses.serializers.policies import DefaultPoliciesSerializer
from statuses.serializers.requests import present_requests
from statuses.services.requests import decide_request


class DefaultPoliciesViewSet(ApiViewSet):
    """`/api/v1/interaction_policies/defaults`."""

    endpoints = {
        "retrieve": Endpoint(user("read:accounts"), "DefaultPolicies"),
        "update": Endpoint(user("write:accounts"), "DefaultPolicies", input=DefaultPoliciesInput),
    }

    def retrieve(self, request: Request) -> Any:
        """`GET /api/v1/interaction_policies/defaults`: who may interact with new posts of each visibility."""
        return DefaultPoliciesSerializer(find_author(self.account_id).user).data

    def update(self, request: Request) -> Any:
        """`PATCH /api/v1/interaction_policies/defaults`: a visibility that is left out is reset to this server's initial rules.
        The quote policy is not changed (`source[quote_policy]` of `update_credentials`).
        """
        policies = DefaultPoliciesInput.read(request).policies
        author = find_author(self.account_id)
        change_preferences(user=author.user, change=PreferencesChange(interaction_policies=policies))
        return self.retrieve(request)


class InteractionRequestsViewSet(ApiViewSet):
    """`/api/v1/interaction_requests`: requests of others to interact with the caller's posts, and the caller's decisions."""

    endpoints = {
        "list": Endpoint(
            user("read:notifications"),
            "InteractionRequest",
            many=True,
            input=RequestsInput,
            paging=ByCursor(Limit(40, 80)),
        ),
        "retrieve": Endpoint(user("read:notifications"), "InteractionRequest"),
        "authorize": Endpoint(user("write:statuses"), "InteractionRequest"),
        "reject": Endpoint(user("write:statuses"), "InteractionRequest"),
    }

    def list(self, request: Request) -> HttpResponse:
        """`GET /api/v1/interaction_requests`: requests to interact with the caller's posts, newest first."""
        wanted = RequestsInput.read(request)
        if not wanted.kinds:
            raise BadRequest
        number = parse_id(wanted.status_id) or 0 if wanted.status_id else None
        page = self.paginate(list_requests(self.account_id, kinds=wanted.kinds, status_id=number))
        return page.respond(present_requests(page.items, self.account_id))

    def retrieve(self, request: Request, id: int) -> Any:
        """`GET /api/v1/interaction_requests/:id`: a pending or decided request."""
        return self._present(find_request(id, self.account_id))

    def authorize(self, request: Request, id: int) -> Any:
        """`POST /api/v1/interaction_requests/:id/authorize`: accepts the request, so that others see the interaction."""
        return self._decide(id, accepted=True)

    def reject(self, request: Request, id: int) -> Any:
        """`POST /api/v1/interaction_requests/:id/reject`: rejects the request, or undoes an authorized interaction."""
        return self._decide(id, accepted=False)

    def _decide(self, id: int, *, accepted: bool) -> Any:
        decide_request(account_id=self.account_id, request_id=find_request(id, self.account_id).id, accepted=accepted)
        return self._present(find_request(id, self.account_id))

    def _present(self, found: InteractionRequest) -> Any:
        for entity in present_requests([found], self.account_id):
            return entity
        raise NotFound
