"""Accounts that somebody may like to follow, over HTTP: the directory and suggestions."""

from __future__ import annotations

from typing import Any, Final

from django.http import HttpResponse
from rest_framework.request import Request

from accounts.queries.discovery import list_directory, load_suggestions
from accounts.serializers.discovery import SuggestionSerializer
from accounts.serializers.inputs.discovery import DirectoryInput
from accounts.serializers.presenting import present_accounts
from accounts.services.suggestions import dismiss_suggestion
from social.api.access import optional_user, user
from social.api.declarations import EMPTY, Endpoint
from social.api.pagination import ByOffset, Limit
from social.api.viewsets import ApiViewSet
from social.kernel.ids import parse_id

# The time of Mastodon's release 3.4, in seconds.
_SINCE_3_4 = 1621123200
_PAGES: Final = ByOffset(Limit(40, 80))


class DiscoveryViewSet(ApiViewSet):
    """`/api/v1/directory` and `/api/v1/suggestions`, `/api/v2/suggestions`."""

    endpoints = {
        "directory": Endpoint(optional_user(), "Account", many=True, input=DirectoryInput, paging=_PAGES),
        "suggestions": Endpoint(user("read:accounts"), "Suggestion", many=True, paging=_PAGES),
        "suggested_accounts": Endpoint(
            user("read:accounts"), "Account", many=True, paging=_PAGES, deprecated=_SINCE_3_4
        ),
        "dismiss": Endpoint(user("write:accounts"), EMPTY),
    }

    def directory(self, request: Request) -> HttpResponse:
        """People who want to be found."""
        form = DirectoryInput.read(request)
        ids = list_directory(self.viewer_id, order=form.order or "active", local=form.local).values_list(
            "id", flat=True
        )
        page = self.paginate(ids)
        return page.respond(list(present_accounts(page.items, self.viewer_id).values()))

    def suggestions(self, request: Request) -> HttpResponse:
        """Whom one may like to follow, and why."""
        page = self.paginate(load_suggestions(self.account_id))
        accounts = present_accounts([found.account_id for found in page.items], self.viewer_id)
        shown = [found for found in page.items if found.account_id in accounts]
        return page.respond(SuggestionSerializer(shown, many=True, context={"accounts": accounts}).data)

    def suggested_accounts(self, request: Request) -> HttpResponse:
        """Whom one may like to follow."""
        page = self.paginate(load_suggestions(self.account_id))
        accounts = present_accounts([found.account_id for found in page.items], self.viewer_id)
        return page.respond(list(accounts.values()))

    def dismiss(self, request: Request, account: str) -> Any:
        """Suggest somebody no more; whom nobody knows is not suggested either."""
        target_id = parse_id(account)
        if target_id is not None:
            dismiss_suggestion(account_id=self.account_id, target_id=target_id)
        return {}
