"""The URLs of the pages on which people change their own account; their paths are the ones to which clients link."""

from __future__ import annotations

from django.urls import path, re_path
from django.views.generic import RedirectView

from accounts.pages.front_page import follow, settings_index
from accounts.pages.invitations import expire, invitations
from accounts.pages.profile_forms import PROFILE_MAX_BODY
from accounts.pages.profile_settings import feature, notification_mails, preferences, profile_settings, unfeature
from accounts.pages.settings import settings_page
from accounts.pages.settings_forms import IMPORT_MAX_BODY
from accounts.pages.unsubscribing import unsubscribe
from accounts.queries.tokens import SignInState
from accounts.transfers.pages.files import (
    archive,
    ask_for_archive,
    drop,
    ended_followers,
    ended_follows,
    export_list,
    exports,
    failures,
    imports,
    one_import,
    severances,
    start,
)
from accounts.transfers.pages.migration import aliases, cancel_migration, deleted, deletion, forget_alias, migration
from social.pages.views import View, page

ACTIVE = (SignInState.ACTIVE,)
MOVING = (SignInState.ACTIVE, SignInState.MOVED)
# Suspended accounts are left out, because staff may still be examining their posts and actions.
DELETABLE = (SignInState.ACTIVE, SignInState.MOVED, SignInState.UNCONFIRMED, SignInState.UNAPPROVED)


def _active(view: View, max_body: int = 0) -> View:
    return settings_page(view, states=ACTIVE, max_body=max_body)


urlpatterns = [
    path("settings", settings_page(settings_index), name="settings_index"),
    path("welcome/follow", _active(follow), name="follow_suggested"),
    path("settings/profile", _active(profile_settings, PROFILE_MAX_BODY), name="settings_profile"),
    path("settings/profile/tags", _active(feature), name="settings_feature_tag"),
    path("settings/profile/tags/<int:featured_tag_id>", _active(unfeature), name="settings_unfeature_tag"),
    path("settings/preferences", _active(preferences), name="settings_preferences"),
    path("settings/preferences/notifications", _active(notification_mails), name="settings_notification_mails"),
    path("unsubscribe/<str:signed>", page(unsubscribe), name="mail_unsubscribe"),
    path("settings/export", settings_page(exports), name="settings_export"),
    path("settings/exports/<slug:name>.csv", settings_page(export_list), name="settings_export_list"),
    path("settings/export/archives", settings_page(ask_for_archive), name="settings_archives"),
    path("settings/export/archives/<int:archive_id>", settings_page(archive), name="settings_archive"),
    path("settings/imports", _active(imports, IMPORT_MAX_BODY), name="settings_imports"),
    path("settings/imports/<int:import_id>", _active(one_import), name="settings_import"),
    path("settings/imports/<int:import_id>/start", _active(start), name="settings_start_import"),
    path("settings/imports/<int:import_id>/drop", _active(drop), name="settings_drop_import"),
    path("settings/imports/<int:import_id>/failures.csv", _active(failures), name="settings_import_failures"),
    path("settings/migration", settings_page(migration, states=MOVING), name="settings_migration"),
    path("settings/migration/cancel", settings_page(cancel_migration, states=MOVING), name="settings_cancel_migration"),
    path("settings/aliases", settings_page(aliases, states=MOVING), name="settings_aliases"),
    path("settings/aliases/remove", settings_page(forget_alias, states=MOVING), name="settings_forget_alias"),
    path("severed_relationships", settings_page(severances), name="severances"),
    path(
        "severed_relationships/<int:severed_id>/following.csv",
        settings_page(ended_follows),
        name="severed_following",
    ),
    path(
        "severed_relationships/<int:severed_id>/followers.csv",
        settings_page(ended_followers),
        name="severed_followers",
    ),
    path("settings/delete", settings_page(deletion, states=DELETABLE), name="settings_delete"),
    path("settings/deleted", page(deleted), name="account_deleted"),
    # Paths that applications open in a browser (clients.md), where this server has the pages under other paths.
    path("auth/edit", RedirectView.as_view(pattern_name="account_change_password")),
    re_path(
        r"^(?:filters|settings/preferences/(?:appearance|other|posting_defaults))/?$",
        RedirectView.as_view(pattern_name="settings_preferences"),
    ),
    path("invites", _active(invitations), name="invitations"),
    path("invites/<int:invite_id>/expire", _active(expire), name="expire_invitation"),
]
