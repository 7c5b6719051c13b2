"""Without the embassy the rest of the house runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PROGRAM = """
import django
from django.conf import settings
settings.INSTALLED_APPS.remove("federation")
django.setup()
from django.test import Client
from django.urls import get_resolver
from accounts.ports import remote_accounts
from social.kernel.subscriptions import registry
assert get_resolver().url_patterns
assert remote_accounts.find() is None
assert not [name for name in registry._by_name if "federation" in name[1]]
for path in ("/users/alice", "/.well-known/webfinger", "/inbox", "/@alice"):
    assert Client().get(path).status_code == 404, path
print("fine")
"""


def test_urls_ports_and_events_do_without_it() -> None:
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "social.settings.test", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout.strip()) == (0, "fine"), done.stderr
