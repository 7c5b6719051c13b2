"""Tests that an installation keeps its first secrets: different secrets are detected, and no secrets are generated for an
existing database.
"""

import json
import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection

from social.runtime import database
from social.runtime.embedded import Embedded
from social.runtime.failures import OperatorError
from social.runtime.fingerprints import check_secrets, store_fingerprints
from social.runtime.secrets_file import generate_secrets
from social.settings.secrets import Secrets
from tests.runtime.processes import clean_environment, manage, python, refusal

FOLDER = Path("/srv/social")


@pytest.fixture
def cursor(db: None) -> Iterator[Any]:
    with connection.cursor() as found:
        database.store_domain(found, settings.LOCAL_DOMAIN)
        yield found


@pytest.fixture
def secrets() -> Secrets:
    found: Secrets = settings.SECRETS
    return found


def test_secrets_are_recognised_once_their_fingerprints_are_stored(cursor: Any, secrets: Secrets) -> None:
    assert check_secrets(cursor, secrets, FOLDER) is False
    store_fingerprints(cursor, secrets)
    assert check_secrets(cursor, secrets, FOLDER) is True


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("SECRET_KEY", {"secret_key": "x" * 40}),
        ("VAPID_PRIVATE_KEY", {"vapid_private_key": "x"}),
        ("VAPID_PUBLIC_KEY", {"vapid_public_key": "x"}),
        ("FIELD_ENCRYPTION_KEYS", {"field_encryption_keys": ("x",)}),
    ],
)
def test_a_changed_secret_is_refused_with_its_name_and_the_remedy(
    cursor: Any, secrets: Secrets, name: str, other: dict[str, Any]
) -> None:
    store_fingerprints(cursor, secrets)
    with pytest.raises(OperatorError) as error:
        check_secrets(cursor, replace(secrets, **other), FOLDER)
    words = str(error.value)
    assert words.startswith(f"{name} is not what this installation began with. Restore /srv/social/secrets.json")
    assert "setup --new-secrets" in words


def test_a_field_encryption_key_may_be_added_but_not_removed(cursor: Any, secrets: Secrets) -> None:
    store_fingerprints(cursor, secrets)
    more = replace(secrets, field_encryption_keys=("new", *secrets.field_encryption_keys))
    assert check_secrets(cursor, more, FOLDER) is False
    store_fingerprints(cursor, more)
    assert check_secrets(cursor, more, FOLDER) is True
    with pytest.raises(OperatorError, match="FIELD_ENCRYPTION_KEYS"):
        check_secrets(cursor, secrets, FOLDER)


def test_no_secret_can_be_read_from_the_database(cursor: Any, secrets: Secrets) -> None:
    store_fingerprints(cursor, secrets)
    cursor.execute("SELECT fingerprints::text FROM social_installation")
    stored = cursor.fetchone()[0]
    values = [secrets.secret_key, secrets.vapid_private_key, secrets.vapid_public_key, *secrets.field_encryption_keys]
    assert not [value for value in values if value in stored]


def test_vapid_keys_that_do_not_match_are_refused(cursor: Any, secrets: Secrets, data_dir: Path) -> None:
    generate_secrets(data_dir)
    other = json.loads((data_dir / "secrets.json").read_text())["VAPID_PUBLIC_KEY"]
    with pytest.raises(OperatorError, match="does not belong to"):
        store_fingerprints(cursor, replace(secrets, vapid_public_key=other))


def test_secrets_that_cannot_be_written_are_an_error_that_names_their_file(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OperatorError, match=r"secrets\.json cannot be written: Not a directory"):
        generate_secrets(tmp_path / "file" / "data")


def test_the_settings_that_diffsettings_prints_have_no_password_of_the_mail_server() -> None:
    assert not {"EMAIL_URL", "SENTRY_DSN", "METRICS_TOKEN"} & set(dir(settings))


def test_an_empty_database_that_restore_has_left_needs_no_secrets(data_dir: Path) -> None:
    """`restore --dry-run` on a new machine starts the embedded database, and stores nothing in it."""
    servers = Embedded(data_dir, durable=False, valkey_wanted=False)
    servers.start()
    servers.stop()
    # The domain is refused after the secrets were made, which is quicker than a complete start.
    line = refusal(
        manage("setup", "--domain", "social.example:99", environment=clean_environment(DATA_DIR=str(data_dir)))
    )
    assert "LOCAL_DOMAIN" in line
    assert (data_dir / "secrets.json").exists()


def test_lost_secrets_are_not_replaced_silently(data_dir: Path, secrets: Secrets) -> None:
    """With the embedded database, every command reports the loss and generates no new secrets."""
    generate_secrets(data_dir)
    servers = Embedded(data_dir, durable=False, valkey_wanted=False)
    servers.start()
    with database.connect(servers.environment()["DATABASE_URL"]) as made, made.cursor() as cursor:
        cursor.execute(f"CREATE TABLE {database.TABLE} AS SELECT 1 AS id, '{{}}'::jsonb AS fingerprints")
        store_fingerprints(cursor, secrets)
    servers.stop()
    (data_dir / "secrets.json").rename(data_dir / "backup")
    environment = clean_environment(DATA_DIR=str(data_dir))
    for command in ("run", "setup", "doctor", "show_outbox"):
        assert "secrets.json is missing" in refusal(manage(command, environment=environment)), command
    assert not (data_dir / "secrets.json").exists()


@pytest.mark.verify
@pytest.mark.django_db(transaction=True)
def test_a_machine_with_other_secrets_cannot_join(data_dir: Path, secrets: Secrets) -> None:
    """With an external database no secrets are generated, and different secrets are refused."""
    with connection.cursor() as cursor:
        database.store_domain(cursor, settings.LOCAL_DOMAIN)
        store_fingerprints(cursor, secrets)
    url = os.environ["DATABASE_URL"].rpartition("/")[0] + "/" + connection.settings_dict["NAME"]
    elsewhere = {"DATABASE_URL": url, "REDIS_URL": os.environ["REDIS_URL"], "LOCAL_DOMAIN": settings.LOCAL_DOMAIN}
    environment = clean_environment(DATA_DIR=str(data_dir), **elsewhere)
    assert "secrets.json is missing" in refusal(manage("setup", environment=environment))
    generate_secrets(data_dir)
    for command in ("setup", "show_outbox"):
        assert "are not what this installation began with" in refusal(manage(command, environment=environment))


@pytest.mark.django_db(transaction=True)
def test_a_separately_started_process_also_checks_the_installation(data_dir: Path, secrets: Secrets) -> None:
    """On a machine of a cluster, systemd may start each process without the supervisor."""
    with connection.cursor() as cursor:
        database.store_domain(cursor, settings.LOCAL_DOMAIN)
        store_fingerprints(cursor, secrets)
    generate_secrets(data_dir)
    url = os.environ["DATABASE_URL"].rpartition("/")[0] + "/" + connection.settings_dict["NAME"]
    elsewhere = {"DATABASE_URL": url, "REDIS_URL": os.environ["REDIS_URL"], "LOCAL_DOMAIN": settings.LOCAL_DOMAIN}

    def serve(**more: str) -> str:
        environment = clean_environment(DATA_DIR=str(data_dir), **elsewhere | more)
        return refusal(python("-m", "social.runtime.serve", "web", environment=environment))

    assert "are not what this installation began with" in serve()
    assert "This installation is" in serve(LOCAL_DOMAIN="other.example")
    assert "FIELD_ENCRYPTION_KEYS: key 1 of 1" in serve(FIELD_ENCRYPTION_KEYS="short")
    assert "PORT=many" in serve(PORT="many")
