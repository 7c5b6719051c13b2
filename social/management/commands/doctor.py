"""`manage.py doctor`: shows what is wrong with this installation, and how to repair it."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand

from social.runtime.doctor import examine
from social.runtime.machine_checks import Check
from social.runtime.options import add_options

_MARKS = {"ok": "ok", "warning": "WARN", "failed": "FAIL"}


class Command(BaseCommand):
    """Command that makes all checks and exits with 1 if one fails."""

    help = "Check what an operator can get wrong; exit with 1, and the remedies, when something is."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_options(parser)
        parser.add_argument("--json", action="store_true", help="Print one JSON object instead of the table.")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the result of each check as soon as it is made."""
        checks = []
        for check in examine():
            checks.append(check)
            if not options["json"]:
                self._show(check)
        failed = [check for check in checks if check.state == "failed"]
        if options["json"]:
            answer = {"ok": not failed, "checks": [asdict(check) for check in checks]}
            self.stdout.write(json.dumps(answer, indent=1, ensure_ascii=False))
        else:
            self.stdout.write(f"\n{len(checks)} checks, {len(failed)} failed.")
        if failed:
            sys.exit(1)

    def _show(self, check: Check) -> None:
        style = {"ok": self.style.SUCCESS, "warning": self.style.WARNING, "failed": self.style.ERROR}[check.state]
        self.stdout.write(f"{style(f'{_MARKS[check.state]:<4}')}  {check.name:<15} {check.detail}")
        if check.remedy and check.state != "ok":
            self.stdout.write(f"{'':<6}{'':<15} -> {check.remedy}")
