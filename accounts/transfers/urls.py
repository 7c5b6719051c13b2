"""The URLs of imports, exports and moves: pages (`urlpatterns`) and the API of past imports."""

from django.urls import path

from accounts.pages.member import ACTIVE, MOVING
from accounts.pages.settings import settings_page
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
from accounts.transfers.pages.past import drop as drop_past
from accounts.transfers.pages.past import left_out, one_past_import, past_imports
from accounts.transfers.pages.past import start as start_past
from accounts.transfers.pages.past import undo as undo_past
from accounts.transfers.past import UPLOAD_LIMIT
from accounts.transfers.viewsets import PastImportsViewSet
from social.api.routing import endpoint

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
    path(
        "settings/past",
        settings_page(past_imports, states=ACTIVE, max_body=UPLOAD_LIMIT + IMPORT_MAX_BODY),
        name="settings_past_imports",
    ),
    path("settings/past/<int:import_id>", settings_page(one_past_import, states=ACTIVE), name="settings_past_import"),
    path("settings/past/<int:import_id>/start", settings_page(start_past, states=ACTIVE), name="settings_start_past"),
    path("settings/past/<int:import_id>/undo", settings_page(undo_past, states=ACTIVE), name="settings_undo_past"),
    path("settings/past/<int:import_id>/drop", settings_page(drop_past, states=ACTIVE), name="settings_drop_past"),
    path(
        "settings/past/<int:import_id>/left_out.csv", settings_page(left_out, states=ACTIVE), name="settings_left_out"
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
_PAST_IMPORTS = "api/v1/past_imports"
api_urlpatterns = [
    endpoint(_PAST_IMPORTS, PastImportsViewSet, {"get": "list", "post": "create"}),
    endpoint(f"{_PAST_IMPORTS}/<id>", PastImportsViewSet, {"get": "retrieve", "delete": "destroy"}),
    endpoint(f"{_PAST_IMPORTS}/<id>/start", PastImportsViewSet, {"post": "start"}),
    endpoint(f"{_PAST_IMPORTS}/<id>/undo", PastImportsViewSet, {"post": "undo"}),
    endpoint(f"{_PAST_IMPORTS}/<id>/left_out", PastImportsViewSet, {"get": "left_out"}),
]
