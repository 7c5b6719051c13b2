"""Tests of the responses to impossible form values in the admin."""

from datetime import UTC, timedelta
from typing import Any

import pytest
import time_machine

from accounts.identity.services.sign_up_blocks import block_email_domain, remove_block
from accounts.identity.services.staff import disable
from accounts.models import AuditEntry, Domain, User
from accounts.policies.staff import OPERATOR
from moderation.policies.domain_rules import DomainRuleDraft
from moderation.queries.figures import FIGURES_AGE
from moderation.services.domain_rules import allow_domain, create_rule, disallow_domain, remove_rule
from social.kernel import clock
from social.kernel.errors import Conflict, NotFound
from tests.factories.accounts import make_account, make_remote, make_token, make_user
from tests.factories.statuses import follow, make_status
from tests.support.client import Api

pytestmark = pytest.mark.django_db


@pytest.fixture
def boss() -> Api:
    return Api(make_token(make_user("boss", role="Owner"), "admin:read admin:write"))


@pytest.mark.parametrize("start", ["0001-01-01", "2026-01-01", "9999-12-31"])
@pytest.mark.parametrize("end", ["0001-01-01", "9999-12-31"])
def test_figures_can_be_requested_for_the_first_and_last_dates_of_the_calendar(boss: Api, start: str, end: str) -> None:
    time = {"start_at": start, "end_at": end}
    for path, keys in (("measures", ["active_users", "new_users"]), ("dimensions", ["languages"]), ("retention", [])):
        answer = boss.post(f"/api/v1/admin/{path}", {"keys": keys, **time})
        assert answer.status_code == 200, answer.content


def test_figures_for_more_than_a_year_cover_the_last_year(boss: Api) -> None:
    now = clock.now()
    for locale, days in (("de", 400), ("fr", 300)):
        user, moment = make_user(f"person{days}"), now - timedelta(days=days)
        User.objects.filter(pk=user.pk).update(locale=locale, active_at=moment, created_at=moment)
    time = {"start_at": "1970-01-01", "end_at": str(now.astimezone(UTC).date())}
    (languages,) = boss.post("/api/v1/admin/dimensions", {"keys": ["languages"], **time}).json()
    assert [part["key"] for part in languages["data"]] == ["fr"]
    (people,) = boss.post("/api/v1/admin/measures", {"keys": ["new_users"], **time}).json()
    assert (people["total"], len(people["data"])) == ("2", 367)


def test_an_ip_address_with_an_interface_is_refused(boss: Api) -> None:
    sent = {"ip": "fe80::1%eth0", "severity": "sign_up_block"}
    answer = boss.post("/api/v1/admin/ip_blocks", sent)
    assert (answer.status_code, answer.json()) == (422, {"error": "Validation failed: Ip can't be blank"})
    assert boss.get("/api/v2/admin/accounts", {"ip": "fe80::1%eth0"}).json() == []


def test_all_errors_of_a_network_block_are_named(boss: Api) -> None:
    path = "/api/v1/admin/ip_blocks"

    def refused(answer: Any) -> str:
        assert answer.status_code == 422
        return str(answer.json()["error"]).removeprefix("Validation failed: ")

    neither = "Severity is not included in the list, Ip can't be blank, Severity can't be blank"
    assert refused(boss.post(path, {"ip": "1.2.3"})) == neither
    unsaid = "Severity is not included in the list, Severity can't be blank"
    assert refused(boss.post(path, {"ip": "1.2.3.4"})) == refused(boss.post(path, {})) == unsaid
    assert refused(boss.post(path, {"severity": "no_access"})) == "Ip can't be blank"
    wrong = {"ip": "1.2.3", "severity": "sometimes", "expires_in": "9" * 18}
    said = "Severity is not included in the list, Ip can't be blank, Expires in is invalid"
    assert refused(boss.post(path, wrong)) == said
    made = boss.post(path, {"ip": "1.2.3.4", "severity": "no_access"}).json()
    assert refused(boss.put(f"{path}/{made['id']}", wrong)) == said


def test_removing_a_removed_row_is_not_found() -> None:
    rule = create_rule(by=OPERATOR, domain="bad.example", draft=DomainRuleDraft())
    remove_rule(by=OPERATOR, rule=type(rule).objects.get(pk=rule.pk))
    with pytest.raises(NotFound):
        remove_rule(by=OPERATOR, rule=rule)
    allow = allow_domain(by=OPERATOR, domain="good.example")
    disallow_domain(by=OPERATOR, allow=type(allow).objects.get(pk=allow.pk))
    with pytest.raises(NotFound):
        disallow_domain(by=OPERATOR, allow=allow)
    block = block_email_domain(by=OPERATOR, domain="mail.example")
    remove_block(by=OPERATOR, block=type(block).objects.get(pk=block.pk))
    with pytest.raises(NotFound):
        remove_block(by=OPERATOR, block=block)
    assert AuditEntry.objects.filter(action="destroy").count() == 3


