"""Every endpoint refuses whom it must, in the contract's order, whatever it does (behaviours section 3)."""

import pytest

from tests.support.battery import every_access

pytestmark = pytest.mark.django_db

test_access = every_access("social.urls")
