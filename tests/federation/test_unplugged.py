"""Tests that the server runs without the federation app."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

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
    assert Client(SERVER_NAME="social.localhost").get(path).status_code == 404, path
print("fine")
"""


def test_urls_ports_and_events_work_without_the_federation_app() -> None:
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "social.settings.test", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stdout.strip()) == (0, "fine"), done.stderr


def suites() -> list[str]:
    """Return the paths of the tests that must pass without federation: batteries, services, the API and the whole server."""
    tests = ROOT / "tests"
    found = [*tests.glob("*/services"), *tests.glob("*/api"), *tests.glob("*/test_battery*.py")]
    return ["tests/conformance", "tests/flows", *sorted(str(path.relative_to(ROOT)) for path in found)]


@pytest.mark.verify
@pytest.mark.timeout(1500)
def test_the_other_tests_pass_without_the_federation_app() -> None:
    environment = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    environment["INSTANCE_SETTINGS"] = "tests.support.without_federation_server"
    command = [sys.executable, "-m", "pytest", "--ds=tests.support.without_federation", *suites()]
    command += ["-q", "-n", "2", "--dist", "worksteal", "-p", "no:cacheprovider", "-rfEs"]
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True)
    last = done.stdout.strip().splitlines()[-40:]
    assert done.returncode == 0, "\n".join(last) + done.stderr[-2000:]
    print("\n".join(last))
    passed = re.search(r"(\d+) passed", last[-1])
    assert passed is not None
    assert int(passed[1]) > 2000