def test_deleted_users_cannot_be_approved_enabled_or_acted_on(boss: Api) -> None:
    waiting, gone = make_user("waiting"), make_user("gone")
    User.objects.filter(pk=waiting.pk).update(approved=False)
    base = "/api/v1/admin/accounts"
    assert boss.post(f"{base}/{waiting.account_id}/reject").status_code == 200
    assert boss.post(f"{base}/{gone.account_id}/action", {"type": "suspend"}).status_code == 200
    assert boss.delete(f"{base}/{gone.account_id}").status_code == 200
    before = AuditEntry.objects.count()
    for account_id in (waiting.account_id, gone.account_id):
        for verb in ("approve", "reject", "enable", "unsilence", "unsensitive", "unsuspend"):
            assert boss.post(f"{base}/{account_id}/{verb}").status_code in (403, 404), verb
        for kind in ("none", "disable", "suspend", "silence", "sensitive"):
            assert boss.post(f"{base}/{account_id}/action", {"type": kind}).status_code == 404, kind
        assert boss.delete(f"{base}/{account_id}").status_code == 403
    assert AuditEntry.objects.count() == before
    assert not User.objects.filter(pk__in=[waiting.pk, gone.pk], disabled_at=None).exists()


def test_a_suspended_owner_does_not_count_as_the_remaining_owner() -> None:
    boss = make_user("boss", role="Owner")
    make_user("other", role="Owner", suspended_at=clock.now(), suspension_origin="local")
    with pytest.raises(Conflict):
        disable(by=OPERATOR, user=boss)


@pytest.mark.parametrize(("limit", "parts"), [("-2", 2), ("2", 2), ("5000", 3), ("0", 0), ("x", 0)])
def test_the_parameter_limit_of_dimensions_is_read_like_other_limits(boss: Api, limit: str, parts: int) -> None:
    now = clock.now()
    for number, locale in enumerate(("de", "fr", "ar")):
        person = make_user(f"person{number}x")
        User.objects.filter(pk=person.pk).update(locale=locale, active_at=now)
    today = str(now.astimezone(UTC).date())
    sent = {"keys": ["languages"], "start_at": today, "end_at": today, "limit": limit}
    answer = boss.post("/api/v1/admin/dimensions", sent)
    assert (answer.status_code, len(answer.json()[0]["data"])) == (200, parts)


def test_figures_of_servers_are_cached_for_five_minutes(boss: Api) -> None:
    today = clock.now().astimezone(UTC).date()
    time: dict[str, Any] = {"start_at": str(today), "end_at": str(today)}
    here, there = make_account("here"), make_remote("there")
    Domain.objects.get_or_create(name="remote.example")

    def figures(domain: str, limit: int = 10) -> list[Any]:
        keys = ["instance_accounts", "instance_followers", "new_users"]
        about: dict[str, Any] = {key: {"domain": domain} for key in keys}
        measured = boss.post("/api/v1/admin/measures", {"keys": keys, **about, **time}).json()
        shares = {"keys": ["servers", "instance_accounts"], "limit": limit, **about, **time}
        parts = [len(one["data"]) for one in boss.post("/api/v1/admin/dimensions", shares).json()]
        return [one["total"] for one in measured] + parts

    start = clock.now().replace(minute=20, second=0)
    with time_machine.travel(start, tick=False) as moment:
        make_user("early")
        people = User.objects.count()
        assert figures("remote.example") == ["1", "0", str(people), 0, 0]
        follow(there, here), follow(here, there), make_remote("later"), make_user("late"), make_status(here)
        assert figures("Remote.Example") == ["1", "0", str(people + 1), 0, 0]
        assert figures("unmet.example")[0] == "0"
        make_remote("them", domain="unmet.example")
        Domain.objects.filter(name="unmet.example").delete()
        assert figures("unmet.example")[0] == "1"
        assert figures("remote.example", limit=1)[-2:] == [1, 1]
        moment.shift(FIGURES_AGE)
        assert figures("remote.example") == ["2", "1", str(people + 1), 1, 1]


def test_tools_of_moderators_are_shown_the_rule_that_is_as_strict_as_theirs(boss: Api) -> None:
    path = "/api/v1/admin/domain_blocks"
    rule = boss.post(path, {"domain": "Loud.Example.", "severity": "noop", "reject_media": True}).json()
    for domain, severity in (("sub.loud.example", "noop"), ("LOUD.example", "noop")):
        answer = boss.post(path, {"domain": domain, "severity": severity})
        assert (answer.status_code, answer.json()["existing_domain_block"]) == (422, rule)
    assert boss.post(path, {"domain": "sub.loud.example", "severity": "silence"}).status_code == 200
    for number, sent, status in (
        (rule["id"], {"severity": "none"}, 422),
        (rule["id"], {"domain": "other.example"}, 200),
        ("abc", {"severity": "noop"}, 404),
        ("9" * 30, {"severity": "noop"}, 404),
    ):
        assert boss.put(f"{path}/{number}", sent).status_code == status
    assert boss.get(f"{path}/{rule['id']}").json() == rule
