"""The URLs of the pages of imports, exports and moves."""

from __future__ import annotations

from django.urls import path

from accounts.pages.settings import ACTIVE, MOVING, settings_page
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
from accounts.transfers.pages.forms import IMPORT_MAX_BODY
from accounts.transfers.pages.migration import aliases, cancel_migration, forget_alias, migration

urlpatterns = [
    path("settings/export", settings_page(exports), name="settings_export"),
    path("settings/exports/<slug:name>.csv", settings_page(export_list), name="settings_export_list"),
    path("settings/export/archives", settings_page(ask_for_archive), name="settings_archives"),
    path("settings/export/archives/<int:archive_id>", settings_page(archive), name="settings_archive"),
    path("settings/imports", settings_page(imports, states=ACTIVE, max_body=IMPORT_MAX_BODY), name="settings_imports"),
    path("settings/imports/<int:import_id>", settings_page(one_import, states=ACTIVE), name="settings_import"),
    path("settings/imports/<int:import_id>/start", settings_page(start, states=ACTIVE), name="settings_start_import"),
    path("settings/imports/<int:import_id>/drop", settings_page(drop, states=ACTIVE), name="settings_drop_import"),
    path(
        "settings/imports/<int:import_id>/failures.csv",
        settings_page(failures, states=ACTIVE),
        name="settings_import_failures",
    ),
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
]
