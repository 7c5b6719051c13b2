"""Helpers that create rows of every model, for tests of all admin pages."""

from datetime import UTC, datetime
from typing import Any

from django.db import models

from accounts.copies.models import QuarantinedFile
from accounts.models import User
from moderation.models import Appeal, Report, Strike
from statuses.models import HeldMedia, HeldPost
from tests.factories.accounts import make_remote, make_user
from tests.factories.statuses import make_media, make_status
from timelines.models import Trend

MOMENT = datetime(2026, 11, 20, 12, tzinfo=UTC)
#: Values that a row of a model needs in addition to those that `made` derives.
VALUES: dict[str, dict[str, Any]] = {
    "accounts.IpBlock": {"network": "198.51.100.0/24", "first": "198.51.100.0", "last": "198.51.100.255"},
    "accounts.QuarantinedFile": {"sha256": "0" * 64, "reason": "Bad.1"},
    "accounts.SpamRule": {"name": "Casinos", "words": ["casino"]},
    "timelines.Trend": {"kind": "status"},
}
_LETTERS = (models.TextField, models.CharField)


def made(model: type[models.Model]) -> models.Model:
    """Return an existing row of a model, or a new one with a value in each column that needs one."""
    found = model._default_manager.first()
    if found is not None:
        return found
    values = dict(VALUES.get(model._meta.label, {}))
    for field in model._meta.concrete_fields:
        has_default = field.has_default() or field.db_default is not models.NOT_PROVIDED
        if field.name in values or field.primary_key or field.null or has_default:
            continue
        if isinstance(field, models.ForeignKey):
            values[field.name] = made(field.related_model)
        elif field.choices:
            values[field.name] = next(value for value, _words in field.choices if value)
        elif isinstance(field, _LETTERS):
            values[field.name] = "example"
        elif isinstance(field, models.DateTimeField):
            values[field.name] = MOMENT
        elif isinstance(field, models.DateField):
            values[field.name] = MOMENT.date()
        elif isinstance(field, models.BooleanField):
            values[field.name] = False
        elif isinstance(field, models.JSONField):
            values[field.name] = {}
        else:
            values[field.name] = 1
    return model._default_manager.create(**values)


def scene() -> User:
    """Create content for every page, and return the owner."""
    boss, ada = make_user("boss", role="Owner"), make_user("ada").account
    User.objects.filter(pk=make_user("waiting").pk).update(approved=False, sign_up_reason="I like trees")
    zoe = make_remote("zoe", "there.example")
    post = make_status(ada, "Buy #this now https://shop.example/", media=[make_media(ada, "A shop"), make_media(ada)])
    make_status(ada, "Secret", visibility="private", sensitive=True, spoiler_text="careful", reply_to=post)
    for target in (ada, zoe):
        Report.objects.create(account=boss.account, target_account=target, status_ids=[post.id], comment="Spam")
    strike = Strike.objects.create(target_account=ada, account=boss.account, action="silence", text="Too much")
    Appeal.objects.create(strike=strike, account=ada, text="I did not")
    held = HeldPost.objects.create(
        account=ada, rule_name="Casinos", visibility="public", excerpt="casino", written_at=MOMENT
    )
    HeldMedia.objects.create(held=held, media=make_media(ada, "A casino"))
    QuarantinedFile.objects.create(
        sha256="1" * 64, source="upload", account=ada, reason="Bad.1", content_type="image/png"
    )
    Trend.objects.create(kind="status", object_id=post.id, score=3)
    return boss
