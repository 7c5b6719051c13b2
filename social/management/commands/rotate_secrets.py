import os
from typing import Final, Literal

from django.conf import settings
from django.core.management.base import CommandError
from django.db import connection, transaction

from accounts.policies.staff import OPERATOR
from accounts.services.key_pairs import count_encrypted, reencrypt_all
from moderation.blocklists.services.lists import count_passwords, reencrypt_passwords
from moderation.services.webhooks import count_secrets, reencrypt_secrets
from notifications.services.push_subscriptions import forget_all_subscriptions
from social.management.base import OperatorCommand
from social.management.progress import progress_bar
from social.runtime import fingerprints, secrets_file
from social.runtime.datadir import running_supervisor
from social.settings import env
from social.settings.secrets import load_secrets

_NAMES: Final = {
    "secret-key": ("SECRET_KEY", "SECRET_KEY_FALLBACKS"),
    "encryption-key": ("FIELD_ENCRYPTION_KEYS",),
    "web-push": ("VAPID_PRIVATE_KEY", "VAPID_PUBLIC_KEY"),
}
_FORMER_KEYS: Final = {"secret-key": "SECRET_KEY_FALLBACKS", "encryption-key": "FIELD_ENCRYPTION_KEYS"}


class Command(OperatorCommand):
    """Replace a secret in secrets.json after somebody else may have seen it. secret-key: sessions, links in e-mails and file
    addresses stay valid with the former key, until --forget-old. encryption-key: second factors, signing keys and secrets of
    webhooks are encrypted again; --forget-old does that again and removes the former keys. web-push: a new pair of keys, which
    ends every subscription of an application (--yes).

    To replace the signing keys of accounts, use rotate_keys. Stop the server first; with several machines, copy secrets.json to
    the others before they start.

    kind: which secret
    forget_old: remove former keys instead of adding a new one
    yes: needed for web-push, because subscriptions end
    """

    # A running process would continue to write with the old secret.
    def run(
        self, kind: Literal["secret-key", "encryption-key", "web-push"], *, forget_old: bool, yes: bool, dry_run: bool
    ) -> None:
        if given := [name for name in _NAMES[kind] if os.environ.get(name)]:
            raise CommandError(
                f"{' and '.join(given)} is in the environment of the server, which cannot be changed from here."
            )
        if not dry_run and (pid := running_supervisor(env.DATA_DIR)) is not None:
            raise CommandError(f"Stop the server first (process {pid}), on every machine.")
        if forget_old and kind not in _FORMER_KEYS:
            raise CommandError("Former keys for Web Push are not kept.")
        stored = secrets_file.read_secrets(env.DATA_DIR)
        changed = self._forgotten(kind, stored) if forget_old else self._renewed(kind, stored)
        if dry_run:
            self.stdout.write(self._plan(kind))
            return
        if kind == "web-push":
            self.confirm(self._plan(kind), yes=yes)
        if kind == "encryption-key" and forget_old:
            # The former keys are still in the file, so that all rows can still be decrypted if the command is killed here.
            self._reencrypt(stored["FIELD_ENCRYPTION_KEYS"])
        secrets_file.replace_secrets(env.DATA_DIR, stored | changed)
        if kind == "web-push":
            self.stdout.write(f"{forget_all_subscriptions(by=OPERATOR)} subscriptions ended.")
        if kind == "encryption-key" and not forget_old:
            self._reencrypt(changed["FIELD_ENCRYPTION_KEYS"])
        with transaction.atomic(), connection.cursor() as cursor:
            fingerprints.store_fingerprints(cursor, load_secrets(env.DATA_DIR))
        self.stdout.write("Done. Take a backup: earlier ones hold the former secrets.")

    def _renewed(self, kind: str, stored: dict[str, str]) -> dict[str, str]:
        fresh = secrets_file.new_secrets()
        if kind == "secret-key":
            former = [stored["SECRET_KEY"], *filter(None, stored.get("SECRET_KEY_FALLBACKS", "").split(","))]
            return {"SECRET_KEY": fresh["SECRET_KEY"], "SECRET_KEY_FALLBACKS": ",".join(former)}
        if kind == "encryption-key":
            return {"FIELD_ENCRYPTION_KEYS": f"{fresh['FIELD_ENCRYPTION_KEYS']},{stored['FIELD_ENCRYPTION_KEYS']}"}
        return {name: fresh[name] for name in _NAMES[kind]}

    def _forgotten(self, kind: str, stored: dict[str, str]) -> dict[str, str]:
        keys = [key for key in stored.get(_FORMER_KEYS[kind], "").split(",") if key]
        # The first of the encryption keys is the one in use.
        current = [] if kind == "secret-key" else keys[:1]
        if keys == current:
            raise CommandError("No former key is kept.")
        return {_FORMER_KEYS[kind]: "".join(current)}

    def _plan(self, kind: str) -> str:
        if kind == "secret-key":
            return f"The secret key of {settings.LOCAL_DOMAIN} would be replaced. Nobody is signed out."
        if kind == "encryption-key":
            return f"{_count_rows()} rows would be encrypted anew."
        return "Every subscription to Web Push would end: applications must subscribe again."

    def _reencrypt(self, keys: str) -> None:
        with progress_bar("Rows", _count_rows()) as advance:
            advance(reencrypt_secrets(by=OPERATOR, keys=keys.split(",")))
            advance(reencrypt_passwords(by=OPERATOR, keys=keys.split(",")))
            for done in reencrypt_all(by=OPERATOR, keys=keys.split(",")):
                advance(done)


def _count_rows() -> int:
    return count_encrypted() + count_secrets() + count_passwords()
