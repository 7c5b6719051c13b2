import json as jsons
import shutil
from collections.abc import Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

from django.conf import settings
from django.core.management.base import CommandError
from django.template.defaultfilters import filesizeformat

from social.management.base import OperatorCommand
from social.management.progress import progress_bar
from social.runtime.backups import archive
from social.runtime.backups.saving import plan, remove_interrupted, save


class Command(OperatorCommand):
    """Take a backup: the database in one snapshot, the secrets, uploaded files and archives, with checksums, in a new folder
    that only its owner can read, because it holds the secrets. The server may run meanwhile. Copies of files from other servers
    are left out, because they are fetched again. Files in an object storage (MEDIA_STORAGE) are left where they are unless
    --with-media is given. Data in Valkey is not included, because it can be rebuilt; neither are logs, mail files and settings
    in the environment. Copy the folder to another machine.

    output: a new folder (DATA_DIR/backups/DOMAIN-TIME)
    into: a folder of backups, in which the new one is named DOMAIN-TIME
    keep: keep only the N newest backups of this server in that folder; also removes the remains of interrupted backups.
        Needs --into
    with_media: copy the files of an object storage, too
    dry_run: show what the backup would contain, and write nothing
    json: print the manifest
    """

    exclusive = ("output", "into")

    def run(
        self, *, output: Annotated[Path | None, ("metavar", "FOLDER")] = None,
        into: Annotated[Path | None, ("metavar", "FOLDER")] = None,
        keep: Annotated[int | None, range(1, 10_001), ("metavar", "N")] = None,
        with_media: bool, dry_run: bool, json: bool,
    ) -> None:  # fmt: skip
        if keep and not into:
            raise CommandError("--keep removes older backups: name their folder with --into.")
        name = archive.name_of(settings.LOCAL_DOMAIN, datetime.now(UTC))
        folder = (output or (into or settings.DATA_DIR / "backups") / name).absolute()
        if keep and not dry_run:
            # Interrupted backups are removed first, so that the check of free space counts their space as free.
            self._say_removed(remove_interrupted(folder.parent), silent=json)
        found = plan(folder, with_media=with_media)
        if not found.with_media:
            self.stderr.write(
                "Files in the object storage are not included (--with-media copies them): keep copies of the bucket, too."
            )
        if dry_run:
            self.stdout.write(f"{folder}: the database and {found.files} files, up to {filesizeformat(found.bytes)}.")
            if keep:
                # One less than `keep`, because the new backup will be one of the newest.
                older = archive.find_older(folder.parent, settings.LOCAL_DOMAIN, keep=keep - 1)
                for former in (*archive.find_interrupted(folder.parent, settings.LOCAL_DOMAIN), *older):
                    self.stdout.write(f"{former} would be removed.")
            return
        manifest = save(found, progress_bar)
        if keep:
            older = archive.find_older(folder.parent, settings.LOCAL_DOMAIN, keep=keep)
            for former in older:
                shutil.rmtree(former)
            self._say_removed(older, silent=json)
        digest = archive.checksum(folder / archive.MANIFEST)
        if json:
            self.stdout.write(jsons.dumps(asdict(manifest) | {"folder": str(folder), "digest": digest}, indent=1))
            return
        self.stdout.write(f"{folder}: {manifest.files} files, {filesizeformat(manifest.bytes)}.")
        self.stdout.write(f"Digest, to be kept elsewhere: {digest}")

    def _say_removed(self, folders: Iterable[Path], *, silent: bool) -> None:
        for folder in () if silent else folders:
            self.stdout.write(f"{folder} is removed.")
