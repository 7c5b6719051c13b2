"""Tests of commands for operators: delete accounts, replace keys, remove lost second factors, and add follows."""

import io
import shlex
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.core.management import call_command
from django.core.management.base import CommandError

from accounts.identity.services.staff import disable
from accounts.models import AccessToken, Account, AuditEntry, Follow, FollowRequest, KeyPair, User
from accounts.policies.staff import OPERATOR, staff_of
from accounts.services.blocking import block_account
from accounts.services.erasing import delete_account
from accounts.services.instance_actor import instance_actor
from accounts.services.key_pairs import keys_of
from social.kernel import clock
from social.kernel.errors import Forbidden
from tests.factories.accounts import make_account, make_remote, make_token, make_user, rsa_pair
from tests.factories.statuses import make_status
from tests.support.client import Api
from tests.support.work import work

pytestmark = pytest.mark.django_db


def said(*arguments: str) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


def acts() -> list[tuple[str, str]]:
    return list(AuditEntry.objects.order_by("id").values_list("action", "target_name"))


@pytest.mark.parametrize(
    "command",
    [
        ("delete_account", "ada", "nobody", "--yes"),
        ("delete_account", "ada", "nobody@there.example", "--yes"),
        ("delete_account", "ada", "not an address", "--yes"),
        ("rotate_keys", "ada", "nobody"),
        ("follow_account", "nobody", "--by", "ada"),
        ("follow_account", "far@remote.example", "--by", "ada", "nobody"),
        ("modify_account", "nobody", "--reset-second-factor"),
    ],
)
def test_an_unknown_name_is_reported_before_anything_is_done(command: tuple[str, ...]) -> None:
    keys_of(account=make_account("ada"))
    make_remote("far")
    before = KeyPair.objects.get(account__username="ada").private_key
    with pytest.raises(CommandError, match=r"nobody|not an address"):
        said(*command)
    assert KeyPair.objects.get(account__username="ada").private_key == before
    assert not Account.objects.exclude(deleted_at=None).exists()
    assert not Follow.objects.exists()
    assert acts() == []


