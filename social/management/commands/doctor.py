import json as jsons
import sys
from dataclasses import asdict

from social.management.base import OperatorCommand
from social.runtime.doctor import examine
from social.runtime.machine_checks import Check
from social.runtime.options import add_options

_MARKS = {"ok": "ok", "warning": "WARN", "failed": "FAIL"}


class Command(OperatorCommand):
    """Check the installation for mistakes that the operator can correct. If there are any, print the remedies and exit with 1.

    json: print one JSON object instead of the table
    """

    requires_system_checks: list[str] = []
    also = (add_options,)

    def run(self, *, json: bool) -> None:
        checks = []
        for check in examine():
            checks.append(check)
            if not json:
                self._show(check)
        failed = [check for check in checks if check.state == "failed"]
        if json:
            answer = {"ok": not failed, "checks": [asdict(check) for check in checks]}
            self.stdout.write(jsons.dumps(answer, indent=1, ensure_ascii=False))
        else:
            self.stdout.write(f"\n{len(checks)} checks, {len(failed)} failed.")
        if failed:
            sys.exit(1)

    def _show(self, check: Check) -> None:
        style = {"ok": self.style.SUCCESS, "warning": self.style.WARNING, "failed": self.style.ERROR}[check.state]
        self.stdout.write(f"{style(f'{_MARKS[check.state]:<4}')}  {check.name:<15} {check.detail}")
        if check.remedy and check.state != "ok":
            self.stdout.write(f"{'':<6}{'':<15} -> {check.remedy}")
