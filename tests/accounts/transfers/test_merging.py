"""Tests of merging two rows of the same remote account without losing anything that local users did with the first row."""

import io
from datetime import timedelta
from typing import Any

import pytest
from django.apps import apps
from django.core.management import call_command
from django.core.management.base import CommandError

from accounts.collections.models import Collection, CollectionItem
from accounts.models import Account, AccountNote, AccountStat, AuditEntry, Follow, FollowRequest
from accounts.policies.staff import OPERATOR, staff_of
from accounts.queries.relations import load_relations
from accounts.services.blocking import block_account, mute_account
from accounts.services.changing import bump
from accounts.services.following import FollowChange, follow_account
from accounts.transfers.services.merging import merge_accounts
from notifications.models import Notification
from social.kernel import clock
from social.kernel.errors import Conflict, Forbidden
from statuses.models import Favourite, Status
from statuses.services.deleting import delete_status
from statuses.services.interactions import favourite_status
from tests.factories import statuses
from tests.factories.accounts import make_account, make_remote, make_token, make_user
from tests.factories.statuses import make_remote_status, make_status
from tests.support.client import Api
from tests.support.work import work

pytestmark = pytest.mark.django_db


@pytest.fixture
def old() -> Account:
    return make_remote("ada", "old.example")


@pytest.fixture
def new() -> Account:
    return make_remote("ada", "new.example")


def follow(account: Account, target: Account) -> None:
    statuses.follow(account, target)
    bump({(account.id, "following_count"): 1, (target.id, "followers_count"): 1})


def merge(old: Account, new: Account) -> dict[str, int]:
    moved = dict(merge_accounts(by=OPERATOR, source=old, target=new))
    work()
    return moved


def counts(account: Account) -> tuple[int, int, int]:
    stat = AccountStat.objects.get(account=account)
    return stat.statuses_count, stat.following_count, stat.followers_count


def test_posts_and_interactions_move_to_the_remaining_account(old: Account, new: Account) -> None:
    reader = make_user("reader")
    api = Api(make_token(reader))
    post = make_remote_status(old, "hello")
    mine = make_status(reader.account, "mine")
    answer = make_remote_status(old, "answer", parent=mine)
    reply = make_status(reader.account, "@ada@old.example yes", reply_to=post)
    note = make_status(reader.account, "@ada@old.example good morning")
    favourite_status(account_id=reader.account_id, status=post)
    favourite_status(account_id=old.id, status=mine)
    work()
    before = {
        status.id: api.get(f"/api/v1/statuses/{status.id}").json() for status in (post, answer, reply, mine, note)
    }
    assert before[reply.id]["in_reply_to_account_id"] == str(old.id)
    merge(old, new)
    assert not Account.objects.filter(id=old.id).exists()
    shown = {number: api.get(f"/api/v1/statuses/{number}").json() for number in before}
    assert shown[post.id]["account"]["acct"] == "ada@new.example"
    assert (shown[post.id]["favourites_count"], shown[post.id]["favourited"]) == (1, True)
    assert shown[answer.id]["account"]["id"] == str(new.id)
    assert shown[reply.id]["in_reply_to_account_id"] == str(new.id)
    for number in (reply.id, note.id):
        assert [one["acct"] for one in shown[number]["mentions"]] == ["ada@new.example"]
    assert shown[mine.id]["favourites_count"] == 1
    assert list(Favourite.objects.filter(status=mine).values_list("account", flat=True)) == [new.id]
    assert counts(new)[0] == 2
    assert AccountStat.objects.get(account=new).last_status_at is not None


def test_followers_follow_the_remaining_account_and_are_counted_once(old: Account, new: Account) -> None:
    one, both, away, locked = (make_account(name) for name in ("one", "both", "away", "locked"))
    for follower in (one, both, away):
        follow(follower, old)
    follow(both, new)
    block_account(account=away, target=new)
    follow(old, one)
    follow_account(account=locked, target=old, change=FollowChange(notify=True))
    follow_account(account=locked, target=new, change=FollowChange())
    Follow.objects.filter(account=one, target=old).update(notify=True, languages=["de"])
    merge(old, new)
    assert set(Follow.objects.values_list("account", "target")) == {
        (one.id, new.id),
        (both.id, new.id),
        (new.id, one.id),
    }
    assert set(FollowRequest.objects.values_list("account", "target")) == {(locked.id, new.id)}
    kept = Follow.objects.get(account=one)
    assert (kept.notify, kept.languages) == (True, ["de"])
    assert counts(new)[1:] == (1, 2)
    assert [counts(account)[1:] for account in (one, both, away)] == [(1, 1), (1, 0), (0, 0)]


