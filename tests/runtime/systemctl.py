"""A substitute for systemctl where systemd does not run: it starts the processes of unit files as the users named there. It
supports the directives for starting, stopping and reloading a process. The directives for confinement are only checked by
`systemd-analyze verify`. It runs with the machine's own Python, so it imports only the standard library.
"""

import configparser
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

UNITS = Path("/etc/systemd/system")
STATE = Path("/run/units")


class Unit:
    """A unit file and its process, if it was started."""

    def __init__(self, name: str) -> None:
        self.name = name if "." in name else f"{name}.service"
        stem, at, rest = self.name.partition("@")
        instance, _, kind = rest.rpartition(".")
        self.file = UNITS / (f"{stem}@.{kind}" if at else self.name)
        self.lines = configparser.RawConfigParser(strict=False, delimiters="=", comment_prefixes="#")
        self.lines.optionxform = str  # type: ignore[assignment,method-assign]  # as its documentation says
        if not self.lines.read(self.file):
            sys.exit(f"Unit {self.name} not found.")
        self.instance = instance
        self.pid_file = STATE / f"{self.name}.pid"

    def get(self, section: str, key: str) -> str:
        return self.lines.get(section, key, fallback="").replace("%i", self.instance)

    def pid(self) -> int:
        try:
            pid = int(self.pid_file.read_text())
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return 0
        return 0 if state == "Z" else pid

    def environment(self) -> dict[str, str]:
        lines = Path(self.get("Service", "EnvironmentFile")).read_text().splitlines()
        words = [shlex.split(line, comments=True) for line in (*lines, self.get("Service", "Environment"))]
        pairs = [word.partition("=") for found in words for word in found]
        return {"PATH": os.environ["PATH"], "LANG": "C.UTF-8"} | {name: value for name, _, value in pairs}

    def start(self) -> None:
        if not self.lines.has_section("Service"):
            if calendar := self.get("Timer", "OnCalendar"):
                subprocess.run(["systemd-analyze", "calendar", calendar], check=True, stdout=subprocess.DEVNULL)
            return
        for needed in self.get("Unit", "Wants").split():
            if needed.startswith("social"):
                Unit(needed).start()
        if self.pid():
            return
        user, group = self.get("Service", "User"), self.get("Service", "Group")
        for key, parent, mode in (("StateDirectory", "/var/lib", 0o700), ("RuntimeDirectory", "/run", 0o755)):
            if name := self.get("Service", key):
                Path(parent, name).mkdir(exist_ok=True)
                Path(parent, name).chmod(mode)
                shutil.chown(Path(parent, name), user, group)
        command = ["setpriv", "--reuid", user, "--regid", group, "--init-groups", "--no-new-privs"]
        with (STATE / f"{self.name}.log").open("ab") as log:
            process = subprocess.Popen(
                command + shlex.split(self.get("Service", "ExecStart")),
                cwd=self.get("Service", "WorkingDirectory"),
                env=self.environment(),
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.pid_file.write_text(str(process.pid))
        if self.get("Service", "Type") == "oneshot" and process.wait() != 0:
            sys.exit(f"{self.name} failed: {(STATE / f'{self.name}.log').read_text()[-2000:]}")

    def stop(self) -> None:
        if pid := self.pid():
            os.kill(pid, signal.SIGTERM)
            deadline = time.monotonic() + 90
            while self.pid():
                if time.monotonic() > deadline:
                    sys.exit(f"{self.name} does not end.")
                time.sleep(0.05)
            self.pid_file.unlink()

    def reload(self) -> None:
        command = self.get("Service", "ExecReload").replace("$MAINPID", str(self.pid()))
        subprocess.run(shlex.split(command), check=True)


def main(verb: str, *words: str) -> None:
    STATE.mkdir(exist_ok=True)
    units = [Unit(word) for word in words if not word.startswith("--") and word != "systemd-journald"]
    for unit in units:
        if verb == "enable" and not unit.lines.has_section("Install"):
            sys.exit(f"{unit.name} has nothing to be enabled for.")
        if verb in ("stop", "restart") or (verb == "disable" and "--now" in words):
            unit.stop()
        if verb in ("start", "restart") or (verb == "enable" and "--now" in words):
            unit.start()
        if verb == "reload":
            unit.reload()
    if verb not in ("daemon-reload", "start", "stop", "restart", "reload", "enable", "disable"):
        sys.exit(f"The stand-in does not know {verb}.")


main(*sys.argv[1:])
