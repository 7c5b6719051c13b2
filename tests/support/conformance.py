"""`make conformance`: plays recorded scenarios of Mastodon against a server with this code, and compares the responses.

The recordings are not part of the repository: the folder that CONFORMANCE names holds them and their player, `play.py`. Without
it nothing is compared, which is not an error.
"""

import argparse
import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from tests.support.instance import ROOT, Instance

PLAYER: Final = ROOT / os.environ.get("CONFORMANCE", "../shared/conformance") / "play.py"
#: A file with a line for each scenario: its name, and the number of steps whose responses equal Mastodon's.
COUNTS: Final = ROOT / "tests" / "conformance.txt"


def play(patterns: Sequence[str] = (), *, quiet: bool = False, out: Path | None = None) -> dict[str, int]:
    """Play the scenarios that match the patterns, or all, on a new server, and return the number of equal steps of each.

    Differences are printed unless `quiet`; `out` is where the server's responses are stored.
    """
    with Instance() as server, tempfile.TemporaryDirectory() as folder:
        # Without this wait, the events of a post could arrive so late that streams opened after the post would get them.
        server.wait_for("worker")
        owner = shlex.join([sys.executable, "manage.py", "modify_account"]) + " {username} --role Owner"
        # The patterns come first, because argparse accepts none after options (bpo-15112).
        command = [sys.executable, str(PLAYER), "compare", *patterns]
        command += ["--base-url", server.base_url, "--out", str(out or folder)]
        done = subprocess.run(
            [*command, *(["--quiet"] if quiet else [])],
            cwd=ROOT,
            env=server.environment | {"ADMIN_CMD": owner, "PYTHONDONTWRITEBYTECODE": "1"},
            check=False,
        )
        report = Path(out or folder) / "report.json"
        if done.returncode not in (0, 1) or not report.exists():
            raise RuntimeError(f"the player ended with {done.returncode}")
        steps = json.loads(report.read_text())
    alike = Counter(step["scenario"] for step in steps if step["verdict"] == "same")
    return {step["scenario"]: alike[step["scenario"]] for step in steps}


def recorded() -> dict[str, int]:
    """Return the numbers in COUNTS."""
    lines = COUNTS.read_text().splitlines()
    return {name: int(alike) for name, alike in (line.split() for line in lines if not line.startswith("#"))}


def record(found: Mapping[str, int]) -> None:
    """Write the numbers of the scenarios that were played; the numbers of all other scenarios stay."""
    heading = [line for line in COUNTS.read_text().splitlines() if line.startswith("#")]
    lines = [f"{name} {alike}" for name, alike in sorted((recorded() | dict(found)).items())]
    COUNTS.write_text("\n".join([*heading, *lines]) + "\n")


def fallen(found: Mapping[str, int]) -> list[str]:
    """Return a line for each scenario with fewer equal steps than in COUNTS."""
    known = recorded()
    return [
        f"{name}: {alike} steps answer alike, {known[name]} did"
        for name, alike in found.items()
        if alike < known.get(name, 0)
    ]


def main() -> int:
    """Play the scenarios, print those with fewer equal steps, and write the numbers on request."""
    parser = argparse.ArgumentParser(prog="make conformance", description=__doc__)
    parser.add_argument("scenarios", nargs="*", help="names, or patterns such as 'accounts_*'; all without")
    parser.add_argument("--quiet", action="store_true", help="the counts only, no differences")
    parser.add_argument("--out", type=Path, help="a folder for the server's answers and report.json")
    parser.add_argument("--record", action="store_true", help="write the counts into tests/conformance.txt")
    arguments = parser.parse_args()
    if not PLAYER.exists():
        print(
            f"There are no recorded answers at {PLAYER.parent}: nothing to compare with (CONFORMANCE names the folder)."
        )
        return 0
    found = play(arguments.scenarios, quiet=arguments.quiet, out=arguments.out)
    if arguments.record:
        record(found)
    for line in fallen(found):
        print(line)
    return 1 if fallen(found) else 0


if __name__ == "__main__":
    sys.exit(main())
