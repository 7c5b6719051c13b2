"""The URLs of the pages on which people change their own account; their paths are the ones to which clients link."""

from django.urls import path, re_path

from accounts.identity.pages.deletion import deleted, deletion
from accounts.identity.pages.invitations import expire, invitations
from accounts.identity.queries.tokens import SignInState
from accounts.pages import known_paths
from accounts.pages.front_page import apps, follow, settings_index
from accounts.pages.member import ACTIVE, LET_IN, member_page
from accounts.pages.profile_settings import (
    feature,
    notification_mails,
    preferences,
    profile_settings,
    unfeature,
    unsubscribe,
)
from accounts.pages.relation_lists import domain_blocks, people
from accounts.pages.relations import act_on_person
from accounts.pages.settings import settings_page
from accounts.pages.settings_forms import PROFILE_MAX_BODY
from accounts.transfers.urls import urlpatterns as transfers
from social.pages.views import View, page

# States in which people can delete their account. Suspended people cannot, because staff may still be examining what they did.
DELETABLE = (SignInState.ACTIVE, SignInState.MOVED, SignInState.UNCONFIRMED, SignInState.UNAPPROVED)


def _active(view: View, max_body: int = 0) -> View:
    return settings_page(view, states=ACTIVE, max_body=max_body)


urlpatterns = [
    *transfers,
    path("settings", settings_page(settings_index), name="settings_index"),
    path("apps", member_page(apps, states=LET_IN), name="apps"),
    *(path(name, member_page(people), {"name": name}, name=name) for name in ("follow_requests", "mutes", "blocks")),
    path("domain_blocks", member_page(domain_blocks), name="domain_blocks"),
    path("people/<int:id>/act", member_page(act_on_person), name="act_on_person"),
    path("welcome/follow", _active(follow), name="follow_suggested"),
    path("settings/profile", _active(profile_settings, PROFILE_MAX_BODY), name="settings_profile"),
    path("settings/profile/tags", _active(feature), name="settings_feature_tag"),
    path("settings/profile/tags/<int:featured_tag_id>", _active(unfeature), name="settings_unfeature_tag"),
    path("settings/preferences", _active(preferences), name="settings_preferences"),
    path("settings/preferences/notifications", _active(notification_mails), name="settings_notification_mails"),
    path("unsubscribe/<str:signed>", page(unsubscribe), name="mail_unsubscribe"),
    path("settings/delete", settings_page(deletion, states=DELETABLE), name="settings_delete"),
    path("settings/deleted", page(deleted), name="account_deleted"),
    re_path(r"^accounts/(?P<id>[0-9]{1,19})(?:/(?P<tab>[a-z_]*))?/?$", page(known_paths.person)),
    path("relationships", member_page(known_paths.relationships)),
    path("pinned", member_page(known_paths.pinned)),
    path("invites", _active(invitations), name="invitations"),
    path("invites/<int:invite_id>/expire", _active(expire), name="expire_invitation"),
]
