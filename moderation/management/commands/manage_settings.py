import json
import os
from collections.abc import Sequence
from dataclasses import fields
from typing import Annotated, Any, Final

from django.core.management.base import CommandError

from accounts.policies.staff import OPERATOR
from accounts.queries.site_settings import fixed_site_settings, load_site_texts
from moderation.policies.documents import SiteTexts
from moderation.services.documents import change_site
from social.management.base import OperatorCommand
from social.settings.declared import SETTINGS

_FIELDS: Final = [field.name for field in fields(SiteTexts)]
_SWITCHES: Final = {"yes": True, "no": False}


def _setting_name(name: str) -> str:
    """Return the name of a setting that can be changed, even if it was given without `site_`. Raises CommandError."""
    if f"site_{name.lower()}" in _FIELDS:
        name = f"site_{name.lower()}"
    if name.upper() in SETTINGS:
        raise CommandError(f"{name.upper()} is locked: it is set in the environment of the server. Change it there.")
    if name in fixed_site_settings():
        raise CommandError(
            f"{name} is locked: {name.removeprefix('site_').upper()} is set in the environment of the server."
        )
    if name not in _FIELDS:
        raise CommandError(f"There is no setting {name}. Settings are {', '.join(_FIELDS)}.")
    return name


_Name = Annotated[str, _setting_name, ("metavar", "NAME"), ("help", "as `show` lists it")]


class Command(OperatorCommand):
    """Show the settings of this server, or change one that is stored in the database: name, descriptions, contact, languages,
    who may sign up, what is published, who sees public timelines, and how long addresses, logs, reports and posts are kept.
    Settings of the environment (docs/settings.md) take precedence and can only be changed there; they are marked as locked. A
    change takes effect immediately.
    """

    def show(self, names: Annotated[Sequence[str], ("metavar", "NAME")] = (), *, json_: bool) -> None:
        """Show all settings, or some.

        names: only these settings
        """
        stored, in_force, fixed = load_site_texts(raw=True), load_site_texts(), fixed_site_settings()
        facts_by_name: dict[str, dict[str, Any]] = {}
        for name in _FIELDS:
            value = (
                in_force[name]
                if name.removeprefix("site_").upper() in SETTINGS
                else stored.get(name, _default_of(name))
            )
            source = "environment, locked" if name in fixed else "database" if name in stored else "default"
            facts_by_name[name] = {"value": value, "from": source}
        for name in SETTINGS:
            is_set = bool(os.environ.get(name))
            # Several settings hold passwords, so their values are not shown.
            facts_by_name[name] = {"value": None, "from": "environment, locked" if is_set else "default"}
        if unknown := [name for name in names if name not in facts_by_name]:
            raise CommandError(f"There is no setting {', '.join(unknown)}.")
        chosen = {name: facts_by_name[name] for name in names} if names else facts_by_name
        if json_:
            self.stdout.write(json.dumps(chosen, indent=1, default=list))
            return
        for name, facts in chosen.items():
            shown = "" if facts["value"] is None else f" = {_value_as_text(facts['value'])}"
            self.stdout.write(f"{name}{shown}  ({facts['from']})")

    def set(self, name: _Name, value: Annotated[str, ("metavar", "VALUE")], *, dry_run: bool) -> None:
        """Change a setting: yes or no for switches, several languages or accounts separated by commas.

        value: the new value; @FILE reads it from a file
        """
        self._change(name, self._read(name, value), dry_run)

    def unset(self, name: _Name, *, dry_run: bool) -> None:
        """Reset a setting to its default."""
        self._change(name, _default_of(name), dry_run)

    def _change(self, name: str, value: Any, dry_run: bool) -> None:
        stored = {key: found for key, found in load_site_texts(raw=True).items() if key in _FIELDS}
        written: dict[str, Any] = {
            key: tuple(found) if isinstance(found, list) else found for key, found in stored.items()
        }
        before, after = SiteTexts(**written), SiteTexts(**written | {name: value})
        if not dry_run:
            change_site(by=OPERATOR, texts=after)
        self.stdout.write(f"{name}: {_value_as_text(getattr(before, name))} -> {_value_as_text(value)}")

    def _read(self, name: str, written: str) -> Any:
        if written.startswith("@"):
            try:
                with open(written[1:], encoding="utf-8") as file:
                    written = file.read()
            except (OSError, UnicodeDecodeError) as error:
                raise CommandError(f"{written[1:]} cannot be read: {error}.") from None
        default = _default_of(name)
        if isinstance(default, bool):
            if written.lower() not in _SWITCHES:
                raise CommandError(f"{name} is yes or no.")
            return _SWITCHES[written.lower()]
        if isinstance(default, int):
            if not written.isascii() or not written.isdecimal() or len(written) > 9:
                raise CommandError(f"{name} is a number.")
            return int(written)
        if isinstance(default, tuple):
            return tuple(code for code in written.replace(",", " ").split() if code)
        return written


def _default_of(name: str) -> Any:
    return getattr(SiteTexts(), name)


def _value_as_text(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(value) if isinstance(value, list | tuple) else json.dumps(value, ensure_ascii=False)
