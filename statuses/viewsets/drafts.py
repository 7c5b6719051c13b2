"""HTTP endpoints for drafts that are stored on this server, an extension of Mastodon's API."""

from typing import Any

from django.http import HttpResponse
from rest_framework.request import Request

from social.api.access import user
from social.api.declarations import EMPTY, Endpoint
from social.api.limits import family
from social.api.pagination import ByCursor, Limit
from social.api.viewsets import ApiViewSet
from social.kernel.errors import NotFound
from statuses.models import ScheduledStatus
from statuses.queries.authors import find_author
from statuses.queries.listings import find_draft, list_drafts
from statuses.serializers.inputs.statuses import StatusInput
from statuses.serializers.presenting import present_status
from statuses.serializers.scheduled_status import ScheduledStatusSerializer
from statuses.services.scheduling import cancel_status, change_draft, publish_saved, save_draft


class DraftsViewSet(ApiViewSet):
    """`/api/v1/drafts`: drafts have the same entity as scheduled posts; the scheduled posts API lists drafts as well."""

    endpoints = {
        "list": Endpoint(user("read:statuses"), "ScheduledStatus", many=True, paging=ByCursor(Limit(20, 40))),
        "create": Endpoint(user("write:statuses"), "ScheduledStatus", input=StatusInput, throttles=family("statuses")),
        "retrieve": Endpoint(user("read:statuses"), "ScheduledStatus"),
        "update": Endpoint(user("write:statuses"), "ScheduledStatus", input=StatusInput, throttles=family("statuses")),
        "destroy": Endpoint(user("write:statuses"), EMPTY),
        "publish": Endpoint(user("write:statuses"), "Status", throttles=family("statuses")),
    }

    def list(self, request: Request) -> HttpResponse:
        """`GET /api/v1/drafts`: newest first."""
        page = self.paginate(list_drafts(self.account_id))
        return page.respond(ScheduledStatusSerializer(page.items, many=True).data)

    def create(self, request: Request) -> Any:
        """`POST /api/v1/drafts`: takes the parameters of a post, which are checked on publishing; `scheduled_at` is ignored."""
        saved = save_draft(
            author=find_author(self.account_id),
            draft=StatusInput.read(request),
            idempotency_key=request.headers.get("Idempotency-Key"),
            application_id=self.identity.application_id,
        )
        if not isinstance(saved, ScheduledStatus):
            raise NotFound
        return self.retrieve(request, saved.id)

    def retrieve(self, request: Request, id: int) -> Any:
        """`GET /api/v1/drafts/:id`."""
        return ScheduledStatusSerializer(find_draft(id, self.account_id)).data

    def update(self, request: Request, id: int) -> Any:
        """`PUT /api/v1/drafts/:id`: replaces the whole draft, including its files."""
        found = find_draft(id, self.account_id)
        change_draft(author=find_author(self.account_id), draft_id=found.id, draft=StatusInput.read(request))
        return self.retrieve(request, id)

    def destroy(self, request: Request, id: int) -> Any:
        """`DELETE /api/v1/drafts/:id`."""
        cancel_status(scheduled=find_draft(id, self.account_id))
        return {}

    def publish(self, request: Request, id: int) -> Any:
        """`POST /api/v1/drafts/:id/publish`: fails with the same errors as publishing a post; the draft then stays."""
        author, key = find_author(self.account_id), request.headers.get("Idempotency-Key")
        return present_status(publish_saved(author=author, draft_id=id, idempotency_key=key), self.account_id)
