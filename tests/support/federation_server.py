"""The marker for tests that need federation; they are skipped on a server without it (`tests.federation.test_unplugged`)."""

import pytest
from django.apps import apps

needs_federation = pytest.mark.skipif(not apps.is_installed("federation"), reason="federation is unplugged")
