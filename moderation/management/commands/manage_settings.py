"""`manage.py manage_settings`: settings that staff change at run time, and settings of the environment."""

from __future__ import annotations

import json
import os
from argparse import ArgumentParser
from dataclasses import Field, fields
from typing import Any, Final

from django.core.management.base import CommandError

from accounts.policies.staff import OPERATOR
from accounts.queries.site_settings import fixed_site_settings, load_site_texts
from moderation.policies.documents import SiteTexts
from moderation.services.documents import change_site
from social.management.base import OperatorCommand
from social.settings.declared import SETTINGS

_FIELDS: Final[dict[str, Field[Any]]] = {field.name: field for field in fields(SiteTexts)}
_SWITCHES: Final = {"yes": True, "no": False}


class Command(OperatorCommand):
    """A change takes effect at once, in every process."""

    help = (
        "Show the settings of this server, or set one that is kept in the database: name, descriptions, contact, languages, "
        "who may sign up, what is published, who sees public timelines, and how long addresses, logs, reports and held posts "
        "are kept. Those of the environment (docs/settings.md) win and can only be changed there: they are marked as locked."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        kinds = parser.add_subparsers(dest="what", required=True)
        show = kinds.add_parser("show", help="show all, or some")
        show.add_argument("names", nargs="*", metavar="NAME", help="only these")
        show.add_argument("--json", action="store_true", help="machine-readable")
        change = kinds.add_parser("set", help="set one: yes or no for switches, several languages with commas")
        change.add_argument("name", metavar="NAME", help="as the list has it")
        change.add_argument("value", metavar="VALUE", help="@FILE reads it from a file")
        unset = kinds.add_parser("unset", help="go back to the default")
        unset.add_argument("name", metavar="NAME", help="as the list has it")
        for parser_ in (change, unset):
            parser_.add_argument("--dry-run", action="store_true", help="check it, and change nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["what"] == "show":
            self._show(options["names"], as_json=options["json"])
            return
        name = options["name"]
        if f"site_{name.lower()}" in _FIELDS:
            name = f"site_{name.lower()}"
        if name.upper() in SETTINGS:
            raise CommandError(
                f"{name.upper()} is locked: it is set in the environment of the server. Change it there."
            )
        if name in fixed_site_settings():
            raise CommandError(
                f"{name} is locked: {name.removeprefix('site_').upper()} is set in the environment of the server."
            )
        if name not in _FIELDS:
            raise CommandError(f"There is no setting {name}. Settings are {', '.join(_FIELDS)}.")
        value: Any = _FIELDS[name].default if options["what"] == "unset" else self._read(name, options["value"])
        written = {key: found for key, found in load_site_texts(raw=True).items() if key in _FIELDS}
        if isinstance(written.get("site_languages"), list):
            written["site_languages"] = tuple(written["site_languages"])
        before, after = SiteTexts(**written), SiteTexts(**written | {name: value})
        if not options["dry_run"]:
            change_site(by=OPERATOR, texts=after)
        self.stdout.write(f"{name}: {_written(getattr(before, name))} -> {_written(value)}")

    def _read(self, name: str, written: str) -> Any:
        if written.startswith("@"):
            try:
                with open(written[1:], encoding="utf-8") as file:
                    written = file.read()
            except (OSError, UnicodeDecodeError) as error:
                raise CommandError(f"{written[1:]} cannot be read: {error}.") from None
        default = _FIELDS[name].default
        if isinstance(default, bool):
            if written.lower() not in _SWITCHES:
                raise CommandError(f"{name} is yes or no.")
            return _SWITCHES[written.lower()]
        if isinstance(default, int):
            if not written.isascii() or not written.isdecimal() or len(written) > 6:
                raise CommandError(f"{name} is a number of days, 0 for ever.")
            return int(written)
        if isinstance(default, tuple):
            return tuple(code for code in written.replace(",", " ").split() if code)
        return written

    def _show(self, names: list[str], *, as_json: bool) -> None:
        stored, in_force, fixed = load_site_texts(raw=True), load_site_texts(), fixed_site_settings()
        found: dict[str, dict[str, Any]] = {}
        for name, field in _FIELDS.items():
            value = (
                in_force[name] if name.removeprefix("site_").upper() in SETTINGS else stored.get(name, field.default)
            )
            source = "environment, locked" if name in fixed else "database" if name in stored else "default"
            found[name] = {"value": value, "from": source}
        for name in SETTINGS:
            is_set = bool(os.environ.get(name))
            # Several settings hold passwords: their values are not shown.
            found[name] = {"value": None, "from": "environment, locked" if is_set else "default"}
        if unknown := [name for name in names if name not in found]:
            raise CommandError(f"There is no setting {', '.join(unknown)}.")
        chosen = {name: found[name] for name in names} if names else found
        if as_json:
            self.stdout.write(json.dumps(chosen, indent=1, default=list))
            return
        for name, facts in chosen.items():
            shown = "" if facts["value"] is None else f" = {_written(facts['value'])}"
            self.stdout.write(f"{name}{shown}  ({facts['from']})")


def _written(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(value) if isinstance(value, list | tuple) else json.dumps(value, ensure_ascii=False)
