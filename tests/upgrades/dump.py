"""Makes the dump of a server that runs an earlier commit: `python -m tests.upgrades.dump COMMIT`.

The commit's own code runs with its own servers and creates accounts, a list, followed hashtags, and posts over HTTP. Two files
are written to `dumps/`: the database as SQL, and the values that a client and the upgraded server need (tokens, ids, and the
secrets of that server, which were never used elsewhere). A dump is added for the last commit before each stage of the project.
"""

import json
import lzma
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote
from urllib.request import Request, urlopen

from social.runtime.embedded import Embedded
from tests.runtime.processes import ROOT, clean_environment, free_ports, fresh_folder, running

DUMPS: Final = Path(__file__).parent / "dumps"
DOMAIN: Final = "upgraded.localhost"

# Commands that only `psql` supports, and settings that older servers do not have.
_NOT_SQL: Final = re.compile(r"^(?:\\|SET transaction_timeout).*\n", re.MULTILINE)


def kept_dumps() -> list[str]:
    """Return the names of the dumps in `dumps/`, oldest first according to the times in their ids."""
    facts = {path.stem: json.loads(path.read_text()) for path in DUMPS.glob("*.json")}
    return sorted(facts, key=lambda name: int(facts[name]["posts"]["answer"]))


class Client:
    """A user's client for a server on this machine."""

    def __init__(self, port: str, token: str) -> None:
        self.address, self.token = f"http://127.0.0.1:{port}", token

    def ask(self, method: str, path: str, **values: Any) -> Any:
        """Return the JSON of a response; raise HTTPError for a refusal."""
        headers = {"Host": DOMAIN, "Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        body = json.dumps(values).encode() if values else None
        with urlopen(Request(self.address + path, body, headers, method=method), timeout=120) as response:
            return json.load(response)


def main(commit: str) -> None:
    """Write the two files, named after the commit."""
    short = subprocess.check_output(["git", "rev-parse", "--short=7", commit], cwd=ROOT, text=True).strip()
    code = Path(tempfile.mkdtemp(prefix="social-old-")) / "code"
    data_dir = fresh_folder()
    subprocess.run(["git", "worktree", "add", "--quiet", "--detach", str(code), commit], cwd=ROOT, check=True)
    try:
        environment = clean_environment(DATA_DIR=str(data_dir), LOCAL_DOMAIN=DOMAIN, **free_ports())
        program = [sys.executable, str(code / "manage.py")]
        with running([*program, "run"], data_dir / "log", environment) as server:
            server.says("Social is ready")
            facts = _fill(program, environment)
            server.end()
        facts |= {"commit": short, "secrets": json.loads((data_dir / "secrets.json").read_text())}
        DUMPS.mkdir(exist_ok=True)
        (DUMPS / f"{short}.json").write_text(json.dumps(facts, indent=1) + "\n")
        (DUMPS / f"{short}.sql.xz").write_bytes(lzma.compress(_dumped(data_dir).encode(), preset=9))
    finally:
        subprocess.run(["git", "worktree", "remove", "--force", str(code)], cwd=ROOT, check=True)
        shutil.rmtree(code.parent)
        shutil.rmtree(data_dir)


def _fill(program: list[str], environment: dict[str, str]) -> dict[str, Any]:
    """Create accounts and their content, and return the values that a test needs."""

    def create_account(name: str, role: str | None = None) -> dict[str, str]:
        command = [*program, "create_account", name, "--email", f"{name}@example.com", "--confirmed"]
        command += ["--token", "read write follow push", *(["--role", role] if role else [])]
        made: dict[str, str] = json.loads(subprocess.check_output(command, env=environment, text=True))
        return made

    alice, bob = create_account("alice", "Owner"), create_account("bob")
    as_alice, as_bob = (Client(environment["PORT"], one["access_token"]) for one in (alice, bob))
    as_alice.ask("POST", f"/api/v1/accounts/{bob['id']}/follow")
    friends = as_alice.ask("POST", "/api/v1/lists", title="Friends")
    as_alice.ask("POST", f"/api/v1/lists/{friends['id']}/accounts", account_ids=[bob["id"]])
    as_alice.ask("POST", f"/api/v1/tags/{quote('cats')}/follow")
    public = as_bob.ask("POST", "/api/v1/statuses", status="A public post about #cats", language="en")
    private = as_bob.ask("POST", "/api/v1/statuses", status="For followers: #secretword", visibility="private")
    answer = as_alice.ask("POST", "/api/v1/statuses", status="@bob nice", in_reply_to_id=public["id"])
    return {
        "tokens": {"alice": alice["access_token"], "bob": bob["access_token"]},
        "accounts": {"alice": alice["id"], "bob": bob["id"]},
        "list": friends["id"],
        "posts": {"public": public["id"], "private": private["id"], "answer": answer["id"]},
    }


def _dumped(data_dir: Path) -> str:
    """Return the database as SQL statements that any client can run."""
    servers = Embedded(data_dir, durable=False, valkey_wanted=False)
    servers.start()
    try:
        command = [
            servers.postgres.binaries() / "pg_dump",
            "--no-owner",
            "--inserts",
            "-d",
            servers.postgres.conninfo(),
        ]
        return _NOT_SQL.sub("", subprocess.check_output(command, text=True))
    finally:
        servers.stop()


if __name__ == "__main__":
    main(sys.argv[1])
