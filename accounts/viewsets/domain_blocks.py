"""Servers whose people one wants nothing to do with, over HTTP."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from rest_framework.request import Request

from accounts.queries.networks import count_follows_with
from accounts.queries.relations import list_blocked_domains
from accounts.queries.users import find_own_account
from accounts.serializers.domain_block import DomainBlockPreviewSerializer
from accounts.serializers.inputs.domain_blocks import DomainInput
from accounts.services.blocking import block_domain, unblock_domain
from social.api.access import user
from social.api.declarations import EMPTY, Endpoint
from social.api.pagination import ByCursor, Limit
from social.api.viewsets import ApiViewSet


class DomainBlocksViewSet(ApiViewSet):
    """`/api/v1/domain_blocks`."""

    endpoints = {
        "list": Endpoint(
            user("read:blocks", "follow"), "Text", many=True, paging=ByCursor(Limit(100, 200), prev="since_id")
        ),
        "preview": Endpoint(user("write:blocks", "follow"), "DomainBlockPreview", input=DomainInput),
        "create": Endpoint(user("write:blocks", "follow"), EMPTY, input=DomainInput),
        "destroy": Endpoint(user("write:blocks", "follow"), EMPTY, input=DomainInput),
    }

    def list(self, request: Request) -> HttpResponse:
        """The servers one blocks, newest first."""
        page = self.paginate(list_blocked_domains(self.account_id))
        return page.respond([block.domain for block in page.items])

    def preview(self, request: Request) -> Any:
        """What blocking a server would end."""
        domain = DomainInput.read(request).domain
        return DomainBlockPreviewSerializer(count_follows_with(self.account_id, domain)).data

    def create(self, request: Request) -> Any:
        """Block a server."""
        block_domain(account=find_own_account(self.account_id), domain=DomainInput.read(request).domain)
        return {}

    def destroy(self, request: Request) -> Any:
        """Block a server no more."""
        unblock_domain(account=find_own_account(self.account_id), domain=DomainInput.read(request).domain)
        return {}
