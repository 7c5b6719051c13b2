"""Tests of `manage.py` for operators: options, help, and the targets of the Makefile."""

import os
import shutil
import subprocess
import sys
import venv
from argparse import _SubParsersAction
from pathlib import Path

import psycopg
import pytest
from django.core.management import get_commands, load_command_class

from social import __version__
from social.runtime.embedded import Embedded
from social.runtime.options import take_options
from social.runtime.secrets_file import generate_secrets
from tests.runtime.processes import ROOT, clean_environment, manage, refusal
from tests.support.federation_server import needs_federation


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("PORT", "STREAMING_PORT", "LOCAL_DOMAIN"):
        monkeypatch.delenv(name, raising=False)


def test_options_of_run_reach_the_settings() -> None:
    arguments = ["run", "--port", "81", "--streaming-port=82", "--traceback", "--domain=a.example"]
    assert take_options(arguments) == ["run", "--traceback"]
    assert [os.environ[name] for name in ("PORT", "STREAMING_PORT", "LOCAL_DOMAIN")] == ["81", "82", "a.example"]


def test_other_commands_keep_their_own_options() -> None:
    arguments = ["forget_domain", "--domain", "a.example", "--port", "1", "--", "--port", "y"]
    assert take_options(arguments) == arguments
    assert "LOCAL_DOMAIN" not in os.environ


def test_an_option_without_its_value_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        take_options(["run", "--port"])
    assert "manage.py run: error: argument --port: expected one argument" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["run", "setup", "doctor"])
def test_help_names_every_option_and_needs_no_server(data_dir: Path, command: str) -> None:
    done = manage(command, "--help", environment=clean_environment(DATA_DIR=str(data_dir)))
    assert done.returncode == 0, done.stderr
    for option in ("--port", "--streaming-port", "--domain"):
        assert option in done.stdout
    assert not (data_dir / "postgres").exists()


def test_help_begins_with_our_commands_and_a_sentence_each(data_dir: Path) -> None:
    done = manage("help", environment=clean_environment(DATA_DIR=str(data_dir)))
    assert done.returncode == 0, done.stderr
    ours, of_django = done.stdout.split("Of Django")
    names = [line.split()[0] for line in ours.splitlines() if line.startswith("  ") and line[2] != " "]
    assert names[:3] == ["run", "setup", "doctor"]
    assert {"create_account", "modify_account", "changepassword", "show_outbox"} <= set(names)
    assert {"remove_preview_cards", "remove_unconfirmed"} <= set(names), "a long name is separated from its sentence"
    assert "migrate" in of_django


def test_manage_py_finds_its_libraries_whichever_python_is_first(data_dir: Path) -> None:
    """The test runs the command in the form that messages to operators use: `./manage.py COMMAND`."""
    if not (ROOT / ".venv").exists():
        pytest.skip("the libraries are not in .venv")
    bare = subprocess.run(
        ["/usr/bin/env", "-i", f"PATH={os.environ['PATH']}", f"DATA_DIR={data_dir}", "./manage.py", "version"],
        cwd=ROOT,
        capture_output=True,
        text=True,
    )
    assert (bare.returncode, bare.stderr) == (0, "")


@pytest.mark.parametrize("words", ["version", "--version"])
def test_manage_py_prints_the_version_of_this_server(words: str, data_dir: Path) -> None:
    done = manage(words, environment=clean_environment(DATA_DIR=str(data_dir)))
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{__version__}\n", "")


def begin(data_dir: Path) -> None:
    """Create what commands check first: secrets, and a database that contains only the domain."""
    generate_secrets(data_dir)
    servers = Embedded(data_dir, durable=False, valkey_wanted=False)
    servers.start()
    with psycopg.connect(servers.postgres.conninfo(), autocommit=True) as database:
        database.execute("CREATE TABLE social_installation (id int, local_domain text, fingerprints jsonb)")
        database.execute("INSERT INTO social_installation VALUES (1, 'localhost:8000', '{}')")
    servers.stop()


def test_a_command_without_running_servers_starts_its_own_and_stops_them_at_its_end(data_dir: Path) -> None:
    begin(data_dir)
    environment = clean_environment(DATA_DIR=str(data_dir))
    code = "from django.db import connection as c; k = c.cursor(); k.execute('SELECT 6 * 7'); print(k.fetchone()[0])"
    done = manage("shell", "-c", code, environment=environment)
    assert (done.returncode, done.stdout.splitlines()[-1]) == (0, "42"), done.stderr
    assert done.stderr == ""
    assert not list((data_dir / "postgres" / "run").glob("*"))


def test_a_command_with_a_configured_database_starts_no_embedded_one(data_dir: Path) -> None:
    url = os.environ["DATABASE_URL"].rpartition("/")[0] + "/postgres"
    generate_secrets(data_dir)
    environment = clean_environment(DATA_DIR=str(data_dir), DATABASE_URL=url)
    done = manage("showmigrations", "social", environment=environment)
    assert (done.returncode, done.stdout.splitlines()[0]) == (0, "social"), done.stderr
    assert not (data_dir / "postgres" / "data").exists()


