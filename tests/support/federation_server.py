"""The tests that need federation: left out when the server runs without it (`tests.federation.test_unplugged`)."""

from __future__ import annotations

import pytest
from django.apps import apps

needs_federation = pytest.mark.skipif(not apps.is_installed("federation"), reason="federation is unplugged")
