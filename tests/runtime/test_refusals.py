"""Tests that every refusal of `manage.py` is one line that names the remedy, with a non-zero exit status."""

import pwd
import re
import socket
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from social.runtime.embedded import Embedded
from social.runtime.secrets_file import generate_secrets
from tests.runtime.processes import ROOT, as_root, clean_environment, free_port, free_ports, manage, python, refusal


def run(data_dir: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    environment = clean_environment(DATA_DIR=str(data_dir), **free_ports()) | environment
    return manage("run", *arguments, environment=environment)


@pytest.mark.parametrize("option", ["--port", "--streaming-port"])
def test_run_refuses_a_port_that_is_in_use(data_dir: Path, option: str) -> None:
    with socket.socket() as listener:
        # With SO_REUSEPORT, which some servers set, several sockets can share the port.
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = str(listener.getsockname()[1])
        line = refusal(run(data_dir, option, port))
    assert line == (
        f"manage.py run: Port {port} on 127.0.0.1 is taken. Stop what uses it, or use {option} with another."
    )
    assert not (data_dir / "postgres").exists()


def test_run_refuses_an_address_that_this_machine_does_not_have(data_dir: Path) -> None:
    assert "Cannot listen on 192.0.2.1" in refusal(run(data_dir, BIND="192.0.2.1"))


def test_run_refuses_a_data_directory_that_cannot_be_made() -> None:
    line = refusal(run(Path("/proc/social")))
    assert re.search(r"The data directory /proc/social cannot be used .*set DATA_DIR", line)


@as_root
def test_a_data_directory_of_another_user_is_refused_with_the_remedy(data_dir: Path) -> None:
    data_dir.chmod(0o700)
    code = f"""
import os, sys
sys.path.insert(0, {str(ROOT)!r})
from pathlib import Path
import social.runtime.datadir, pwd
os.setgroups([]); os.setgid(65534); os.setuid(65534)
social.runtime.datadir.open_data_dir(Path({str(data_dir)!r}))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    last = done.stderr.splitlines()[-1]
    assert "cannot be used (Permission denied" in last
    assert f"Give it to user {pwd.getpwuid(65534).pw_name}" in last


@as_root
def test_run_refuses_a_full_disk(data_dir: Path) -> None:
    small = data_dir / "small"
    small.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", str(small)], capture_output=True)
    if mounted.returncode != 0:
        pytest.skip("cannot mount a small disk here")
    try:
        line = refusal(run(small))
        assert re.search(r"The disk of \S+ is full: \d MB are free, 32 MB are needed\. Free some space", line)
        subprocess.run(["mount", "-o", "remount,size=64m", str(small)], check=True)
        assert "256 MB are needed" in refusal(run(small))
    finally:
        subprocess.run(["umount", str(small)], check=True)


def test_commands_refuse_a_data_directory_where_nothing_is_set_up(data_dir: Path) -> None:
    environment = clean_environment(DATA_DIR=str(data_dir))
    line = refusal(manage("create_account", "bob", "--email", "bob@example.com", environment=environment))
    assert line.startswith(f"manage.py create_account: Nothing is set up in {data_dir}. Is DATA_DIR the one")
    assert not (data_dir / "postgres").exists()


def test_a_cluster_of_another_postgresql_version_is_refused(data_dir: Path) -> None:
    generate_secrets(data_dir)
    cluster = Embedded(data_dir).postgres.cluster
    cluster.mkdir(parents=True)
    (cluster / "PG_VERSION").write_text("17\n")
    line = refusal(run(data_dir))
    assert "was made by PostgreSQL 17, this release brings 18" in line
    assert "DATABASE_URL" in line


def test_run_refuses_another_domain_than_the_stored_one(data_dir: Path) -> None:
    generate_secrets(data_dir)
    embedded = Embedded(data_dir, durable=False)
    embedded.start()
    try:
        with psycopg.connect(embedded.postgres.conninfo(), autocommit=True) as connection:
            connection.execute("CREATE TABLE social_installation (id int, local_domain text, created_at timestamptz)")
            connection.execute("INSERT INTO social_installation VALUES (1, 'first.example', now())")
    finally:
        embedded.stop()
    done = run(data_dir, "--domain", "second.example")
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert "This installation is first.example for ever" in line
    assert "Start it with --domain first.example" in line


def test_an_unreachable_database_is_reported_without_its_password(data_dir: Path) -> None:
    url = f"postgres://social:geheim@127.0.0.1:{free_port()}/social"
    done = run(data_dir, DATABASE_URL=url, REDIS_URL="redis://127.0.0.1:1")
    assert done.returncode == 1
    assert "geheim" not in done.stderr + done.stdout
    generate_secrets(data_dir)
    done = manage(
        "showmigrations",
        environment=clean_environment(DATA_DIR=str(data_dir), DATABASE_URL=url, REDIS_URL="redis://127.0.0.1:1"),
    )
    line = refusal(done)
    assert "PostgreSQL at postgres://social:***@127.0.0.1" in line
    assert "Check DATABASE_URL" in line


def test_run_refuses_a_redis_that_does_not_answer(data_dir: Path) -> None:
    generate_secrets(data_dir)
    done = run(data_dir, DATABASE_URL="postgres://x/x", REDIS_URL=f"redis://:geheim@127.0.0.1:{free_port()}/0")
    line = refusal(done)
    assert "Redis for cache at redis://:***@127.0.0.1" in line
    assert "REDIS_CACHE_URL" in line


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("PORT", "eighty", "PORT=eighty is not a whole number"),
        ("KEEP_AUDIT_LOG_DAYS", "5", "KEEP_AUDIT_LOG_DAYS=5 is not between 30 and 36500"),
        ("METRICS_TOKEN", "x", "METRICS_TOKEN has 1 characters; 16 or more"),
        ("REGISTRATIONS", "maybe", "REGISTRATIONS=maybe is not one of open, approval, closed"),
        ("TRUSTED_PROXIES", "10.0.0.300", "TRUSTED_PROXIES"),
        ("DATABASE_URL", "sqlite:///x", "PostgreSQL 15 or later is required"),
        ("DATABASE_URL", "nonsense", "PostgreSQL 15 or later is required"),
        ("DATABASE_URL", "postgres://a:geheim/b@host:port/x", "DATABASE_URL=postgres://a:***@host:port/x cannot be"),
        ("REDIS_URL", "nonsense", "REDIS_URL=nonsense cannot be understood"),
        ("REDIS_FEEDS_URL", "redis://:geheim@", "REDIS_FEEDS_URL=redis://:***@ cannot be understood"),
        ("SECRET_KEY", "short", "SECRET_KEY has 5 characters"),
        ("FIELD_ENCRYPTION_KEYS", "short", "FIELD_ENCRYPTION_KEYS: key 1 of 1"),
        ("VAPID_PRIVATE_KEY", "short", "VAPID_PRIVATE_KEY is not a P-256 key"),
        ("VAPID_PUBLIC_KEY", "A" * 87, "VAPID_PUBLIC_KEY is not a P-256 point"),
        (
            "STREAMING_API_BASE_URL",
            "streaming.example",
            "STREAMING_API_BASE_URL=streaming.example cannot be understood",
        ),
        ("EMAIL_URL", "smtp://", "EMAIL_URL=smtp:// cannot be understood"),
        ("EMAIL_URL", "pigeon://:geheim@host", "EMAIL_URL=pigeon://:***@host cannot be understood"),
        ("MAIL_FROM", "nobody", "MAIL_FROM=nobody has no address"),
        ("MAIL_FROM", "a@b.example, c@d.example", "MAIL_FROM=a@b.example, c@d.example has no address"),
        ("MAIL_FROM", "me@home <a@b.example>", "a name with other characters than letters"),
        ("BIND", "*", "BIND=* is not a network address. Write 0.0.0.0"),
        ("DEFAULT_LANGUAGE", "xx", "DEFAULT_LANGUAGE=xx is not one of en, de, ar"),
        ("LOCAL_DOMAIN", "https://social.example", "is not a domain name"),
        ("LOCAL_DOMAIN", "social.example:99999", "is not a domain name"),
    ],
)
def test_a_wrong_setting_is_refused_in_one_line_without_secrets(
    data_dir: Path, variable: str, value: str, words: str
) -> None:
    environment = clean_environment(DATA_DIR=str(data_dir), REDIS_URL="redis://127.0.0.1:1") | {variable: value}
    environment.setdefault("DATABASE_URL", "postgres://127.0.0.1:1/x")
    line = refusal(manage("check", environment=environment))
    assert words in line
    assert "geheim" not in line


def test_run_refuses_loopback_federation_under_a_public_domain(data_dir: Path) -> None:
    line = refusal(run(data_dir, "--domain", "social.example", FEDERATION_LOOPBACK="yes"))
    assert "FEDERATION_LOOPBACK=yes is only for local trials" in line


def test_damaged_secrets_are_refused_with_the_remedy(data_dir: Path) -> None:
    (data_dir / "secrets.json").write_text("{")
    environment = clean_environment(DATA_DIR=str(data_dir), DATABASE_URL="postgres://x/x", REDIS_URL="redis://x")
    line = refusal(manage("check", environment=environment))
    assert "secrets.json is damaged" in line
    assert "Restore it from a backup" in line


@pytest.mark.parametrize("command", ["run", "check"])
def test_secrets_that_exist_but_cannot_be_read_are_not_reported_as_lost(data_dir: Path, command: str) -> None:
    (data_dir / "secrets.json").mkdir()
    environment = clean_environment(DATA_DIR=str(data_dir), DATABASE_URL="postgres://x/x", REDIS_URL="redis://x")
    line = refusal(manage(command, environment=environment | free_ports()))
    assert "secrets.json is there and cannot be read (Is a directory); nothing is lost" in line
    assert "backup" not in line


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("REGISTRATION", "REGISTRATIONS"),
        ("LOCALDOMAIN", "LOCAL_DOMAIN"),
        ("trusted_proxies", "TRUSTED_PROXIES"),
        ("TRUSTED_PROXY", "TRUSTED_PROXIES"),
        ("DATABASE_URI", "DATABASE_URL"),
        ("RATE_LIMIT", "RATE_LIMITS"),
        ("STREAMING_API_URL", "STREAMING_API_BASE_URL"),
    ],
)
def test_a_misspelt_setting_is_refused_before_anything_is_made(data_dir: Path, wrong: str, right: str) -> None:
    line = refusal(run(data_dir, **{wrong: "closed"}))
    assert f"{wrong} is no setting. Is {right} meant? Rename it, or unset it." in line
    assert not list(data_dir.iterdir())


def test_environment_variables_of_other_programs_are_ignored(data_dir: Path) -> None:
    generate_secrets(data_dir)
    others = [
        *("PORT0", "HOSTNAME", "HOME", "XDG_DATA_DIRS", "REDIS_HOST", "REDIS_PORT", "DATABASE_HOST", "POSTGRES_URL"),
        *("TEST_DATABASE_URL", "TEST_REDIS_URL", "LANGUAGE", "MAIL", "LOGNAME", "CELERY_BROKER_URL", "SECRET_KEY_BASE"),
    ]
    environment = clean_environment(DATA_DIR=str(data_dir), **dict.fromkeys(others, "x"))
    # A variable with a similar name is not taken for a misspelling of a setting that is itself set.
    environment |= {
        "DJANGO_SETTINGS_MODULE": "social.settings.base",
        "REDIS_URL": "redis://x",
        "REDIS_URL_2": "redis://y",
        "DATABASE_URL": "postgres://x/x",
    }
    assert python("-c", "import django; django.setup()", environment=environment).returncode == 0


def test_all_settings_are_checked_before_anything_starts(data_dir: Path) -> None:
    generate_secrets(data_dir)
    for variable, value in {"SECRET_KEY": "short", "VAPID_PUBLIC_KEY": "A" * 87, "DATABASE_URL": "sqlite:///x"}.items():
        line = refusal(run(data_dir, **{variable: value}))
        assert variable in line
        assert not (data_dir / "postgres").exists()
    line = refusal(run(data_dir / "new", MEDIA_STORAGE="nonsense"))
    assert "MEDIA_STORAGE=nonsense cannot be understood" in line
    assert not (data_dir / "new").exists()


def test_run_refuses_a_redis_that_refuses_the_password(data_dir: Path) -> None:
    generate_secrets(data_dir)
    servers = Embedded(data_dir, durable=False, postgres_wanted=False)
    servers.start()
    try:
        url = servers.redis_url.replace("unix://", "unix://somebody:geheim@")
        line = refusal(run(data_dir, DATABASE_URL="postgres://x/x", REDIS_URL=url))
    finally:
        servers.stop()
    assert "refuses the name or the password" in line
    assert "geheim" not in line


@pytest.mark.parametrize(
    ("given", "names", "shown"),
    [
        ({"LOCAL_DOMAIN": "[::1]:8000"}, "env.BASE_URL, env.STREAMING_URL", "http://[::1]:8000 ws://[::1]:4000"),
        ({"BIND": "[::1]"}, "env.BIND, env.in_url(env.BIND)", "::1 [::1]"),
        (
            {"MEDIA_STORAGE": "s3+http://key:secret@[::1]:9000/files"},
            "env.MEDIA_STORAGE['OPTIONS']['endpoint_url'], env.MEDIA_URL",
            "http://[::1]:9000 http://[::1]:9000/files/",
        ),
    ],
)
def test_addresses_with_colons_have_brackets(given: dict[str, str], names: str, shown: str) -> None:
    code = f"from social.settings import env; print({names})"
    done = python("-c", code, environment=clean_environment(**given))
    assert done.stdout.strip() == shown, done.stderr


def test_run_refuses_an_unknown_option(data_dir: Path) -> None:
    done = run(data_dir, "--prot", "8000")
    assert done.returncode == 2
    assert "unrecognized arguments: --prot" in done.stderr


@pytest.mark.parametrize("command", ["doctor", "show_outbox", "shell", "help", "version"])
def test_a_command_creates_nothing_in_a_mistyped_data_directory(data_dir: Path, command: str) -> None:
    wrong = data_dir / "wrong"
    done = manage(command, environment=clean_environment(DATA_DIR=str(wrong)))
    if command not in ("help", "version"):
        assert "Nothing is set up in" in refusal(done)
    assert not wrong.exists()


def test_generated_secrets_are_readable_by_their_owner_alone_and_are_not_replaced(data_dir: Path) -> None:
    assert generate_secrets(data_dir)
    path = data_dir / "secrets.json"
    first = path.read_text()
    assert path.stat().st_mode & 0o777 == 0o600
    assert not generate_secrets(data_dir)
    assert path.read_text() == first
