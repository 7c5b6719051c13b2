"""Tests of removing cards that no post uses, and the pictures of old cards."""

from datetime import timedelta
from pathlib import Path

import pytest
from django.core.management import call_command

from accounts.models import Account
from social.kernel import clock
from statuses.models import PreviewCard
from statuses.services.cards import remove_unused_cards
from statuses.services.deleting import delete_status
from tests.factories.statuses import picture
from tests.statuses.services.cards import ARTICLE, card_of, fetch_now, link_to
from tests.support.site import Site

pytestmark = pytest.mark.usefixtures("media_root")


def test_cards_that_no_post_shows_are_removed_after_two_weeks(stranger: Account, site: Site, media_root: Path) -> None:
    site.show("/picture.png", picture(), Content_Type="image/png")
    kept, gone = link_to(stranger, site.show("/1", ARTICLE)), link_to(stranger, site.show("/2", ARTICLE))
    fetch_now()
    delete_status(status_id=gone.id)
    assert remove_unused_cards() == 0
    old = clock.now() - timedelta(days=15)
    PreviewCard.objects.update(fetched_at=old, created_at=old)
    assert remove_unused_cards() == 1
    assert card_of(kept)["title"] == "Great & small"
    assert len([path for path in media_root.rglob("*") if path.is_file()]) == 1


def test_pictures_of_old_cards_are_removed_by_a_command(
    stranger: Account, site: Site, media_root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site.show("/picture.png", picture(), Content_Type="image/png")
    status = link_to(stranger, site.show("/1", ARTICLE))
    fetch_now()
    PreviewCard.objects.update(fetched_at=clock.now() - timedelta(days=200))
    call_command("remove_preview_cards", "--days", "300")
    call_command("remove_preview_cards", "--dry-run")
    assert card_of(status)["image"]
    call_command("remove_preview_cards")
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "0 pictures"
    assert [line.partition(",")[0] for line in said[1:]] == ["1 picture", "1/1", "1 picture"]
    assert (card_of(status)["image"], card_of(status)["title"]) == (None, "Great & small")
    assert [path for path in media_root.rglob("*") if path.is_file()] == []
    link_to(stranger, f"{site.address}/1")
    fetch_now()
    assert card_of(status)["image"]
