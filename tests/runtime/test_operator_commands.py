"""Tests of commands for operators: what they show, change and refuse."""

import io
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from cryptography.fernet import Fernet
from django.conf import settings as configured
from django.core import signing
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection

from accounts.copies.policies import is_key_of, proxied_url
from accounts.models import AccountStat, AuditEntry, KeyPair
from accounts.policies.staff import OPERATOR
from accounts.queries.site_settings import find_registrations, find_site_title, load_site_texts, retention_days
from accounts.services.key_pairs import keys_of, reencrypt_all
from social.kernel import crypto
from social.kernel.errors import Invalid
from social.management.progress import progress_bar
from social.runtime import fingerprints, secrets_file
from social.runtime.database import store_domain
from social.runtime.datadir import sole_supervisor
from social.schedule import installed_schedule
from social.settings import env
from social.settings.secrets import load_secrets
from tests.factories.accounts import make_account, make_user
from tests.factories.statuses import follow, make_status
from timelines.models import SearchDocument
from timelines.queries.public import forget_access, load_access
from timelines.stores import feed

pytestmark = pytest.mark.django_db


def run(*arguments: str) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out, stderr=io.StringIO())
    return out.getvalue().strip()


def test_settings_are_shown_set_and_unset() -> None:
    assert "site_title" in run("manage_settings", "show")
    assert run("manage_settings", "set", "site_title", "A name", "--dry-run").endswith('"" -> "A name"')
    assert find_site_title() == configured.LOCAL_DOMAIN
    run("manage_settings", "set", "site_title", "A name")
    run("manage_settings", "set", "site_publish_peers", "no")
    run("manage_settings", "set", "site_access_hashtag_feeds_local", "disabled")
    forget_access()
    assert load_access("hashtag_feeds").local == "disabled"
    run("manage_settings", "set", "site_keep_audit_log_days", "365")
    for wrong in ("7", "x", "-1"):
        with pytest.raises((CommandError, Invalid)):
            run("manage_settings", "set", "site_keep_audit_log_days", wrong)
    assert retention_days("KEEP_AUDIT_LOG_DAYS") == 365
    run("manage_settings", "set", "site_languages", "de, en")
    assert find_site_title() == "A name"
    assert load_site_texts()["site_publish_peers"] is False
    shown = json.loads(run("manage_settings", "show", "site_title", "site_languages", "--json"))
    assert shown["site_title"] == {"value": "A name", "from": "database"}
    assert shown["site_languages"]["value"] == ["de", "en"]
    run("manage_settings", "set", "registrations", "closed")
    assert find_registrations() == "closed"
    assert run("manage_settings", "show", "site_registrations") == 'site_registrations = "closed"  (database)'
    run("manage_settings", "unset", "site_registrations")
    run("manage_settings", "unset", "site_title")
    assert find_site_title() == configured.LOCAL_DOMAIN
    assert AuditEntry.objects.filter(target_type="SiteSetting").count() == 8


def test_a_setting_of_the_environment_is_locked_and_its_value_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EMAIL_URL", "smtp://user:secretword@mail.example")
    assert run("manage_settings", "show", "EMAIL_URL") == "EMAIL_URL  (environment, locked)"
    assert "secretword" not in run("manage_settings", "show")
    with pytest.raises(CommandError, match="EMAIL_URL is locked"):
        run("manage_settings", "set", "email_url", "x")


@pytest.mark.parametrize(
    "arguments",
    [
        ("set", "unknown", "x"),
        ("set", "site_publish_peers", "maybe"),
        ("set", "site_contact_username", "nobody"),
        ("set", "site_contact_email", "no address"),
        ("set", "site_title", "x" * 10_000),
        ("set", "site_privacy_policy", "@/nothing"),
        ("show", "unknown"),
        ("unset", "unknown"),
    ],
)
def test_a_wrong_setting_is_refused(arguments: tuple[str, ...]) -> None:
    with pytest.raises(CommandError):
        run("manage_settings", *arguments)
    assert load_site_texts(raw=True) == {}


