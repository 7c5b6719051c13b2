"""Tests of annual reports: they are offered in December, and computed from the user's activity."""

from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import User
from notifications.events import AnnualReportRequested
from notifications.models import AnnualReport
from notifications.policies.annual_reports import AVERAGE_POSTS, Archetype, Tally, archetype_of
from notifications.queries.annual_reports import compute_report
from notifications.services.annual_reports import write_reports
from statuses.models import Status
from tests.factories.accounts import make_account, make_remote, make_token, make_user
from tests.factories.statuses import follow, make_poll, make_reblog, make_status
from tests.support.client import Api
from tests.support.moments import at
from tests.support.work import work

pytestmark = pytest.mark.django_db
PATH = "/api/v1/annual_reports"
# A past year, so that its events in the outbox are due whatever the actual time is.
YEAR = 2025


def day(month: int, number: int, *, year: int = YEAR, hour: int = 12) -> datetime:
    return datetime(year, month, number, hour, tzinfo=UTC)


def state(api: Api, year: int | str = YEAR) -> str:
    answer = api.get(f"{PATH}/{year}/state")
    assert answer.status_code == 200, answer.content
    found: str = answer.json()["state"]
    return found


def generate(api: Api, year: int | str = YEAR) -> int:
    answer = api.post(f"{PATH}/{year}/generate")
    assert answer.json() == {}
    return answer.status_code


def offered(api: Api) -> int | None:
    year: int | None = api.get("/api/v2/instance").json()["wrapstodon"]
    return year


def test_a_report_is_requested_computed_notified_and_read(ann: User, api: Api) -> None:
    with at(day(12, 12)):
        post = make_status(ann.account, "#Gardens and #gardens, once more #Gardens", visibility="unlisted")
        make_status(ann.account, "my #Gardens")
        make_reblog(make_account("fan"), post)
        follow(make_remote("zoe"), ann.account)
        work()
        assert (state(api), offered(api)) == ("eligible", YEAR)
        assert api.get(PATH).json() == {"annual_reports": [], "accounts": [], "statuses": []}
        answer = api.post(f"{PATH}/{YEAR}/generate")
        report = AnnualReport.objects.get()
        assert (answer.status_code, answer["Mastodon-Async-Refresh"]) == (202, f'id="{report.id}", retry=2')
        assert (generate(api), state(api)) == (202, "generating"), "requesting a report twice changes nothing"
        refresh = f"/api/v1_alpha/async_refreshes/{report.id}"
        assert api.get(refresh).json() == {"async_refresh": {"id": str(report.id), "status": "running"}}
        assert api.get(f"{PATH}/{YEAR}").status_code == 404
        work()
        assert (generate(api), state(api)) == (200, "available")
        assert api.get(refresh).json()["async_refresh"]["status"] == "finished"
        body = api.get(f"{PATH}/{YEAR}").json()
        assert body["annual_reports"] == [
            {
                "year": YEAR,
                "data": {
                    "archetype": "lurker",
                    "time_series": [{"month": 12, "statuses": 2, "followers": 1}],
                    "top_hashtags": [{"name": "Gardens", "count": 2}],
                    "top_statuses": {"by_reblogs": str(post.id), "by_favourites": None, "by_replies": None},
                },
                "schema_version": 2,
                "share_url": None,
                "account_id": str(ann.account_id),
            }
        ]
        assert [one["acct"] for one in body["accounts"]] == ["ann"]
        assert [one["id"] for one in body["statuses"]] == [str(post.id)]
        assert api.get(PATH).json() == body
        (notification,) = (one for one in api.get("/api/v1/notifications").json() if one["type"] == "annual_report")
        assert (notification["account"]["acct"], notification["annual_report"]) == ("ann", {"year": str(YEAR)})
        assert api.post(f"{PATH}/{YEAR}/read").json() == {}
        assert api.get(PATH).json()["annual_reports"] == []
        assert api.get(f"{PATH}/{YEAR}").json() == body, "a read report can still be found by its year"


def test_only_the_current_year_is_offered_and_only_in_its_last_three_weeks(ann: User, api: Api) -> None:
    for moment, found in (
        (day(12, 9, hour=23), "ineligible"),
        (day(12, 10, hour=0), "eligible"),
        (day(12, 31, hour=23), "eligible"),
        (day(1, 1, year=YEAR + 1), "ineligible"),
    ):
        with at(moment):
            make_status(ann.account, "hello")
            assert (moment, state(api)) == (moment, found)
            assert state(api, YEAR - 1) == "ineligible"
            assert offered(api) == (YEAR if found == "eligible" else None)
            if found == "ineligible":
                assert generate(api) == 200
    assert not AnnualReport.objects.exists()


