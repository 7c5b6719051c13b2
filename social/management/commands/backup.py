"""`manage.py backup`: saves everything that is needed to restore the server, in one folder."""

from __future__ import annotations

import json
import shutil
from argparse import ArgumentParser, ArgumentTypeError
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.template.defaultfilters import filesizeformat

from social.management.progress import progress_bar
from social.runtime.backups import archive
from social.runtime.backups.saving import plan, remove_interrupted, save


class Command(BaseCommand):
    """Command that takes a backup. Its folder holds the secrets: only its owner can read it, and it must be kept private."""

    help = (
        "Take a backup: the database in one snapshot, the secrets, uploaded files and archives, with checksums, in a new "
        "folder. The server may run meanwhile. Copies of files of other servers are left out: they are fetched again. Files "
        "in an object storage (MEDIA_STORAGE) are left where they are unless --with-media is given. What is in Valkey is "
        "rebuilt, and logs, mail files and settings in the environment are not included. Bring the folder to another machine."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        where = parser.add_mutually_exclusive_group()
        where.add_argument("--output", type=Path, metavar="FOLDER", help="a new folder (DATA_DIR/backups/DOMAIN-TIME)")
        where.add_argument(
            "--into", type=Path, metavar="FOLDER", help="a folder of backups; its name there is DOMAIN-TIME"
        )
        parser.add_argument(
            "--keep",
            type=_number,
            metavar="N",
            help="remove older backups of this server from that folder then, all but the N newest, and first what interrupted "
            "ones have left there; needs --into",
        )
        parser.add_argument("--with-media", action="store_true", help="copy the files of an object storage, too")
        parser.add_argument("--dry-run", action="store_true", help="say what would be in it, and write nothing")
        parser.add_argument("--json", action="store_true", help="print the manifest")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["keep"] and not options["into"]:
            raise CommandError("--keep removes older backups: name their folder with --into.")
        name = archive.name_of(settings.LOCAL_DOMAIN, datetime.now(UTC))
        folder = (options["output"] or (options["into"] or settings.DATA_DIR / "backups") / name).absolute()
        if options["keep"] and not options["dry_run"]:
            # Interrupted backups are removed first, so that the check of free space counts their space as free.
            self._say_removed(remove_interrupted(folder.parent), options)
        found = plan(folder, with_media=options["with_media"])
        if not found.with_media:
            self.stderr.write(
                "Files in the object storage are not included (--with-media copies them): keep copies of the bucket, too."
            )
        if options["dry_run"]:
            size = filesizeformat(found.bytes)
            self.stdout.write(f"{folder}: the database and {found.files} files, up to {size}.")
            if options["keep"]:
                # One less than `keep`, because the new backup will be one of the newest.
                older = archive.find_older(folder.parent, settings.LOCAL_DOMAIN, keep=options["keep"] - 1)
                for former in (*archive.find_interrupted(folder.parent, settings.LOCAL_DOMAIN), *older):
                    self.stdout.write(f"{former} would be removed.")
            return
        manifest = save(found, progress_bar)
        if options["keep"]:
            older = archive.find_older(folder.parent, settings.LOCAL_DOMAIN, keep=options["keep"])
            for former in older:
                shutil.rmtree(former)
            self._say_removed(older, options)
        digest = archive.digest_of(folder)
        if options["json"]:
            self.stdout.write(json.dumps(asdict(manifest) | {"folder": str(folder), "digest": digest}, indent=1))
            return
        self.stdout.write(f"{folder}: {manifest.files} files, {filesizeformat(manifest.bytes)}.")
        self.stdout.write(f"Digest, to be kept elsewhere: {digest}")

    def _say_removed(self, folders: list[Path], options: dict[str, Any]) -> None:
        if not options["json"]:
            for folder in folders:
                self.stdout.write(f"{folder} is removed.")


def _number(value: str) -> int:
    if not value.isascii() or not value.isdecimal() or not 1 <= int(value) <= 10_000:
        raise ArgumentTypeError("a number from 1 to 10000 is needed")
    return int(value)
