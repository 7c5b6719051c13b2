"""The audit log is searched by whole names, however long it is."""

from __future__ import annotations

import pytest
from django.contrib import admin
from django.db import connection
from django.test import RequestFactory

from accounts.models import AuditEntry

pytestmark = pytest.mark.django_db

_MANY = """
INSERT INTO accounts_auditentry (account_name, action, target_type, target_id, target_name, details, created_at)
SELECT '@staff' || n %% 40, 'limit', 'Account', n, '@person' || n, '{}', now() FROM generate_series(1, %s) n
"""


def test_a_search_by_name_reads_the_rows_it_finds_only() -> None:
    with connection.cursor() as cursor:
        cursor.execute(_MANY, [5000])
        cursor.execute("ANALYZE accounts_auditentry")
    page = admin.site.get_model_admin(AuditEntry)
    found, _doubles = page.get_search_results(RequestFactory().get("/"), AuditEntry.objects.all(), "@Person77")
    assert [entry.target_id for entry in found] == [77]
    plan = found.explain()
    assert "accounts_audit_of_name" in plan
    assert "accounts_audit_by_name" in plan
    found, _doubles = page.get_search_results(RequestFactory().get("/"), AuditEntry.objects.all(), "@STAFF7")
    assert found.count() == 125
