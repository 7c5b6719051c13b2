"""Hashtags as staff see and review them, over HTTP."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.http import HttpResponse
from rest_framework.request import Request

from accounts.models import Tag
from accounts.models.user import Permission
from accounts.queries.tags import find_tag_by_id, view_tags
from accounts.services.tag_review import review_tag
from moderation.serializers.admin_tag import AdminTagSerializer
from moderation.serializers.inputs.admin_tags import TagInput
from moderation.viewsets.admin.base import AdminViewSet
from social.api import access
from social.api.declarations import Endpoint
from social.api.pagination import ByCursor, Limit
from social.api.responses import reply


class AdminTagsViewSet(AdminViewSet):
    """`/api/v1/admin/tags`."""

    endpoints = {
        "list": Endpoint(access.staff("admin:read"), "AdminTag", many=True, paging=ByCursor(Limit(100, 200))),
        "retrieve": Endpoint(access.staff("admin:read"), "AdminTag"),
        "update": Endpoint(access.staff("admin:write"), "AdminTag", input=TagInput),
    }

    def list(self, request: Request) -> HttpResponse:
        """All hashtags, the newest first."""
        self.acting(Permission.MANAGE_TAXONOMIES)
        page = self.paginate(Tag.objects.all())
        return page.respond(self._entities(page.items))

    def retrieve(self, request: Request, id: int) -> HttpResponse:
        """One hashtag."""
        self.acting(Permission.MANAGE_TAXONOMIES)
        return reply(self._entities([find_tag_by_id(id)])[0])

    def update(self, request: Request, id: int) -> HttpResponse:
        """Say how it is written, and whether it may be used, listed and shown as trending."""
        by = self.acting(Permission.MANAGE_TAXONOMIES)
        review_tag(by=by, tag=find_tag_by_id(id), change=TagInput.read(request))
        return reply(self._entities([find_tag_by_id(id)])[0])

    def _entities(self, tags: Sequence[Tag]) -> Any:
        return AdminTagSerializer(tags, many=True, context={"view": view_tags(tags, self.viewer_id)}).data
