"""Tests that searching the audit log for a whole name uses an index."""

import pytest
from django.contrib import admin
from django.db import connection
from django.test import RequestFactory

from accounts.models import AuditEntry
from tests.timelines.plans import looked_at

pytestmark = pytest.mark.django_db

_MANY = """
INSERT INTO accounts_auditentry
  (account_id, account_name, action, target_type, target_id, target_name, details, created_at)
SELECT 1, '@staff', 'limit', 'Account', n, '@person' || n, '{}', now() FROM generate_series(1, %s) n
"""


def test_a_search_by_name_reads_only_matching_rows_even_if_one_account_has_most_rows() -> None:
    with connection.cursor() as cursor:
        cursor.execute(_MANY, [3000])
        cursor.execute("ANALYZE accounts_auditentry")
        # After some executions PostgreSQL may switch to the generic plan, which is the same for all names.
        cursor.execute("SET LOCAL plan_cache_mode = force_generic_plan")
    AuditEntry.objects.create(account_name="operator", action="limit", target_type="Account", target_id=1)
    page = admin.site.get_model_admin(AuditEntry)

    def search(term: str) -> list[int]:
        request = RequestFactory().get("/")
        found, _doubles = page.get_search_results(request, AuditEntry.objects.order_by("-id"), term)
        return list(found.values_list("target_id", flat=True)[:50])

    assert search("@Person77") == search("person77") == [77]
    assert search("Operator") == [1]
    assert search("STAFF") == list(range(3000, 2950, -1))
    assert search("nobody") == []
    for term in ("@Person77", "staff", "nobody"):
        assert looked_at(lambda: search(term)) < 500, term  # noqa: B023  # called at once
