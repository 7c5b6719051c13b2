import zipfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from django.core.management.base import CommandError

from accounts.emojis.models import CustomEmoji
from accounts.emojis.services.packs import Terms, export_emojis, import_emojis, read_pack, remove_local_emojis
from accounts.policies.staff import OPERATOR
from social.management.base import OperatorCommand, would
from social.management.progress import progress_bar


class Command(OperatorCommand):
    """List, import, export and remove the custom emojis of this server. A pack is a folder, a zip or a tar archive of
    PNG, GIF, WebP or JPEG pictures that are named after their shortcodes, 256 kB each. Posts show a change within ten
    minutes.
    """

    def list_(self) -> None:
        """Show all emojis with their categories."""
        rows = CustomEmoji.objects.filter(domain=None).order_by("category", "shortcode")
        for emoji in rows.iterator(chunk_size=500):
            hidden = "" if emoji.visible_in_picker else "not in the picker"
            notes = [emoji.category, hidden, "disabled" if emoji.disabled else ""]
            self.stdout.write("  ".join([f":{emoji.shortcode}:", *filter(None, notes)]))
        if not rows.exists():
            self.stdout.write("There are no emojis.")

    def import_(
        self, pack: Path, *, category: str = "", prefix: str = "", suffix: str = "", overwrite: bool, not_in_picker: bool,
        dry_run: bool,
    ) -> None:  # fmt: skip
        """Add the pictures of a pack.

        pack: a folder, a zip or a tar archive
        category: the category of all of them
        prefix: text before every name
        suffix: text after every name
        overwrite: replace existing emojis that have the same names
        not_in_picker: leave them out of the picker
        """
        terms = Terms(category=category, prefix=prefix, suffix=suffix, overwrite=overwrite, listed=not not_in_picker)
        counts: Counter[str] = Counter()
        with progress_bar("Pictures", None) as advance:
            for outcome in import_emojis(by=OPERATOR, files=read_pack(pack), terms=terms, dry_run=dry_run):
                counts[outcome.result] += 1
                advance(1)
                if outcome.reason:
                    self.stderr.write(f"{outcome.name}: {outcome.reason}")
        if not counts:
            raise CommandError("There are no pictures in it.")
        prefix = "would be: " if dry_run else ""
        self.stdout.write(prefix + ", ".join(f"{result} {count}" for result, count in sorted(counts.items())))

    def export(self, output: Path, *, category: str | None = None) -> None:
        """Write a pack.

        output: a new zip archive
        category: only this category
        """
        count = 0
        with zipfile.ZipFile(output, "x") as pack, progress_bar("Pictures", None) as advance:
            for name, data in export_emojis(category=category):
                pack.writestr(name, data)
                count += 1
                advance(1)
        self.stdout.write(f"{count} in {output}")

    def remove(
        self, shortcodes: Annotated[Sequence[str], ("metavar", "SHORTCODE")] = (), *, category: str | None = None, dry_run: bool
    ) -> None:  # fmt: skip
        """Remove emojis with their pictures; posts then show their names.

        shortcodes: names without colons
        category: all emojis of this category
        """
        if bool(shortcodes) is (category is not None):
            raise CommandError("Name the emojis, or use --category.")
        names = {name.strip(":") for name in shortcodes}
        rows = CustomEmoji.objects.filter(domain=None).order_by("shortcode")
        emojis = list(rows.filter(shortcode__one_of=names) if names else rows.filter(category=category))
        if missing := names - {emoji.shortcode for emoji in emojis}:
            raise CommandError(f"There is no {', '.join(sorted(missing))}. Nothing was removed.")
        if not dry_run:
            remove_local_emojis(by=OPERATOR, emojis=emojis)
        for emoji in emojis:
            self.stdout.write(f"{emoji} {would(dry_run)}removed")
        if not emojis:
            self.stdout.write(f"There are no emojis in {category}.")
