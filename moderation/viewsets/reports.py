from django.http import HttpResponse
from rest_framework.request import Request

from accounts.queries.accounts import find_account
from accounts.queries.users import find_own_account
from accounts.serializers.account import present_accounts
from moderation.serializers.report import ReportInput, ReportSerializer
from moderation.services.reports import file_report
from social.api.access import user
from social.api.declarations import Endpoint
from social.api.limits import family
from social.api.responses import reply
from social.api.viewsets import ApiViewSet
from social.kernel.errors import NotFound


class ReportsViewSet(ApiViewSet):
    endpoints = {
        "create": Endpoint(user("write:reports"), "Report", input=ReportInput, throttles=family("reports")),
    }

    def create(self, request: Request) -> HttpResponse:
        """Report an account to the staff of this server."""
        form = ReportInput.read(request)
        if form.account_id is None:
            raise NotFound
        target = find_account(form.account_id)
        report = file_report(account=find_own_account(self.account_id), target=target, draft=form)
        context = {"accounts": present_accounts([target.id], self.account_id)}
        return reply(ReportSerializer(report, context=context).data)