def test_everything_that_is_scheduled_is_shown_and_runs() -> None:
    rows = json.loads(run("cleanup", "list", "--json"))
    assert {row["name"] for row in rows} == set(installed_schedule(configured.INSTALLED_APPS))
    assert all(row["what"].endswith(".") for row in rows)
    for line, row in zip(run("cleanup", "list").splitlines()[1:], rows, strict=True):
        assert line.endswith(f"  {row['what']}"), "the sentences are shown in full"
    assert run("cleanup", "run", "forget-imports", "forget-ended-tokens").splitlines() == [
        "forget-imports: 0",
        "forget-ended-tokens: 0",
    ]
    assert "forget-imports" in run("cleanup", "run", "forget-imports", "--dry-run")
    with pytest.raises(CommandError, match="There is no nothing"):
        run("cleanup", "run", "nothing")


def test_maintain_finds_and_corrects_inconsistencies() -> None:
    author = make_account()
    make_status(author)
    rows = AccountStat.objects.filter(account=author)
    rows.update(statuses_count=7)
    assert "1 wrong" in run("maintain", "counts", "--dry-run")
    assert rows.get().statuses_count == 7
    assert "1 corrected" in run("maintain", "counts")
    assert rows.get().statuses_count == 1
    assert "0 of the outbox were given up" in run("maintain", "rows")
    with pytest.raises(CommandError, match="There is no part all"):
        run("maintain", "all")


def test_the_command_rebuilds_the_search_index() -> None:
    posts = [make_status(make_account(), text=f"a post {number}") for number in range(3)]
    SearchDocument.objects.all().delete()
    assert run("rebuild_search", "--dry-run") == "3 posts"
    assert not SearchDocument.objects.exists()
    assert run("rebuild_search", "--before", str(posts[2].id)) == "2 posts indexed"
    assert run("rebuild_search") == "3 posts indexed"
    assert SearchDocument.objects.count() == 3
    with pytest.raises(CommandError):
        run("rebuild_search", "--before", "0")


def test_the_command_builds_and_clears_feeds() -> None:
    reader, author = make_user("reader"), make_account("author")
    follow(reader.account, author)
    post = make_status(author)
    name = feed.home(reader.account_id)
    assert run("manage_feeds", "build", "reader", "--dry-run") == "1 feeds would be built."
    assert run("manage_feeds", "build", "reader") == "1 feeds built."
    assert [item.id for item in feed.newest([name], 5)[name]] == [post.id]
    run("manage_feeds", "clear", "--dry-run")
    assert feed.newest([name], 5)[name]
    run("manage_feeds", "clear")
    assert not feed.newest([name], 5).get(name)
    for wrong in (("build",), ("build", "reader", "--all"), ("build", "nobody")):
        with pytest.raises(CommandError):
            run("manage_feeds", *wrong)


