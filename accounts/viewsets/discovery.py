"""Accounts that somebody may like to follow, over HTTP: the directory and suggestions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from django.http import HttpResponse
from rest_framework.request import Request

from accounts.queries.cards import load_cards
from accounts.queries.discovery import list_directory, load_suggestions
from accounts.serializers.presenting import present_cards
from accounts.services.suggestions import dismiss_suggestion
from social.api.access import optional_user, user
from social.api.declarations import EMPTY, Endpoint
from social.api.inputs import ClientBoolean, ClientString, Input
from social.api.pagination import ByOffset, Limit
from social.api.viewsets import ApiViewSet

_PAGES: Final = ByOffset(Limit(40, 80))
# The first name is what older clients know.
_OLD_SOURCES: Final = {"friends_of_friends": "past_interactions", "most_followed": "global"}


@dataclass(frozen=True)
class DirectoryForm:
    """What of the directory is wanted."""

    order: str = "active"
    local: bool = False


class DirectoryInput(Input[DirectoryForm]):
    """`order` is "active" or "new"."""

    draft = DirectoryForm
    order = ClientString()
    local = ClientBoolean()


class DiscoveryViewSet(ApiViewSet):
    """`/api/v1/directory` and `/api/v1/suggestions`, `/api/v2/suggestions`."""

    endpoints = {
        "directory": Endpoint(optional_user(), "Account", many=True, input=DirectoryInput, paging=_PAGES),
        "suggestions": Endpoint(user("read:accounts"), "Suggestion", many=True, paging=_PAGES),
        "suggested_accounts": Endpoint(user("read:accounts"), "Account", many=True, paging=_PAGES),
        "dismiss": Endpoint(user("write:accounts"), EMPTY),
    }

    def directory(self, request: Request) -> HttpResponse:
        """People who want to be found."""
        form = DirectoryInput.read(request)
        ids = list_directory(self.viewer_id, order=form.order or "active", local=form.local).values_list(
            "id", flat=True
        )
        page = self.paginate(ids)
        return page.respond(list(_entities(page.items, self.viewer_id).values()))

    def suggestions(self, request: Request) -> HttpResponse:
        """Whom one may like to follow, and why."""
        page = self.paginate(load_suggestions(self.account_id))
        entities = _entities([found.account_id for found in page.items], self.viewer_id)
        return page.respond(
            [
                {
                    "source": _OLD_SOURCES[found.source],
                    "sources": [found.source],
                    "account": entities[found.account_id],
                }
                for found in page.items
                if found.account_id in entities
            ]
        )

    def suggested_accounts(self, request: Request) -> HttpResponse:
        """Whom one may like to follow."""
        page = self.paginate(load_suggestions(self.account_id))
        response = page.respond(list(_entities([found.account_id for found in page.items], self.viewer_id).values()))
        response.headers["Deprecation"] = "@1621123200"
        return response

    def dismiss(self, request: Request, account_id: int) -> Any:
        """Suggest somebody no more."""
        dismiss_suggestion(account_id=self.account_id, target_id=account_id)
        return {}


def _entities(account_ids: Sequence[int], viewer_id: int | None) -> dict[int, Any]:
    """The entities by id, in the order of the ids."""
    found = present_cards(load_cards(account_ids, viewer_id))
    return {number: found[number] for number in account_ids if number in found}
