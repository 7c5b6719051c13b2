"""Tests of local-only posts over the client API (docs/adr/0042)."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client

from accounts.models import Account, TagUse, User
from social.kernel import clock
from statuses.events import ScheduledStatusDue
from statuses.models import MediaAttachment, ScheduledStatus, Status
from statuses.services.scheduling import publish_due
from tests.factories.accounts import make_remote
from tests.factories.statuses import make_media, make_reblog, make_remote_status, make_status
from tests.support.client import Api, signed_in
from tests.support.federation_server import needs_federation

pytestmark = pytest.mark.django_db
STATUSES = "/api/v1/statuses"


def write(api: Api, **values: Any) -> tuple[str, bool]:
    answer = api.post(STATUSES, {"status": "hello", **values})
    assert answer.status_code == 200, answer.content
    return answer.json()["visibility"], answer.json()["local_only"]


def test_the_visibility_local_is_shown_as_one_that_every_client_knows(api: Api, ann: User) -> None:
    assert write(api) == ("public", False)
    assert write(api, visibility="local") == ("public", True)
    assert write(api, local_only=True) == ("public", True)
    assert write(api, local_only="false", visibility="unlisted") == ("unlisted", False)
    assert write(api, local_only=True, visibility="private") == ("private", True)
    Account.objects.filter(id=ann.account_id).update(limited_at=clock.now())
    assert write(api, visibility="local") == ("unlisted", True)
    refused = api.post(STATUSES, {"status": "hello", "visibility": "Local"})
    assert refused.status_code == 422


def test_replies_quotes_and_boosts_of_a_local_only_post_are_local_only(api: Api, alice: Account, ann: User) -> None:
    post = make_status(alice, "near", visibility="local", quote_approval_policy="public")
    assert write(api, in_reply_to_id=str(post.id), visibility="public", local_only=False) == ("public", True)
    assert write(api, quoted_status_id=str(post.id)) == ("public", True)
    assert make_reblog(ann.account, post).local_only
    boost = api.post(f"{STATUSES}/{post.id}/reblog").json()
    assert (boost["local_only"], boost["reblog"]["local_only"]) == (True, True)
    far = make_remote_status(make_remote("zoe", "far.example"), quote_policy=1)
    assert write(api, in_reply_to_id=str(far.id), visibility="local") == ("public", True)
    refused = api.post(STATUSES, {"status": "x", "quoted_status_id": str(far.id), "visibility": "local"})
    assert refused.status_code == 422
    assert "another server" in refused.json()["error"]
    assert write(api, quoted_status_id=str(far.id)) == ("public", False)


def test_a_local_only_post_that_was_scheduled_or_held_stays_local_only(api: Api, ann: User) -> None:
    soon = clock.iso(clock.now() + timedelta(hours=1))
    answer = api.post(STATUSES, {"status": "hi", "visibility": "local", "scheduled_at": soon})
    params = answer.json()["params"]
    assert (params["visibility"], params["local_only"]) == ("local", True)
    ScheduledStatus.objects.update(scheduled_at=clock.now())
    publish_due([ScheduledStatusDue(scheduled_id=int(answer.json()["id"]), account_id=ann.account_id)])
    assert Status.objects.get().local_only


def test_local_users_find_a_local_only_post_by_hashtag_and_outsiders_get_neither_post_files_nor_counts(
    api: Api, alice: Account
) -> None:
    media = make_media(alice)
    make_status(alice, "look #sidedoor", visibility="local", media=[media])
    assert not TagUse.objects.exists(), "trends and histories are computed from these rows"
    assert Api().get("/api/v1/timelines/tag/sidedoor").json() == []
    assert len(api.get("/api/v1/timelines/tag/sidedoor").json()) == 1
    file = MediaAttachment.objects.get(id=media.id)
    assert Api().get(f"/media/{file.id}").status_code == 404


def test_the_hashtag_of_a_local_only_post_is_unknown_to_visitors_until_used_publicly(api: Api, alice: Account) -> None:
    make_status(alice, "between us #Sidedoor", visibility="private")
    make_status(alice, "look #sidedoor", visibility="local")
    make_status(alice, "look #everybody")

    def known(reader: Api) -> tuple[bool, int, int]:
        """Return whether the hashtag has an id, and the numbers of posts in the timelines that could contain the post."""
        timeline = "/api/v1/timelines/tag/"
        both = reader.get(f"{timeline}sidedoor", {"any[]": "everybody"}).json()
        return (
            reader.get("/api/v1/tags/sidedoor").json()["id"] != reader.get("/api/v1/tags/unheardof").json()["id"],
            len(reader.get(f"{timeline}everybody", {"all[]": "sidedoor"}).json()),
            len(both),
        )

    assert known(Api()) == (False, 1, 0)
    assert known(api) == (True, 0, 2)
    make_status(alice, "for everybody #sidedoor #everybody")
    assert known(Api()) == (True, 1, 2)
    make_status(alice, "again #sidedoor", visibility="local")
    assert known(Api()) == (True, 1, 2)


@needs_federation
def test_pages_offer_show_and_keep_the_local_only_visibility(ann: User) -> None:
    browser = signed_in(ann)
    sent = {"text": "near", "visibility": "local", "quote_policy": "public", "key": "one", "next": "/"}
    assert browser.post("/write", sent).status_code == 303
    post = Status.objects.get()
    assert (post.visibility, post.local_only) == ("public", True)
    mark = "Only people on this server can read this."
    assert mark in browser.get(f"/@ann/{post.id}").content.decode()
    assert Client().get(f"/@ann/{post.id}").status_code == 404
    chosen = '<option value="local" selected'
    assert chosen in browser.get(f"/write?reply_to={post.id}").content.decode()
    assert chosen in browser.post(f"/statuses/{post.id}/delete", {"act": "redraft"}, follow=True).content.decode()
    quiet = make_status(ann.account, "quiet", visibility="unlisted", local_only=True)
    again = browser.post(f"/statuses/{quiet.id}/delete", {"act": "redraft"}, follow=True).content.decode()
    assert '<option value="unlisted" selected' in again
    assert '<input type="hidden" name="local_only" value="True">' in again
    sent |= {"visibility": "unlisted", "local_only": "on", "key": "two"}
    assert browser.post("/write", sent).status_code == 303
    assert Status.objects.get(deleted_at=None).local_only
