from django.http import HttpResponse
from django.utils.translation import gettext as _
from rest_framework.request import Request

from moderation.queries.announcements import find_shown, list_shown, show
from moderation.serializers.announcement import present_announcements
from moderation.services.announcements import add_reaction, dismiss_announcement, remove_reaction
from social.api.access import optional_user, user
from social.api.admission import admission_of
from social.api.declarations import EMPTY, Endpoint
from social.api.responses import reply
from social.api.viewsets import ApiViewSet
from social.kernel.errors import Invalid


def require_any_user(request: Request) -> None:
    """Raise an error unless the caller has a user's token of any scope: 422 without a token (contract)."""
    admission = admission_of(request)
    if admission is None or admission.identity is None:
        raise Invalid(_("This method requires an authenticated user"))
    # A viewset's `caller` would be None for a disabled user, who must get the reason for the refusal.
    user().check(admission.identity)


class AnnouncementsViewSet(ApiViewSet):
    endpoints = {
        "list": Endpoint(optional_user(), "Announcement", many=True),
        "dismiss": Endpoint(user("write:accounts"), EMPTY),
        "react": Endpoint(user("write:favourites"), EMPTY),
        "unreact": Endpoint(user("write:favourites"), EMPTY),
    }

    def list(self, request: Request) -> HttpResponse:
        """The announcements of this server, oldest first. Requires a user's token of any scope; 422 without a token
        (contract).
        """
        require_any_user(request)
        return reply(present_announcements(show(list(list_shown()), self.account_id)))

    def dismiss(self, request: Request, id: int) -> HttpResponse:
        """Mark an announcement as read."""
        dismiss_announcement(account_id=self.account_id, announcement=find_shown(id))
        return reply({})

    def react(self, request: Request, id: int, name: str) -> HttpResponse:
        """React to an announcement with an emoji."""
        add_reaction(account_id=self.account_id, announcement=find_shown(id), name=name)
        return reply({})

    def unreact(self, request: Request, id: int, name: str) -> HttpResponse:
        """Remove a reaction."""
        remove_reaction(account_id=self.account_id, announcement=find_shown(id), name=name)
        return reply({})
