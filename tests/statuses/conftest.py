"""What the tests of the floor of posts share."""

from __future__ import annotations

import pytest

from tests.factories import accounts

accounts._rsa()