def test_blocks_mutes_and_notes_apply_to_the_remaining_account(old: Account, new: Account) -> None:
    wary, muter, hurt = (make_account(name) for name in ("wary", "muter", "hurt"))
    for account in (wary, hurt):
        follow(account, old)
    block_account(account=wary, target=old)
    mute_account(account=muter, target=old, hide_notifications=False, duration=3600)
    mute_account(account=hurt, target=old, duration=1)
    expired = clock.now() - timedelta(hours=1)
    hurt.mutes.update(expires_at=expired)
    block_account(account=old, target=hurt)
    AccountNote.objects.create(account=muter, target=old, comment="from work")
    merge(old, new)
    assert load_relations(wary.id, [new.id]).blocking == {new.id}
    assert load_relations(hurt.id, [new.id]).blocked_by == {new.id}
    relations = load_relations(muter.id, [new.id])
    assert relations.muting[new.id].hide_notifications is False
    assert relations.muting[new.id].expires_at is not None
    assert relations.notes == {new.id: "from work"}
    assert not load_relations(hurt.id, [new.id]).muting
    assert not Follow.objects.exists()


def test_rows_that_both_merged_accounts_have_are_kept_once(old: Account, new: Account) -> None:
    owner = make_user("owner")
    mine = make_status(owner.account, "mine")
    for account in (old, new):
        favourite_status(account_id=account.id, status=mine)
        AccountNote.objects.create(account=owner.account, target=account, comment=account.acct)
    values = {"account": owner.account, "sensitive": False, "discoverable": True}
    both, one = (Collection.objects.create(name=name, **values) for name in ("both", "one"))
    for account in (old, new):
        CollectionItem.objects.create(collection=both, account=account)
    CollectionItem.objects.create(collection=one, account=old)
    work()
    assert Notification.objects.filter(account=owner.account).count() == 2
    merge(old, new)
    assert Api().get(f"/api/v1/statuses/{mine.id}").json()["favourites_count"] == 1
    assert AccountNote.objects.get().comment == "ada@new.example"
    assert set(CollectionItem.objects.values_list("collection", "account")) == {(both.id, new.id), (one.id, new.id)}
    assert set(Notification.objects.values_list("from_account", flat=True)) == {new.id}


def test_no_row_refers_to_the_merged_account(old: Account, new: Account) -> None:
    moved = make_account("moved", moved_to=old)
    make_remote_status(old, "@moved hello")
    delete_status(status_id=make_remote_status(old, "gone").id)
    merge(old, new)
    for model in apps.get_models():
        for field in model._meta.concrete_fields:
            if field.related_model is Account:
                assert not model._base_manager.filter(**{field.name: old.id}).exists(), (model, field.name)
    assert Account.objects.get(id=moved.id).moved_to_id == new.id
    assert Status.objects.filter(account=new).count() == 2


def test_an_interrupted_merge_can_be_repeated(old: Account, new: Account) -> None:
    for number in range(3):
        follow(make_account(f"f{number}"), old)
        make_remote_status(old, f"post {number}")
    for steps in range(1, 4):
        run = merge_accounts(by=OPERATOR, source=old, target=new)
        for _step in range(steps):
            next(run)
    merge(old, new)
    assert counts(new) == (3, 0, 3)
    assert Status.objects.filter(account=new).count() == 3


def test_only_remote_accounts_are_merged_and_only_with_the_permission(old: Account, new: Account) -> None:
    here = make_account("here")
    for one, other in ((old, old), (old, here), (here, new)):
        with pytest.raises(Conflict):
            list(merge_accounts(by=OPERATOR, source=one, target=other))
    with pytest.raises(Forbidden):
        list(merge_accounts(by=staff_of(make_user(role="Moderator")), source=old, target=new))
    assert not AuditEntry.objects.exists()
    merge(old, new)
    entries = AuditEntry.objects.order_by("id").values_list("action", "target_name", "details__source")
    assert list(entries) == [("merge", "@ada@new.example", "@ada@old.example"), ("delete", "@ada@old.example", None)]


def said(*arguments: str) -> str:
    out = io.StringIO()
    call_command("merge_accounts", *arguments, stdout=out)
    return out.getvalue()


def test_merge_accounts_prints_the_numbers_of_rows(old: Account, new: Account) -> None:
    follow(make_account("one"), old)
    make_remote_status(old, "post")
    assert "follow (target): 1\n" in said("ada@old.example", "@ada@new.example", "--dry-run")
    assert Follow.objects.get().target_id == old.id
    text = said("ada@old.example", "@ada@new.example")
    assert "follows: 1\n" in text
    assert "posts: 1\n" in text
    assert text.endswith("@ada@old.example was merged into @ada@new.example. The worker removes what remains of it.\n")


@pytest.mark.parametrize("wrong", [("ada@old.example", "nobody@new.example"), ("ada@old.example", "ada@old.example")])
def test_a_merge_with_a_wrong_name_is_refused(old: Account, wrong: tuple[str, str], capsys: Any) -> None:
    with pytest.raises(CommandError):
        said(*wrong)
    assert not Account.objects.exclude(deleted_at=None).exists()