class TestDeleting:
    def test_an_account_is_hidden_at_once_and_removed_by_the_worker(self) -> None:
        make_status(make_account("ada"), "hello")
        make_remote("far")
        assert said("delete_account", "@Ada", "far@remote.example", "ada", "--yes") == (
            "1/2 @ada\n2/2 @far@remote.example\n"
        )
        assert Api().get("/api/v1/accounts/lookup", {"acct": "ada"}).status_code == 404
        assert acts() == [("delete", "@ada"), ("delete", "@far@remote.example")]
        work()
        assert not Account.objects.filter(username__in=["ada", "far"]).exists()
        with pytest.raises(CommandError, match="already been taken"):
            call_command("create_account", "ada", "--email", "ada@example.com")

    def test_a_dry_run_lists_the_data_and_deletes_nothing(self) -> None:
        make_status(make_account("ada"), "hello")
        assert said("delete_account", "ada", "--dry-run") == "@ada: 1 post, 0 followers\n"
        assert said("delete_account", "ada", "--dry-run", "--yes") == "@ada: 1 post, 0 followers\n"
        assert not Account.objects.exclude(deleted_at=None).exists()

    @pytest.mark.parametrize(("answer", "deleted"), [("yes", True), (" YES ", True), ("y", False), ("", False)])
    def test_an_account_is_deleted_only_after_the_question_is_answered_yes(
        self, answer: str, deleted: bool, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        make_user("ada")
        monkeypatch.setattr("builtins.input", lambda _question: answer)
        text = said("delete_account", "ada")
        assert Account.objects.exclude(deleted_at=None).exists() is deleted
        assert text.endswith("1/1 @ada\n" if deleted else "Nothing was deleted.\n")

    def test_without_a_terminal_the_option_that_skips_the_question_is_named(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        make_user("ada")

        def ask(_question: str) -> str:
            raise EOFError

        monkeypatch.setattr("builtins.input", ask)
        with pytest.raises(CommandError) as refused:
            said("delete_account", "ada")
        assert not Account.objects.exclude(deleted_at=None).exists()
        command = shlex.split(str(refused.value).partition(": ")[2].partition(": ")[2])
        begin = command.index("delete_account")
        assert command[begin : begin + 3] == ["delete_account", "ada", "--yes"]
        said(*command[begin : begin + 3])
        assert Account.objects.exclude(deleted_at=None).exists()

    def test_the_last_owner_and_the_server_actor_cannot_be_deleted(self) -> None:
        make_user("boss", role="Owner")
        with pytest.raises(CommandError, match="the last person with all permissions"):
            said("delete_account", "boss", "--yes")
        with pytest.raises(CommandError, match="the server's own account"):
            said("delete_account", instance_actor().username, "--yes")
        assert acts() == []

    def test_deleting_an_account_again_changes_nothing(self) -> None:
        make_user("ada")
        said("delete_account", "ada", "--yes")
        ended = Account.objects.get(username="ada").deleted_at
        said("delete_account", "ada", "--yes")
        assert Account.objects.get(username="ada").deleted_at == ended
        assert acts() == [("delete", "@ada")]

    def test_deleting_accounts_requires_the_permission_and_a_higher_rank(self) -> None:
        ada, far = make_account("ada"), make_remote("far")
        moderator, admin = (staff_of(make_user(role=role)) for role in ("Moderator", "Admin"))
        for account in (ada, far):
            with pytest.raises(Forbidden):
                delete_account(by=moderator, account=account)
        with pytest.raises(Forbidden):
            delete_account(by=admin, account=make_user(role="Owner").account)
        for account in (ada, far):
            delete_account(by=admin, account=account)
        assert len(acts()) == 2


class TestKeys:
    def test_keys_of_one_or_all_accounts_are_replaced(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for account in (make_account("ada"), make_account("bob"), instance_actor()):
            keys_of(account=account)
        KeyPair.objects.filter(account=make_account("new")).delete()
        stored = dict(KeyPair.objects.values_list("account__username", "private_key"))
        assert said("rotate_keys", "--all", "--dry-run").splitlines()[-1].startswith("3/3 @")
        assert dict(KeyPair.objects.values_list("account__username", "private_key")) == stored
        assert said("rotate_keys", "ada", "new") == "1/2 @ada\n2/2 @new (has no keys yet: nothing was done)\n"
        assert KeyPair.objects.get(account__username="ada").private_key != stored["ada"]
        assert KeyPair.objects.get(account__username="bob").private_key == stored["bob"]
        assert said("rotate_keys", "--all").count("/3 @") == 3
        now = dict(KeyPair.objects.values_list("account__username", "private_key"))
        assert all(now[name] != stored[name] for name in stored)
        assert [action for action, _name in acts()] == ["rotate_keys"] * 4
        assert rsa_pair()[1] in KeyPair.objects.values_list("public_key", flat=True)

    @pytest.mark.parametrize("wrong", [(), ("ada", "--all")])
    def test_rotate_keys_requires_names_or_all(self, wrong: tuple[str, ...]) -> None:
        make_account("ada")
        with pytest.raises(CommandError, match="--all"):
            said("rotate_keys", *wrong)

    def test_keys_of_remote_accounts_cannot_be_replaced(self) -> None:
        make_remote("far")
        with pytest.raises(CommandError, match="Only accounts of this server"):
            said("rotate_keys", "far@remote.example")


class TestSecondFactor:
    def test_row_24_removing_a_second_factor_ends_tokens_and_is_reported_by_mail(self, mailoutbox: list[Any]) -> None:
        ada, bob = make_user("ada"), make_user("bob")
        for user in (ada, bob):
            for kind in (Authenticator.Type.TOTP, Authenticator.Type.RECOVERY_CODES):
                Authenticator.objects.create(user=user, type=kind, data={})
            make_token(user)
        assert '"second_factor": false' in said("modify_account", "ada", "--reset-second-factor")
        assert set(Authenticator.objects.values_list("user", flat=True)) == {bob.pk}
        assert set(AccessToken.objects.values_list("user", flat=True)) == {bob.pk}
        assert '"second_factor": true' in said("modify_account", "bob")
        work()
        assert [mail.to for mail in mailoutbox] == [["ada@example.com"]]
        assert "second factor" in mailoutbox[0].body
        assert "network address" not in mailoutbox[0].body
        assert acts() == [("reset_second_factor", "@ada")]


class TestFollowing:
    def test_follows_by_the_command_equal_follows_by_the_users(self) -> None:
        ada, target = make_account("ada"), make_account("target")
        bob, shy = make_account("bob"), make_account("shy", locked=True)
        assert said("follow_account", "@target", "--by", "ada", "@bob", "--dry-run") == "1/2 @ada\n2/2 @bob\n"
        assert not Follow.objects.exists()
        said("follow_account", "target", "--by", "ada", "bob")
        said("follow_account", "target", "--by", "ada")
        said("follow_account", "shy", "--by", "ada")
        assert set(Follow.objects.values_list("account", "target")) == {(ada.id, target.id), (bob.id, target.id)}
        assert set(FollowRequest.objects.values_list("account", "target")) == {(ada.id, shy.id)}
        assert acts()[0] == ("follow", "@ada")
        assert AuditEntry.objects.earliest("id").details == {"target": "@target"}

    def test_the_option_all_means_all_users_who_can_use_their_account(self) -> None:
        target = make_account("target")
        ada = make_account("ada")
        disable(by=OPERATOR, user=make_user("disabled"))
        User.objects.filter(pk=make_user("waiting").pk).update(approved=False)
        make_user("unconfirmed", confirmed=False)
        make_user("suspended", suspended_at=clock.now())
        make_user("moved", moved_to=target)
        assert said("follow_account", "target", "--all") == "1/1 @ada\n"
        assert set(Follow.objects.values_list("account", flat=True)) == {ada.id}

    def test_followers_that_may_not_follow_are_skipped_and_it_is_an_error_if_none_may(self) -> None:
        ada, bob, target = make_account("ada"), make_account("bob"), make_account("target")
        block_account(account=target, target=ada)
        assert said("follow_account", "target", "--by", "ada", "bob").startswith("1/2 @ada: This action")
        assert set(Follow.objects.values_list("account", flat=True)) == {bob.id}
        with pytest.raises(CommandError, match="Nobody could follow @target"):
            said("follow_account", "target", "--by", "ada")

    @pytest.mark.parametrize("wrong", [(), ("--by", "ada", "--all")])
    def test_follow_account_requires_names_or_all(self, wrong: tuple[str, ...]) -> None:
        make_account("target")
        make_account("ada")
        with pytest.raises(CommandError, match="--all"):
            said("follow_account", "target", *wrong)