@pytest.fixture
def stored(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> dict[str, str]:
    """The secrets in a secrets file, with no server running."""
    for name in (*secrets_file.NAMES, "SECRET_KEY_FALLBACKS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(env, "DATA_DIR", tmp_path)
    (tmp_path / "run").mkdir()
    secrets_file.generate_secrets(tmp_path)
    with connection.cursor() as cursor:
        store_domain(cursor, configured.LOCAL_DOMAIN)
        fingerprints.store_fingerprints(cursor, load_secrets(tmp_path))
    return secrets_file.read_secrets(tmp_path)


def kept() -> dict[str, str]:
    """Return the current secrets, which must match those in the database."""
    with connection.cursor() as cursor:
        assert fingerprints.check_secrets(cursor, load_secrets(env.DATA_DIR), env.DATA_DIR)
    return secrets_file.read_secrets(env.DATA_DIR)


def test_a_rotated_secret_key_leaves_sessions_and_links_valid(stored: dict[str, str], settings: Any) -> None:
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = stored["SECRET_KEY"], []
    link = signing.dumps("somebody")
    key = proxied_url("media_proxy/1/original", "https://files.example/1.png").partition("key=")[2]
    with sole_supervisor(env.DATA_DIR):
        assert "would be replaced" in run("rotate_secrets", "secret-key", "--dry-run"), (
            "the dry run works while the server runs"
        )
        with pytest.raises(CommandError, match="Stop the server"):
            run("rotate_secrets", "secret-key")
    assert kept() == stored
    run("rotate_secrets", "secret-key")
    after = load_secrets(env.DATA_DIR)
    assert after.secret_key not in ("", stored["SECRET_KEY"])
    assert after.secret_key_fallbacks == (stored["SECRET_KEY"],)
    settings.SECRET_KEY, settings.SECRET_KEY_FALLBACKS = after.secret_key, list(after.secret_key_fallbacks)
    assert signing.loads(link) == "somebody"
    assert is_key_of(key, "media_proxy/1/original", "https://files.example/1.png")
    run("rotate_secrets", "secret-key", "--forget-old")
    assert kept()["SECRET_KEY_FALLBACKS"] == ""
    settings.SECRET_KEY_FALLBACKS = []
    with pytest.raises(signing.BadSignature):
        signing.loads(link)
    with pytest.raises(CommandError, match="No former key"):
        run("rotate_secrets", "secret-key", "--forget-old")


def test_after_a_rotation_encrypted_data_is_readable_with_the_new_key_alone(
    stored: dict[str, str], settings: Any
) -> None:
    settings.FIELD_ENCRYPTION_KEYS = (stored["FIELD_ENCRYPTION_KEYS"],)
    user = make_user("ada")
    private = crypto.decrypt(keys_of(account=user.account).private_key)
    factor = Authenticator.objects.create(user=user, type="totp", data={"secret": crypto.encrypt("totp"), "other": 1})
    run("rotate_secrets", "encryption-key")
    new, old = kept()["FIELD_ENCRYPTION_KEYS"].split(",")
    assert old == stored["FIELD_ENCRYPTION_KEYS"]
    settings.FIELD_ENCRYPTION_KEYS = (new,)
    assert crypto.decrypt(KeyPair.objects.get(account=user.account).private_key) == private
    factor.refresh_from_db()
    assert (crypto.decrypt(factor.data["secret"]), factor.data["other"]) == ("totp", 1)
    run("rotate_secrets", "encryption-key", "--forget-old")
    assert kept()["FIELD_ENCRYPTION_KEYS"] == new
    with pytest.raises(crypto.UnreadableSecret):
        list(reencrypt_all(by=OPERATOR, keys=[Fernet.generate_key().decode()]))
    assert crypto.decrypt(KeyPair.objects.get(account=user.account).private_key) == private


def test_web_push_keys_are_replaced_only_after_a_confirmation(stored: dict[str, str]) -> None:
    with pytest.raises(CommandError, match="Every subscription to Web Push would end"):
        run("rotate_secrets", "web-push")
    assert kept() == stored
    run("rotate_secrets", "web-push", "--yes")
    assert kept()["VAPID_PUBLIC_KEY"] != stored["VAPID_PUBLIC_KEY"]
    with pytest.raises(CommandError, match="are not kept"):
        run("rotate_secrets", "web-push", "--forget-old")


def test_secrets_in_the_environment_are_not_rotated(stored: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_KEY", "x" * 50)
    with pytest.raises(CommandError, match="SECRET_KEY is in the environment"):
        run("rotate_secrets", "secret-key")


def test_the_archive_command_builds_an_archive_for_a_user() -> None:
    make_user("ada")
    assert run("archive_account", "ada", "--dry-run") == "yes"
    assert "is being built" in run("archive_account", "ada")
    for wrong in ("ada", "nobody"):
        with pytest.raises(CommandError):
            run("archive_account", wrong)


def test_a_progress_bar_appears_in_a_terminal_after_a_second_and_other_outputs_get_only_the_label(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    moment = 0.0
    monkeypatch.setattr("social.management.progress.time", SimpleNamespace(monotonic=lambda: moment))
    for total in (10, None):
        with progress_bar("Posts", total) as advance:
            advance(3)
            assert capsys.readouterr().err == ""
            moment += 2.0
            advance(4)
            advance(0)
        assert capsys.readouterr().err == "Posts\n"
