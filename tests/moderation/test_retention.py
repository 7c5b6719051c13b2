"""Tests of the retention of personal data: it is deleted after the configured number of days, but evidence is kept and can be
exported.
"""

import hashlib
import json
import zipfile
from datetime import timedelta
from io import BytesIO, StringIO
from pathlib import Path
from typing import Any

import pytest
from allauth.usersessions.models import UserSession
from django.contrib.sessions.models import Session
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import DatabaseError, connection, transaction

from accounts.models import Account, AuditEntry, User
from accounts.policies.staff import OPERATOR, staff_of
from accounts.services.sanctions import hold_account
from moderation.models import Report
from moderation.services.evidence import export_evidence
from moderation.services.retention import clean_up, count_due
from social.kernel import clock
from social.kernel.errors import Conflict, Forbidden, Invalid
from statuses.models import HeldPost
from tests.factories.accounts import make_user
from tests.factories.statuses import make_media, make_status

pytestmark = pytest.mark.django_db
NOTHING = {"addresses": 0, "audit_entries": 0, "reports": 0, "held_posts": 0}


def ago(days: int) -> Any:
    return clock.now() - timedelta(days=days)


def seen(user: User, key: str, days: int) -> None:
    Session.objects.create(session_key=key, session_data="", expire_date=clock.now() + timedelta(days=1))
    UserSession.objects.create(user=user, session_key=key, ip="192.0.2.1", user_agent="x", last_seen_at=ago(days))


def noted(account: Account, days: int) -> None:
    AuditEntry.objects.create(
        account_name="x",
        action="old",
        target_type="Account",
        target_id=account.id,
        target_name="x",
        created_at=ago(days),
    )


def scene(name: str) -> User:
    """Create a user with one item of each kind of personal data that is due for deletion, and one that is not."""
    user, boss = make_user(name), make_user(f"boss_{name}")
    User.objects.filter(id=user.id).update(sign_up_ip="192.0.2.7", created_at=ago(400))
    User.objects.filter(id=boss.id).update(sign_up_ip="192.0.2.8", created_at=ago(300))
    seen(user, f"old{name}", 400)
    seen(user, f"new{name}", 1)
    noted(user.account, 400)
    for days in (400, 1):
        Report.objects.create(account=boss.account, target_account=user.account, action_taken_at=ago(days))
        HeldPost.objects.create(
            account=user.account, document="{}", rule_name="x", visibility="public", excerpt="", written_at=ago(days),
            created_at=ago(days),
        )  # fmt: skip
    Report.objects.create(account=boss.account, target_account=user.account)
    return user


def test_data_older_than_its_retention_is_deleted_unless_the_account_is_held(settings: Any) -> None:
    settings.KEEP_AUDIT_LOG_DAYS = settings.KEEP_CLOSED_REPORTS_DAYS = 365
    ann, held = scene("ann"), scene("held")
    hold_account(by=OPERATOR, account=held.account, reason="court")
    due = {"addresses": 2, "audit_entries": 1, "reports": 1, "held_posts": 1}
    assert count_due() == due
    assert clean_up() == due
    assert count_due() == clean_up() == NOTHING
    assert list(User.objects.filter(sign_up_ip__isnull=False, account__username__in=["ann", "held"])) == [held]
    assert set(Session.objects.values_list("session_key", flat=True)) == {"newann", "oldheld", "newheld"}
    assert set(AuditEntry.objects.filter(action="old").values_list("target_id", flat=True)) == {held.account_id}
    for model in (Report, HeldPost):
        rest = model.objects.filter(**{"target_account" if model is Report else "account": ann.account})
        assert rest.count() == (2 if model is Report else 1)


def test_the_defaults_keep_reports_and_the_audit_log_and_zero_keeps_everything(settings: Any) -> None:
    scene("ann")
    assert count_due() == NOTHING | {"addresses": 2, "held_posts": 1}
    settings.KEEP_ADDRESSES_DAYS = settings.KEEP_HELD_POSTS_DAYS = 0
    assert clean_up() == NOTHING
    for sql in ("DELETE FROM accounts_auditentry", "UPDATE accounts_auditentry SET action = ''"):
        with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(sql)


def export(account: Account, **values: Any) -> dict[str, Any]:
    target = BytesIO()
    export_evidence(**{"by": OPERATOR, "account": account, "reason": "court 12/26", "to": target} | values)
    with zipfile.ZipFile(target) as archive:
        assert archive.testzip() is None
        members = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(members["manifest.json"])
    for name, said in manifest["files"].items():
        assert said["sha256"] == hashlib.sha256(members[name]).hexdigest()
    assert set(manifest["files"]) == set(members) - {"manifest.json"}
    return members


def posts(members: dict[str, bytes]) -> list[str]:
    return [post["text"] for name in members if name.startswith("posts/") for post in json.loads(members[name])]


def test_evidence_contains_reported_posts_or_everything_of_a_held_account(settings: Any) -> None:
    boss, ann = make_user("boss", role="Owner"), make_user("ann")
    reported = make_status(ann.account, "a secret", visibility="direct", media=[make_media(ann.account)])
    make_status(ann.account, "nobody's business", visibility="private")
    with pytest.raises(Conflict):
        export(ann.account)
    Report.objects.create(account=boss.account, target_account=ann.account, status_ids=[reported.id], comment="bad")
    for wrong, error in (({"reason": " "}, Invalid), ({"by": staff_of(ann)}, Forbidden)):
        with pytest.raises(error):
            export(ann.account, **wrong)
    members = export(ann.account, by=staff_of(boss))
    assert posts(members) == ["a secret"]
    assert sum(name.startswith("media/") for name in members) == 1
    assert json.loads(members["addresses.json"])["email"] == "ann@example.com"
    assert json.loads(members["reports.json"])[0]["comment"] == "bad"
    assert "boss" not in members["reports.json"].decode(), "the reporter is not part of the evidence"
    entry = AuditEntry.objects.get(action="export")
    assert (entry.account_id, entry.target_name, entry.details["reason"]) == (boss.account_id, "@ann", "court 12/26")
    assert AuditEntry.objects.filter(action="view", target_id=reported.id).exists(), "viewing a direct post is audited"
    hold_account(by=staff_of(boss), account=ann.account, reason="court")
    assert posts(export(ann.account)) == ["a secret", "nobody's business"]


def test_operators_export_evidence_into_a_file_that_only_they_can_read(tmp_path: Path) -> None:
    ann = make_user("ann")
    path, out = tmp_path / "ann.zip", StringIO()
    words = ("export_evidence", "ann", "--reason", "court", "--output", str(path))
    with pytest.raises(CommandError):
        call_command(*words)
    assert not path.exists()
    hold_account(by=OPERATOR, account=ann.account, reason="court")
    call_command(*words, stdout=out, stderr=StringIO())
    assert out.getvalue().split() == [hashlib.sha256(path.read_bytes()).hexdigest(), str(path)]
    assert path.stat().st_mode & 0o077 == 0
    with pytest.raises(CommandError):
        call_command(*words)
