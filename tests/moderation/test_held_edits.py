"""Tests of the files of a held edit: they are stored as long as the edit, and attached when it is approved."""

import io
from pathlib import Path
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from accounts.models import User
from accounts.policies.staff import OPERATOR
from accounts.spam.models import RuleOutcome, RuleSubject
from accounts.spam.policies import SpamRuleDraft
from accounts.spam.services.rules import create_rule
from moderation.queries.waiting import list_files
from social.kernel.errors import Conflict
from social.kernel.media import storage
from statuses.models import HeldPost, MediaAttachment, MediaType, Status
from statuses.services import moderating, revising
from statuses.services.media import MediaUpload, SentFile, remove_unattached, upload_media
from statuses.services.moderating import approve_held, discard_held, version_of
from tests.factories.accounts import make_token, make_user
from tests.factories.recordings import sample
from tests.factories.statuses import make_media, make_status, picture
from tests.support.client import Api, signed_in
from tests.support.work import work

pytestmark = pytest.mark.django_db


@pytest.fixture
def zoe(settings: Any, tmp_path: Path) -> User:
    """A user whose edits are held if they contain the word "casino"."""
    settings.MEDIA_ROOT = tmp_path
    draft = SpamRuleDraft(name="casino", subject=RuleSubject.POSTS, outcome=RuleOutcome.HOLD, words=("casino",))
    create_rule(by=OPERATOR, draft=draft, enabled=True)
    return make_user("zoe")


def sound(zoe: User) -> MediaAttachment:
    """Upload a recording with a preview picture."""
    sent = SentFile(io.BytesIO(sample("audio/wav")), "audio/wav")
    cover = SentFile(io.BytesIO(picture(50, 50)), "image/png")
    media = upload_media(account_id=zoe.account_id, upload=MediaUpload(sent, thumbnail=cover))
    work()
    media.refresh_from_db()
    return media


def edited(zoe: User, post: Status, text: str, media: MediaAttachment, width: int | None = None) -> int:
    """Edit a post, optionally with a new preview picture of this width, and return the status of the response."""
    fields: dict[str, Any] = {"status": text, "media_ids[]": str(media.id)}
    if width is not None:
        fields |= {
            "media_attributes[][id]": str(media.id),
            "media_attributes[][thumbnail]": SimpleUploadedFile("x.png", picture(width, 30), "image/png"),
        }
    answer = Api(make_token(zoe)).upload("PUT", f"/api/v1/statuses/{post.id}", **fields)
    return int(answer.status_code)


def pass_days() -> int:
    """Let every file exceed the lifetime of unattached files, and return how many were removed."""
    MediaAttachment.objects.update(unattached_at="2020-01-01T00:00:00Z")
    return remove_unattached()


def width_of(media: MediaAttachment) -> int:
    media.refresh_from_db()
    assert storage.exists(media.preview)
    return int(media.meta["small"]["width"])


def test_a_new_preview_picture_of_a_held_edit_is_shown_after_its_approval(
    zoe: User, django_capture_on_commit_callbacks: Any
) -> None:
    media = sound(zoe)
    post = make_status(zoe.account, "harmless", media=[media])
    before = media.preview
    assert edited(zoe, post, "a casino", media, 80) == 422
    assert edited(zoe, post, "the casino", media, 90) == 422
    assert (width_of(media), pass_days()) == (50, 1), "the picture of the first edit is no longer used"
    with django_capture_on_commit_callbacks(execute=True):
        approve_held(by=OPERATOR, held=HeldPost.objects.get())
    assert width_of(media) == 90
    assert [file.id for file in MediaAttachment.objects.all()] == [media.id]
    assert not storage.exists(before)


def test_discarding_an_edit_removes_its_preview_picture(zoe: User) -> None:
    media = sound(zoe)
    post = make_status(zoe.account, "harmless", media=[media])
    assert edited(zoe, post, "a casino", media, 80) == 422
    drawn = MediaAttachment.objects.exclude(id=media.id).get().preview
    discard_held(by=OPERATOR, held=HeldPost.objects.get())
    assert (pass_days(), storage.exists(drawn), width_of(media)) == (1, False, 50)


