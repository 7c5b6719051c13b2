"""Tests of the limits that keep tables from growing without end (docs/operating.md, "What grows")."""

import os
import pkgutil
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.contrib.admin.models import CHANGE, LogEntry
from django.contrib.contenttypes.models import ContentType
from django.db import connection

from accounts.identity.services.tokens import revoke_application_of_user
from accounts.models import AccessToken, Account, Application
from accounts.services.retention import KEPT_MAIL_DAYS, forget_audit_entries, forget_written_mails
from federation.inbound.processing import TOMBSTONE_LIFETIME, forget_tombstones
from federation.models import Tombstone
from notifications.models import Notification
from notifications.services.retention import forget_old
from social.kernel import clock
from social.kernel.ids import first_at
from social.schedule import SCHEDULE
from tests.factories.accounts import make_account, make_application, make_token, make_user

pytestmark = pytest.mark.django_db


def test_an_application_outlasts_its_tokens() -> None:
    """Programs store the credentials of a registered application for its next user, and would not notice its deletion."""
    user, application = make_user(), make_application()
    make_token(user, application=application)
    Application.objects.update(created=clock.now() - timedelta(days=1000))
    revoke_application_of_user(user=user, application=application)
    assert not AccessToken.objects.filter(application=application).exists()
    for entry in SCHEDULE.values():
        if entry["task"].startswith("accounts.services.") and "forget" in entry["task"]:
            pkgutil.resolve_name(entry["task"])()
    assert Application.objects.filter(id=application.id).exists()


def test_ids_of_remote_deletions_are_stored_for_a_year() -> None:
    for name, age in (
        ("old", TOMBSTONE_LIFETIME + timedelta(days=1)),
        ("known", TOMBSTONE_LIFETIME - timedelta(days=1)),
    ):
        Tombstone.objects.create(uri=name, actor_uri="https://a.example/a", created_at=clock.now() - age)
    assert forget_tombstones() == 1
    assert Tombstone.objects.get().uri == "known"


def test_notifications_are_kept_as_long_as_the_setting_says(settings: Any) -> None:
    to, by = make_account(), make_account()

    def notify(account: Account, days: int) -> int:
        at = first_at(clock.now() - timedelta(days=days))
        return Notification.objects.create(
            id=at, account=account, from_account=by, type="follow", cause=f"follow:{days}"
        ).id

    old, young = notify(to, 100), notify(to, 50)
    assert forget_old() == 0
    settings.KEEP_NOTIFICATIONS_DAYS = 60
    assert forget_old() == 1
    assert set(Notification.objects.filter(id__in=[old, young]).values_list("id", flat=True)) == {young}


def test_mails_written_to_files_are_deleted_after_a_month(settings: Any, tmp_path: Path) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.filebased.EmailBackend"
    settings.EMAIL_FILE_PATH = str(tmp_path)
    old, new, other = tmp_path / "20260101-1.log", tmp_path / "20260201-1.log", tmp_path / "notes.txt"
    for path in (old, new, other):
        path.write_text("words")
    long_ago = (clock.now() - timedelta(days=KEPT_MAIL_DAYS + 1)).timestamp()
    for path in (old, other):
        os.utime(path, (long_ago, long_ago))
    assert forget_written_mails() == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == [new.name, other.name]
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    os.utime(new, (long_ago, long_ago))
    assert forget_written_mails() == 0


def test_the_log_of_admin_forms_is_deleted_with_the_audit_log(settings: Any) -> None:
    user = make_user()
    kind = ContentType.objects.get_for_model(Account)
    for days in (400, 10):
        row = LogEntry.objects.create(user=user, content_type=kind, object_id=str(days), action_flag=CHANGE)
        LogEntry.objects.filter(id=row.id).update(action_time=clock.now() - timedelta(days=days))
    forget_audit_entries()
    assert LogEntry.objects.count() == 2
    settings.KEEP_AUDIT_LOG_DAYS = 365
    forget_audit_entries()
    assert LogEntry.objects.get().object_id == "10"


def test_the_outbox_is_vacuumed_after_a_fixed_number_of_dead_rows() -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT reloptions FROM pg_class WHERE relname = 'social_outbox'")
        (options,) = cursor.fetchone()
    assert "autovacuum_vacuum_scale_factor=0" in options
