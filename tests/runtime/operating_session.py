"""Runs the commands of docs/operating.md as written, as root of an isolated machine that exists only as long as they run.

`unshare --mount --net --pid ... python -m tests.runtime.operating_session PLAN.json`: the folders in `_PRIVATE` are redirected
to a folder of the test, the network is an isolated loopback, and all processes end with the first one.
"""

import json
import os
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

from tests.support.mail_server import MailServer

_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_PRIVATE = ("etc", "opt", "root", "usr/local", "var")


def _separate(folder: Path) -> None:
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    for name in _PRIVATE:
        upper, work = folder / name / "upper", folder / name / "work"
        upper.mkdir(parents=True)
        work.mkdir()
        upper.chmod(Path("/", name).stat().st_mode)
        layers = f"lowerdir=/{name},upperdir={upper},workdir={work}"
        subprocess.run(["mount", "-t", "overlay", "overlay", "-o", layers, f"/{name}"], check=True)
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run"], check=True)
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)


def _wait_for_the_server() -> None:
    """Wait until the started units respond. An operator would look at the log, as the page says."""
    deadline = time.monotonic() + 180
    while True:
        started = any(Path(f"/run/units/{name}.service.pid").exists() for name in ("social", "social-web"))
        try:
            if started:
                urllib.request.urlopen("http://127.0.0.1:8000/health/ready", timeout=10)
            return
        except OSError:
            if time.monotonic() > deadline:
                logs = [path.read_text()[-3000:] for path in Path("/run/units").glob("*.log")]
                raise RuntimeError(f"The server does not answer: {logs}") from None
            time.sleep(0.2)


def main() -> None:
    plan: dict[str, Any] = json.loads(Path(sys.argv[1]).read_text())
    folder = Path(plan["folder"])
    _separate(folder / "layers")
    for name, text in plan["stand_ins"].items():
        program = Path("/usr/local/sbin", name)
        program.write_text(text)
        program.chmod(0o755)
    with Path("/etc/hosts").open("a") as hosts:
        hosts.write("127.0.0.1 localhost social.example mail.example db.internal redis.internal\n")
    environment = {"PATH": _PATH, "HOME": "/root", "LANG": "C.UTF-8"} | plan["environment"]
    environment["MAIL_PORT"] = str(MailServer().port)
    for number, block in enumerate(plan["blocks"]):
        script = folder / f"block-{number}.sh"
        script.write_text(block["script"])
        print(f"\n### {block['name']}", flush=True)
        where = "/opt/social" if Path("/opt/social").exists() else "/root"
        began = time.monotonic()
        done = subprocess.run(["bash", "-ex", str(script)], cwd=where, env=environment, stdin=subprocess.DEVNULL)
        print(f"### {block['name']}: {done.returncode}, after {time.monotonic() - began:.1f} s", flush=True)
        if done.returncode:
            for log in Path("/run/units").glob("*.log"):
                print(log.name, log.read_text()[-2000:], flush=True)
            sys.exit(1)
        _wait_for_the_server()
    print("### done", flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()
