"""Tests of the command that creates accounts, posts and a report for developers."""

import io
import re
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client

from accounts.models import User
from moderation.models import Report
from statuses.models import MediaAttachment, Status


def _seed() -> str:
    out = io.StringIO()
    call_command("seed_demo", stdout=out)
    return out.getvalue()


@pytest.mark.django_db
def test_the_demonstration_has_posts_pictures_and_a_report_and_is_made_once() -> None:
    said = _seed()
    owner = User.objects.get(account__username="demo")
    password = re.search(r"password: (\S+)", said)
    assert password is not None
    assert owner.check_password(password[1])
    assert owner.role is not None
    assert owner.role.name == "Owner"
    assert Report.objects.get().status_ids
    assert MediaAttachment.objects.filter(status__isnull=False).count() == 8
    page = Client().get("/api/v1/timelines/public").json()
    assert {post["account"]["username"] for post in page} == {
        *("demo", "amira", "jonas", "mei", "tomas", "nora", "spammer")
    }
    before = Status.objects.count()
    assert "already" in _seed()
    assert Status.objects.count() == before


def test_seed_demo_refuses_a_server_with_a_public_domain(settings: Any) -> None:
    settings.LOCAL_DOMAIN = "social.example"
    with pytest.raises(CommandError, match=r"social\.example is not this machine"):
        _seed()
