"""Tests of a role's quotas: every way of creating files and posts counts, and the quotas are shown."""

import io
from base64 import b64encode
from datetime import timedelta

import pytest
from django.core import mail

from accounts.identity.services.staff import update_role
from accounts.models import Account, Role
from accounts.policies.staff import OPERATOR, RoleDraft
from social.kernel import clock
from social.kernel.errors import Invalid
from social.kernel.outbox import OutboxRow
from statuses.models import MediaAttachment, ScheduledStatus
from statuses.services import quotas
from statuses.services.media import MediaUpload, SentFile, upload_media
from statuses.services.quotas import NoRoom
from tests.factories.accounts import make_user
from tests.factories.statuses import make_media, make_reblog, make_scheduled, make_status, picture
from tests.statuses.conftest import api_of
from tests.support.client import signed_in
from tests.support.work import work

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("media_root")]
DAILY = "Validation failed: You may publish 2 posts in 24 hours"


def _limit(account: Account, **quotas: int) -> None:
    Role.objects.filter(id=account.user.role_id).update(**quotas)


def test_the_daily_number_of_posts_is_limited_for_apps_pages_drafts_and_scheduled_posts(
    alice: Account, bob: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    api, foreign = api_of(alice), make_status(bob)
    scheduled = make_scheduled(alice)
    draft = api.post("/api/v1/drafts", {"status": "a draft"}).json()
    _limit(alice, posts_per_day=2)
    first = api.post("/api/v1/statuses", {"status": "one"}).json()
    assert api.delete(f"/api/v1/statuses/{first['id']}").status_code == 200
    make_status(alice, "two")
    make_reblog(alice, foreign)
    refused = api.post("/api/v1/statuses", {"status": "three"})
    assert (refused.status_code, refused.json()["error"]) == (422, DAILY)
    assert api.post(f"/api/v1/drafts/{draft['id']}/publish", {}).json()["error"] == DAILY
    form = {"text": "three", "visibility": "public", "quote_policy": "public", "key": "k", "next": "/"}
    page = signed_in(alice.user).post("/write", form)
    assert (page.status_code, "You may publish 2 posts in 24 hours" in page.content.decode()) == (422, True)
    assert "Posts in the last 24 hours: 2 of 2." in page.content.decode()
    past = clock.now() - timedelta(hours=1)
    ScheduledStatus.objects.filter(id=scheduled.id).update(scheduled_at=past)
    OutboxRow.objects.filter(event="ScheduledStatusDue").update(due_at=past)
    work()
    assert ScheduledStatus.objects.filter(id=scheduled.id).exists()
    assert "You may publish 2 posts in 24 hours" in str(mail.outbox[0].body)
    monkeypatch.setattr(quotas, "PERIOD", timedelta())
    assert api.post(f"/api/v1/drafts/{draft['id']}/publish", {}).status_code == 200


def test_storage_for_files_is_limited_and_shown(alice: Account) -> None:
    api, media = api_of(alice), make_media(alice)
    _limit(alice, media_megabytes=1)
    make_media(alice)
    MediaAttachment.objects.filter(id=media.id).update(file_size=999_500)
    sent = f"data:image/png;base64,{b64encode(picture(400, 300)).decode()}"
    refused = api.post("/api/v2/media", {"file": sent})
    assert refused.status_code == 422
    assert "no room for this file" in refused.json()["error"]
    with pytest.raises(NoRoom):
        upload_media(account_id=alice.id, upload=MediaUpload(SentFile(io.BytesIO(picture()), "image/png")))
    assert MediaAttachment.objects.filter(account=alice).count() == 2
    role = api.get("/api/v1/accounts/verify_credentials").json()["role"]
    assert (role["media_limit"], role["daily_posts_limit"]) == (1_000_000, 0)
    assert "of 976.6" in signed_in(alice.user).get("/write").content.decode()
    MediaAttachment.objects.filter(id=media.id).delete()
    make_media(alice)


def test_staff_set_quotas_of_every_role(alice: Account) -> None:
    make_user("boss", role="Owner")
    everybody = Role.objects.get(id=-99)
    update_role(by=OPERATOR, role=everybody, draft=RoleDraft("x", everybody.permissions, 7, posts_per_day=5))
    everybody.refresh_from_db()
    assert (everybody.name, everybody.posts_per_day) == ("", 5)
    with pytest.raises(Invalid):
        update_role(by=OPERATOR, role=everybody, draft=RoleDraft("", everybody.permissions, media_megabytes=-1))