def test_an_account_without_public_posts_is_offered_no_report(ann: User, api: Api) -> None:
    with at(day(1, 1, year=YEAR)):
        make_status(ann.account, "for followers", visibility="private")
        make_status(make_account("other"), "hello")
    with at(day(12, 12)):
        assert (state(api), generate(api)) == ("ineligible", 200)
    assert not AnnualReport.objects.exists()


def test_annual_reports_can_be_switched_off(ann: User, api: Api, settings: Any) -> None:
    settings.ANNUAL_REPORTS = False
    with at(day(12, 12)):
        make_status(ann.account, "hello")
        assert (state(api), generate(api), offered(api)) == ("ineligible", 200, None)


@pytest.mark.parametrize("year", ["abc", "0", "-1", "99999999999999999999", "32768", "9999"])
def test_an_invalid_year_has_no_report(api: Api, year: str) -> None:
    assert (state(api, year), generate(api, year)) == ("ineligible", 200)
    assert api.get(f"{PATH}/{year}").status_code == 404
    assert api.post(f"{PATH}/{year}/read").status_code == 404


def test_other_years_are_not_counted(ann: User) -> None:
    for moment in (day(12, 31, year=YEAR - 1, hour=23), day(6, 1), day(1, 1, year=YEAR + 1, hour=0)):
        with at(moment):
            make_status(ann.account, f"#tag{moment.year} #tag{moment.year}x")
            make_status(ann.account, f"#tag{moment.year}")
            follow(make_remote(), ann.account)
    with at(day(1, 2, year=YEAR + 1)):
        data = compute_report(ann.account_id, YEAR)
    assert data["time_series"] == [{"month": 12, "statuses": 2, "followers": 1}]
    assert data["top_hashtags"] == [{"name": f"tag{YEAR}", "count": 2}]
    assert data["top_statuses"]["by_reblogs"] is None, "no post was boosted"


def test_posts_of_a_year_are_counted_by_kind(ann: User, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Tally] = []
    monkeypatch.setattr(
        "notifications.queries.annual_reports.archetype_of", lambda tally: seen.append(tally) or Archetype.ORACLE
    )
    with at(day(6, 1)):
        question = make_status(make_account("other"), "a question")
        own = make_status(ann.account, "hello")
        make_status(ann.account, "a thread", reply_to=own)
        make_status(ann.account, "@other an answer", reply_to=question)
        make_reblog(ann.account, question)
        make_poll(ann.account)
        Status.objects.filter(id=make_status(ann.account, "taken back").id).update(deleted_at=day(6, 1))
        compute_report(ann.account_id, YEAR)
    assert seen == [Tally(total=5, boosts=1, answers=1, polls=1, standalone=3)]


@pytest.mark.parametrize(
    ("tally", "archetype"),
    [
        (Tally(112, 50, 0, 0, 62), "lurker"),
        (Tally(AVERAGE_POSTS, 76, 0, 0, 37), "booster"),
        (Tally(120, 80, 0, 4, 40), "oracle"),
        (Tally(120, 0, 0, 13, 120), "pollster"),
        (Tally(120, 0, 81, 0, 39), "replier"),
        (Tally(120, 0, 0, 12, 120), "oracle"),
        (Tally(150, 50, 50, 0, 50), "oracle"),
    ],
)
def test_the_archetype_is_the_kind_of_post_that_is_unusually_frequent(tally: Tally, archetype: str) -> None:
    assert archetype_of(tally) == archetype


def test_a_repeated_event_computes_and_notifies_a_report_once(ann: User, api: Api) -> None:
    with at(day(12, 12)):
        make_status(ann.account, "hello")
        generate(api)
        work()
        before = AnnualReport.objects.values().get()
        make_status(ann.account, "later")
        write_reports([AnnualReportRequested(report_id=before["id"])])
        work()
        assert AnnualReport.objects.values().get() == before
        found = [one for one in api.get("/api/v1/notifications").json() if one["type"] == "annual_report"]
    assert len(found) == 1


def test_row_20_reports_of_others_are_not_found(ann: User, api: Api) -> None:
    with at(day(12, 12)):
        make_status(ann.account, "hello")
        generate(api)
        work()
        other = Api(make_token(make_user("other")))
        report = AnnualReport.objects.get()
        for path in (f"{PATH}/{YEAR}", f"/api/v1_alpha/async_refreshes/{report.id}"):
            assert (api.get(path).status_code, other.get(path).status_code) == (200, 404)
        assert other.post(f"{PATH}/{YEAR}/read").status_code == 404


def test_a_report_on_many_posts_costs_as_many_statements_as_on_few(ann: User) -> None:
    def cost(count: int) -> int:
        with at(day(6, 1)):
            for number in range(count):
                make_status(ann.account, f"#number{number}")
        with CaptureQueriesContext(connection) as caught:
            compute_report(ann.account_id, YEAR)
        return len(caught)

    assert cost(1) == cost(10) == 4