def test_a_database_without_tables_is_reported_in_one_line(data_dir: Path) -> None:
    begin(data_dir)
    code = "from accounts.models import Account; Account.objects.get()"
    done = manage("shell", "-c", code, environment=clean_environment(DATA_DIR=str(data_dir)))
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert line.startswith("manage.py shell: The database lacks something this release needs: ")
    assert line.endswith(f"Run DATA_DIR={data_dir} ./manage.py setup")


def make(folder: Path, python: str) -> subprocess.CompletedProcess[str]:
    shutil.copy(ROOT / "Makefile", folder)
    shutil.copytree(ROOT / "requirements", folder / "requirements")
    program = folder / "python"
    program.write_text(f"#!/bin/sh\n{python}")
    program.chmod(0o755)
    return subprocess.run(
        ["make", "--no-print-directory", "run", f"PYTHON={program}"],
        cwd=folder,
        env=clean_environment(),
        capture_output=True,
        text=True,
    )


def test_a_missing_venv_module_names_the_debian_package(tmp_path: Path) -> None:
    done = make(tmp_path, f'case "$2" in *ensurepip*) exit 1;; esac; exec {sys.executable} "$@"')
    assert done.returncode != 0
    assert "apt-get install python3-venv" in done.stderr.splitlines()[0]
    assert len(done.stderr.splitlines()) <= 2  # the other line is printed by make itself


def test_an_old_python_is_named(tmp_path: Path) -> None:
    done = make(tmp_path, 'case "$1" in -c) exit 1;; esac; echo Python 3.9.2')
    assert "Python 3.11 or later is needed" in done.stderr.splitlines()[0]
    assert "Python 3.9.2" in done.stderr.splitlines()[0]


def test_make_help_lists_the_commands_for_newcomers() -> None:
    listed = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    commands = [line.split()[0] for line in listed.splitlines()]
    assert {"run", "help", "test", "dev", "shell", "lint", "verify", "bench"} <= set(commands)
    assert all(len(line.split()) > 3 for line in listed.splitlines())


def test_the_settings_of_make_dev_take_effect(data_dir: Path) -> None:
    environment = clean_environment(DATA_DIR=str(data_dir), DJANGO_SETTINGS_MODULE="social.settings.dev")
    checked = manage("check", environment=environment)
    assert checked.returncode == 0, checked.stderr
    assert checked.stdout.startswith("System check identified no issues")


#: Commands that change nothing, need an argument before they begin, or create one object.
WITHOUT_DRY_RUN = {
    "changepassword", "createsuperuser", "create_account", "create_invite", "export_evidence", "seed_demo",
    "doctor", "show_deliveries", "show_domains", "show_outbox", "run", "dev", "setup",
    "cleanup list", "manage_domain_rules list", "manage_domain_rules export", "manage_emojis list", "manage_emojis export",
    "manage_settings show", "media usage", "import_archive show",
    "manage_blocklists list", "manage_blocklists try", "manage_blocklists drafts",
    "manage_hash_lists list", "manage_hash_lists export", "manage_hash_lists find",
}  # fmt: skip


@needs_federation
def test_every_command_explains_itself_and_what_changes_something_can_be_tried() -> None:
    ours = {name for name, app in get_commands().items() if not app.startswith(("django.", "unfold", "import_export"))}
    unexplained, without_dry_run = set(), set()
    for name in ours & {path.stem for path in ROOT.glob("*/management/commands/*.py")}:
        parser = load_command_class(get_commands()[name], name).create_parser("manage.py", name)
        assert parser.description, name
        parts = [action for action in parser._actions if isinstance(action, _SubParsersAction)]
        parsers = {f"{name} {part}": found for action in parts for part, found in action.choices.items()}
        for spoken, found in (parsers or {name: parser}).items():
            unexplained |= {
                (spoken, action.dest) for action in found._actions if not action.help and action not in parts
            }
            if not any("--dry-run" in action.option_strings for action in found._actions):
                without_dry_run.add(spoken)
    assert unexplained == set()
    assert without_dry_run == WITHOUT_DRY_RUN


@pytest.mark.parametrize("command", [["doctor"], ["run"]])
def test_without_the_libraries_a_command_says_in_one_sentence_how_to_install_them(
    command: list[str], tmp_path: Path
) -> None:
    venv.create(tmp_path / "empty", symlinks=True)
    python = tmp_path / "empty" / "bin" / "python"
    words: list[str | Path] = [python, ROOT / "manage.py", *command]
    assert "Install the libraries" in refusal(subprocess.run(words, env={}, capture_output=True, text=True))


@pytest.mark.parametrize("unusable", ["of a home directory", "not executable"])
def test_a_command_says_that_its_user_cannot_run_the_python_of_the_installation(unusable: str, tmp_path: Path) -> None:
    shutil.copy(ROOT / "manage.py", tmp_path)
    python = tmp_path / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    if unusable == "not executable":
        python.touch(0o644)
    else:
        python.symlink_to(tmp_path / "gone" / "python3")
    words: list[str | Path] = [Path(sys.base_prefix) / "bin" / "python3", "-S", tmp_path / "manage.py", "doctor"]
    line = refusal(subprocess.run(words, env={}, capture_output=True, text=True))
    assert f"This user cannot run {python}" in line
