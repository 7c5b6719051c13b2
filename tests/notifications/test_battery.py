"""Rows for `tests.support.battery`: notifications."""

from notifications.models import AnnualReport, Notification, NotificationRequest
from notifications.policies.push import unsubscribe_url
from tests.factories.accounts import make_account
from tests.factories.push import make_push_subscription
from tests.factories.statuses import make_favourite, make_status
from tests.support.battery import Row, Scene, battery
from tests.support.callers import Callers
from tests.support.push import Device
from tests.support.work import work


def favourites(callers: Callers, size: int) -> Scene:
    foreign = make_status(callers.stranger)
    make_favourite(callers.account, foreign)
    for _number in range(size):
        make_favourite(make_account(), make_status(callers.account))
    work()
    own = Notification.objects.filter(account=callers.account).latest("id")
    other = Notification.objects.filter(account=callers.stranger).latest("id")
    return Scene(ids={"id": own.id}, foreign={"id": other.id})


def group(callers: Callers, size: int) -> Scene:
    """Create favourites of one post, which form a group."""
    post = make_status(callers.account)
    for _number in range(size):
        make_favourite(make_account(), post)
    work()
    return Scene(ids={"key": Notification.objects.filter(account=callers.account).latest("id").group_key or ""})


def subscribed(callers: Callers, size: int) -> Scene:
    token = callers.user_token("push")
    made = make_push_subscription(token, alerts={"mention": True, "poll": False})
    target = {"endpoint": "https://push.example.org/one", "keys": Device(1).keys}
    return Scene(
        ids={"signed": unsubscribe_url(made.id).rpartition("/")[2]},
        params={"subscription": target, "data": {"alerts": {"mention": True}}},
        token=token,
    )


def held(callers: Callers, size: int) -> Scene:
    """Create notification requests from accounts that sent unsolicited private mentions."""
    for recipient in (*[callers.account] * size, callers.stranger):
        make_status(make_account(), f"@{recipient.username} hello", visibility="direct")
    work()
    own = NotificationRequest.objects.filter(account=callers.account).latest("id")
    other = NotificationRequest.objects.filter(account=callers.stranger).latest("id")
    return Scene(ids={"id": own.id}, foreign={"id": other.id})


def reports(callers: Callers, size: int) -> Scene:
    data = {
        "archetype": "oracle",
        "time_series": [{"month": 12, "statuses": 1, "followers": 1}],
        "top_hashtags": [],
        "top_statuses": {"by_reblogs": None, "by_favourites": None, "by_replies": None},
    }
    AnnualReport.objects.all().delete()
    owners = [callers.account, callers.stranger]
    for owner, first in zip(owners, (2000, 1900), strict=True):
        for number in range(size):
            data["top_statuses"] = data["top_statuses"] | {"by_reblogs": str(make_status(owner).id)}
            AnnualReport.objects.create(account=owner, year=first + number, schema_version=2, data=data)
    own, other = (AnnualReport.objects.filter(account=owner).latest("id") for owner in owners)
    return Scene(ids={"year": own.year, "id": own.id}, foreign={"year": other.year, "id": other.id})


REPORT = "api/v1/annual_reports/<year>"
NOTIFICATION = "api/v1/notifications/<id>"
GROUPS = "api/v2/notifications"
REQUESTS = "api/v1/notifications/requests"
POLICIES = ("api/v1/notifications/policy", "api/v2/notifications/policy")
ROWS = [
    Row("GET api/v1/annual_reports", reports, flat=True, items=lambda body: body["annual_reports"]),
    Row(f"GET {REPORT}", reports),
    Row(f"GET {REPORT}/state", reports, missing_is=200),
    Row(f"POST {REPORT}/read", reports),
    Row(f"POST {REPORT}/generate", reports, missing_is=200),
    Row("GET api/v1_alpha/async_refreshes/<id>", reports),
    Row("GET api/v1/notifications", favourites),
    Row("POST api/v1/notifications/clear", favourites),
    Row("GET api/v1/notifications/unread_count", favourites, flat=True),
    Row(f"GET {NOTIFICATION}", favourites),
    Row(f"POST {NOTIFICATION}/dismiss", favourites),
    Row(
        f"GET {GROUPS}",
        favourites,
        items=lambda body: list(body["notification_groups"]),
        identify=lambda item: item["group_key"],
    ),
    Row(f"GET {GROUPS}/unread_count", favourites, flat=True),
    Row(f"POST {GROUPS}/clear", favourites),
    Row(f"GET {GROUPS}/<key>", group),
    Row(f"GET {GROUPS}/<key>/accounts", group),
    Row(f"POST {GROUPS}/<key>/dismiss", group),
    *(Row(f"{method} {path}", held, flat=method == "GET") for path in POLICIES for method in ("GET", "PATCH", "PUT")),
    Row(f"GET {REQUESTS}", held),
    Row(f"GET {REQUESTS}/<id>", held),
    Row(f"POST {REQUESTS}/<id>/accept", held),
    Row(f"POST {REQUESTS}/<id>/dismiss", held),
    Row(f"POST {REQUESTS}/accept", held),
    Row(f"POST {REQUESTS}/dismiss", held),
    Row(f"GET {REQUESTS}/merged", held, flat=True),
    *(Row(f"{method} api/v1/push/subscription", subscribed) for method in ("GET", "POST", "PUT", "PATCH", "DELETE")),
    Row("DELETE api/web/push_subscriptions/<signed>", subscribed),
]
test_promises = battery(ROWS)