@pytest.mark.parametrize("sensitive", [False, True])
def test_staff_see_new_files_of_held_posts_covered_if_the_author_covers_them(
    zoe: User, settings: Any, sensitive: bool
) -> None:
    settings.STAFF_SECOND_FACTOR = False
    files = [make_media(zoe.account, f"Number {number}") for number in range(2)]
    post, recording = make_status(zoe.account, "harmless"), sound(zoe)
    api = Api(make_token(zoe))
    body = {"status": "a casino", "sensitive": sensitive}
    assert api.put(f"/api/v1/statuses/{post.id}", body | {"media_ids": [str(files[0].id)]}).status_code == 422
    assert api.post("/api/v1/statuses", body | {"media_ids": [str(files[1].id)]}).status_code == 422
    other = make_status(zoe.account, "another", media=[recording])
    assert edited(zoe, other, "the casino", recording, 80) == 422
    staff = signed_in(make_user("boss", role="Owner"))
    for held in HeldPost.objects.order_by("id"):
        page = staff.get(f"/admin/statuses/heldpost/{held.pk}/change/").content.decode()
        (media,) = list_files(held)
        assert f'src="{storage.url(media.preview)}"' in page
        assert ('class="staff-covered"' in page) is (sensitive and held.status_id != other.id)


def test_a_new_file_of_a_held_edit_is_stored_with_it_and_in_no_other_post(zoe: User) -> None:
    media = make_media(zoe.account)
    post, other = make_status(zoe.account, "harmless"), make_status(zoe.account, "another")
    assert edited(zoe, post, "a casino", media) == 422
    assert pass_days() == 0
    assert edited(zoe, other, "mine", media) == 422
    assert not HeldPost.objects.filter(status=other).exists()
    assert edited(zoe, post, "the casino", media) == 422, "the same post can be edited again"
    approve_held(by=OPERATOR, held=HeldPost.objects.get())
    assert list(MediaAttachment.objects.values_list("status_id", "type")) == [(post.id, MediaType.IMAGE)]


@pytest.mark.parametrize("is_edit", [False, True])
def test_row_73_staff_approve_no_file_whose_description_changed_after_they_looked(zoe: User, is_edit: bool) -> None:
    api, media = Api(make_token(zoe)), make_media(zoe.account)
    body = {"status": "a casino", "media_ids": [str(media.id)]}
    if is_edit:
        post = make_status(zoe.account, "harmless")
        assert api.put(f"/api/v1/statuses/{post.id}", body).status_code == 422
    else:
        assert api.post("/api/v1/statuses", body).status_code == 422
    seen = HeldPost.objects.get()
    version = version_of(seen)
    assert api.put(f"/api/v1/media/{media.id}", {"description": "worse"}).status_code == 200
    assert version_of(HeldPost.objects.get()) != version


@pytest.mark.parametrize("is_edit", [False, True])
def test_row_73_a_file_that_changes_during_the_approval_is_not_published(
    zoe: User, monkeypatch: pytest.MonkeyPatch, is_edit: bool
) -> None:
    """The author of a held post can make the decision take seconds, by mentioning an account on a slow server."""
    api, media = Api(make_token(zoe)), make_media(zoe.account)
    body = {"status": "a casino", "media_ids": [str(media.id)]}
    if is_edit:
        post = make_status(zoe.account, "harmless")
        assert api.put(f"/api/v1/statuses/{post.id}", body).status_code == 422
    else:
        assert api.post("/api/v1/statuses", body).status_code == 422

    def composed(*args: Any, **kwargs: Any) -> Any:
        MediaAttachment.objects.filter(id=media.id).update(description="worse")
        return compose(*args, **kwargs)

    module, compose = (revising, revising.compose_content) if is_edit else (moderating, moderating.compose)
    monkeypatch.setattr(module, compose.__name__, composed)
    with pytest.raises(Conflict):
        approve_held(by=OPERATOR, held=HeldPost.objects.get())
    assert HeldPost.objects.exists()
    assert not MediaAttachment.objects.filter(status__isnull=False).exists()
