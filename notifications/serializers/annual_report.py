"""The entities of yearly reports (contract, entities "Annual reports" and "AsyncRefresh")."""

from typing import Any

from accounts.serializers.account import present_counted_accounts
from notifications.queries.annual_reports import ReportPage
from social.api.async_refresh import AsyncRefresh
from social.api.serializers import EntitySerializer
from statuses.serializers.presenting import present_by_id


class AnnualReportsSerializer(EntitySerializer):
    """AnnualReports: reports with the accounts and posts that they name. Reports have no public page to share."""

    def to_representation(self, instance: ReportPage) -> dict[str, Any]:
        return {
            "annual_reports": [
                {
                    "year": report.year,
                    "data": report.data,
                    "schema_version": report.schema_version,
                    "share_url": None,
                    "account_id": str(report.account_id),
                }
                for report in instance.reports
            ],
            "accounts": list(present_counted_accounts(instance.accounts).values()),
            "statuses": list(present_by_id(instance.statuses).values()),
        }


class AnnualReportStateSerializer(EntitySerializer):
    def to_representation(self, instance: str) -> dict[str, Any]:
        return {"state": str(instance)}


class AsyncRefreshSerializer(EntitySerializer):
    """AsyncRefresh: the progress of the background work behind a response."""

    def to_representation(self, instance: AsyncRefresh) -> dict[str, Any]:
        entity: dict[str, Any] = {"id": str(instance.id), "status": "running" if instance.running else "finished"}
        if instance.result_count is not None:
            entity["result_count"] = instance.result_count
        return {"async_refresh": entity}
