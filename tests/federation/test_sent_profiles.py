"""Tests that documents of accounts have the same members as those recorded from Mastodon 4.6.5.

Contract, federation sections 3, 4, 7 and 8. The tests are skipped without the records.
"""

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from accounts.emojis.models import CustomEmoji
from accounts.models import Account, User
from accounts.policies.staff import OPERATOR
from accounts.services.following import FollowChange, follow_account
from accounts.services.profiles import ProfileChange, update_profile
from accounts.services.sanctions import suspend_account
from accounts.services.tags import feature_tag, unfeature_tag_named
from accounts.transfers.services.moving import move_account
from federation.models import OutboundActivity
from social.kernel import clock
from statuses.queries.posts import load_posts
from statuses.services.media import MediaUpload, SentFile, upload_media
from statuses.services.pins import pin_status, unpin_status
from tests.factories.accounts import make_account, make_remote
from tests.factories.statuses import make_status, picture
from tests.federation.remote_server import ACTIVITY
from tests.support.client import Api
from tests.support.wire import FILES, compare, record
from tests.support.work import work

pytestmark = [pytest.mark.django_db, pytest.mark.skipif(not FILES, reason="the recorded documents are not here")]


def _set(anna: Account, **values: Any) -> None:
    Account.objects.filter(id=anna.id).update(**values)


def _everything(anna: Account) -> None:
    CustomEmoji.objects.create(shortcode="blob", image="emojis/blob.png")
    fields = (("Web", "https://example.com/"), ("Town", "Cologne :blob:"))
    change = ProfileChange(display_name="Anna :blob:", note="Writes about #birds :blob:", fields=fields)
    update_profile(user=User.objects.get(account=anna), change=change)
    pictures = {name: f"accounts/{name}.png" for name in ("avatar", "header")}
    descriptions = {f"{name}_description": "A field" for name in pictures}
    _set(anna, discoverable=True, indexable=True, attribution_domains=["example.com"], **pictures, **descriptions)


def _pin(anna: Account, *, off: bool = False) -> None:
    upload = MediaUpload(SentFile(io.BytesIO(picture()), "image/png"), description="A red field", focus="-0.42,0.69")
    media = upload_media(account_id=anna.id, upload=upload)
    (post,) = load_posts([make_status(anna, media=[media]).id])
    for act in (pin_status, unpin_status)[: 1 + off]:
        work()
        act(account_id=anna.id, status=post)


def _feature(anna: Account, *, off: bool = False) -> None:
    tag = feature_tag(account=anna, name="birds")[0].tag
    if off:
        work()
        unfeature_tag_named(account=anna, tag=tag)


def _follow_two(anna: Account) -> None:
    for one in (make_account("ben"), make_account("carol")):
        follow_account(account=one, target=anna, change=FollowChange())
        follow_account(account=anna, target=one, change=FollowChange())


def _suspend(anna: Account) -> None:
    _everything(anna)
    _set(anna, suspended_at=clock.now())


def _end_for_a_time(anna: Account) -> None:
    _set(anna, discoverable=True)
    suspend_account(by=OPERATOR, account=anna)


def _move(anna: Account) -> None:
    _set(anna, discoverable=True)
    move_account(user=User.objects.get(account=anna), target=make_account("new", also_known_as=[anna.uri]))


FETCHED: dict[str, tuple[str, Callable[[Account], object]]] = {
    "actor_person": ("", _everything),
    "actor_service": ("", lambda anna: _set(anna, actor_type="Service", locked=True, hide_collections=True)),
    "actor_suspended": ("", _suspend),
    "actor_moved": ("", _move),
    "actor_also_known_as": ("", lambda anna: _set(anna, also_known_as=["https://far.example/users/old"])),
    "get_featured": ("/collections/featured", _pin),
    "get_featured_tags": ("/collections/tags", _feature),
    "get_followers": ("/followers", _follow_two),
    "get_followers_hidden": ("/followers", lambda anna: _set(anna, hide_collections=True)),
    "get_followers_hidden_page": ("/followers?page=1", lambda anna: _set(anna, hide_collections=True)),
    "get_following": ("/following", _follow_two),
    "get_following_page": ("/following?page=1", _follow_two),
    "get_outbox": ("/outbox", make_status),
}
SENT: dict[str, tuple[str, Callable[[Account], object]]] = {
    "add_featured_post": ("Add", _pin),
    "remove_featured_post": ("Remove", lambda anna: _pin(anna, off=True)),
    "add_featured_tag": ("Add", _feature),
    "remove_featured_tag": ("Remove", lambda anna: _feature(anna, off=True)),
    "move": ("Move", _move),
    "update_actor": ("Update", _everything),
    "update_actor_moved": ("Update", _move),
    "update_actor_suspended": ("Update", _end_for_a_time),
}


@pytest.mark.parametrize("name", FETCHED)
def test_documents_of_accounts_have_the_members_of_mastodons(name: str, settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path
    anna = make_account("anna")
    path, act = FETCHED[name]
    act(anna)
    answer = Api().get(f"/users/anna{path}", headers={"Accept": ACTIVITY})
    assert answer.status_code == record(name)["status"]
    compare(name, answer.json())


@pytest.mark.parametrize("name", SENT)
def test_changes_of_profiles_are_sent_as_mastodon_sends_them(name: str, settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path
    anna = make_account("anna")
    follow_account(account=make_remote(), target=anna, change=FollowChange())
    kind, act = SENT[name]
    act(anna)
    work()
    ours = json.loads(OutboundActivity.objects.filter(type=kind).latest("id").body)
    compare(name, ours)
