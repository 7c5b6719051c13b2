"""The people of the conformance tests, attacking; and another server."""

from django.apps import apps

from tests.conformance.conftest import alice, bob, own_media
from tests.federation.conftest import elsewhere, zoe

collect_ignore = (
    [] if apps.is_installed("federation") else ["test_federation.py", "test_federation_faults.py", "test_keys.py"]
)

__all__ = ["alice", "bob", "elsewhere", "own_media", "zoe"]
