"""Forwards reports to the servers of the reported accounts (contract, federation section 7 "Flag")."""

from collections.abc import Sequence
from uuid import NAMESPACE_URL, uuid5

from accounts.collections.models import Collection
from accounts.models import Account
from accounts.services.instance_actor import instance_actor
from federation.documents import activities
from federation.outbound.audience import inbox_of
from federation.outbound.queueing import enqueue
from moderation.events import ReportFiled
from moderation.models import Report
from social.kernel import links
from statuses.policies.posts import Post
from statuses.queries.posts import load_posts


def send_reports(events: Sequence[ReportFiled]) -> None:
    """React to ReportFiled: send a Flag to the servers that the reporter has chosen, without revealing who the reporter is."""
    reports = Report.objects.select_related("target_account").filter(id__one_of=[event.report_id for event in events])
    for report in reports.order_by("id"):
        posts = load_posts(sorted(report.status_ids))
        collections = Collection.objects.filter(id__one_of=report.collection_ids, uri__isnull=False)
        uris = [
            report.target_account.uri,
            *(post.object_uri for post in posts),
            *(uri for uri in collections.values_list("uri", flat=True) if uri is not None),
        ]
        # The id is a hash; therefore it is the same if the event is handled again, and does not reveal the number of reports.
        uri = links.web_url(f"/{uuid5(NAMESPACE_URL, links.web_url(f'/reports/{report.id}'))}")
        sender = instance_actor()
        document = activities.flag(sender, uri, report.comment, uris)
        enqueue(sender, document, _inboxes(report, posts), key=f"report:{report.id}")


def _inboxes(report: Report, posts: Sequence[Post]) -> set[str]:
    """Return the inboxes, on the chosen servers, of the reported account and of accounts to which the reported posts reply."""
    ids = {post.in_reply_to_account_id for post in posts if post.in_reply_to_account_id is not None}
    people = [report.target_account, *Account.objects.filter(id__one_of=list(ids), domain__isnull=False)]
    return {inbox for one in people if one.domain in report.forward_domains for inbox in inbox_of(one)}
