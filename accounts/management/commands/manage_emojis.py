"""`manage.py manage_emojis`: lists, imports, exports and removes custom emojis of this server."""

from __future__ import annotations

import zipfile
from argparse import ArgumentParser
from collections import Counter
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from accounts.models import CustomEmoji
from accounts.policies.staff import OPERATOR
from accounts.services.emoji_packs import Terms, export_emojis, import_emojis, read_pack, remove_local_emojis
from social.management.base import OperatorCommand
from social.management.progress import progress_bar


class Command(OperatorCommand):
    """Change emojis with effect at once; cached posts show a change within ten minutes."""

    help = (
        "Show the custom emojis of this server, add those of a pack (a folder, zip or tar archive of PNG, GIF, WebP or JPEG "
        "pictures named by their shortcodes, 256 kB each), write a pack, or remove some."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        kinds = parser.add_subparsers(dest="what", required=True)
        kinds.add_parser("list", help="show all, with category")
        read = kinds.add_parser("import", help="add the pictures of a pack")
        read.add_argument("pack", type=Path, help="a folder, a zip or a tar archive")
        read.add_argument("--category", default="", help="of all of them, in the picker")
        read.add_argument("--prefix", default="", help="in front of every name")
        read.add_argument("--suffix", default="", help="behind every name")
        read.add_argument("--overwrite", action="store_true", help="replace those that have such a name")
        read.add_argument("--not-in-picker", action="store_true", help="leave them out of the picker")
        write = kinds.add_parser("export", help="write a pack")
        write.add_argument("output", type=Path, help="a new zip archive")
        write.add_argument("--category", help="only this one")
        remove = kinds.add_parser("remove", help="remove emojis with their pictures; posts show their names then")
        remove.add_argument("shortcodes", nargs="*", metavar="SHORTCODE", help="names without colons")
        remove.add_argument("--category", help="all of this one")
        for parser_ in (read, remove):
            parser_.add_argument("--dry-run", action="store_true", help="say what would happen, and change nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            getattr(self, f"_{options['what']}")(options)
        except OSError as error:
            raise CommandError(f"{error.filename}: {error.strerror}.") from None

    def _list(self, _options: dict[str, Any]) -> None:
        rows = CustomEmoji.objects.filter(domain=None).order_by("category", "shortcode")
        for emoji in rows.iterator(chunk_size=500):
            notes = [
                emoji.category,
                "" if emoji.visible_in_picker else "not in the picker",
                "disabled" if emoji.disabled else "",
            ]
            self.stdout.write("  ".join([f":{emoji.shortcode}:", *filter(None, notes)]))

    def _import(self, options: dict[str, Any]) -> None:
        terms = Terms(
            category=options["category"],
            prefix=options["prefix"],
            suffix=options["suffix"],
            overwrite=options["overwrite"],
            listed=not options["not_in_picker"],
        )
        files = read_pack(options["pack"])
        counts: Counter[str] = Counter()
        with progress_bar("Pictures", None) as advance:
            for found in import_emojis(by=OPERATOR, files=files, terms=terms, dry_run=options["dry_run"]):
                counts[found.result] += 1
                advance(1)
                if found.reason:
                    self.stderr.write(f"{found.name}: {found.reason}")
        if not counts:
            raise CommandError("There are no pictures in it.")
        prefix = "would be: " if options["dry_run"] else ""
        self.stdout.write(prefix + ", ".join(f"{result} {count}" for result, count in sorted(counts.items())))

    def _export(self, options: dict[str, Any]) -> None:
        count = 0
        with zipfile.ZipFile(options["output"], "x") as pack, progress_bar("Pictures", None) as advance:
            for name, data in export_emojis(category=options["category"]):
                pack.writestr(name, data)
                count += 1
                advance(1)
        self.stdout.write(f"{count} in {options['output']}")

    def _remove(self, options: dict[str, Any]) -> None:
        if bool(options["shortcodes"]) is (options["category"] is not None):
            raise CommandError("Name emojis, or say --category.")
        names = {name.strip(":") for name in options["shortcodes"]}
        rows = CustomEmoji.objects.filter(domain=None).order_by("shortcode")
        emojis = list(rows.filter(shortcode__one_of=names) if names else rows.filter(category=options["category"]))
        if missing := names - {emoji.shortcode for emoji in emojis}:
            raise CommandError(f"There is no {', '.join(sorted(missing))}. Nothing was removed.")
        if not options["dry_run"]:
            remove_local_emojis(by=OPERATOR, emojis=emojis)
        for emoji in emojis:
            self.stdout.write(f"{emoji} {'would be ' if options['dry_run'] else ''}removed")
