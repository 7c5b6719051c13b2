"""Rows for `tests.support.battery`: every endpoint for staff."""

import itertools
from collections.abc import Callable
from typing import Any

from accounts.identity.policies.sign_up import email_digest
from accounts.models import (
    CanonicalEmailBlock,
    EmailDomainBlock,
    IpBlock,
    Role,
    Severity,
    Tag,
    User,
)
from moderation.acts import ACCOUNT_ACTS
from moderation.models import DomainAllow, DomainRule, Report
from statuses.models import PreviewCard
from tests.factories.accounts import make_account, make_remote, make_user
from tests.factories.statuses import make_status
from tests.support.battery import Row, Scene, battery
from tests.support.callers import Callers
from timelines.models import LinkPublisher, Trend, TrendKind

Maker = Callable[[int], Any]
_number = itertools.count(1)


def _owner(callers: Callers) -> None:
    User.objects.filter(pk=callers.user.pk).update(role=Role.objects.get(name="Owner"))


def people(callers: Callers, size: int) -> Scene:
    _owner(callers)
    person = make_user()
    for _number in range(size - 1):
        make_user()
    make_remote()
    return Scene(ids={"id": person.account_id})


def action(callers: Callers, size: int) -> Scene:
    _owner(callers)
    return Scene(ids={"id": make_account().id}, params={"type": "none", "text": "Mind your words"})


def waiting(callers: Callers, size: int) -> Scene:
    _owner(callers)
    person = make_user()
    User.objects.filter(pk=person.pk).update(approved=False)
    return Scene(ids={"id": person.account_id})


def suspended(callers: Callers, size: int) -> Scene:
    _owner(callers)
    moment = "2026-01-01T00:00:00Z"
    return Scene(ids={"id": make_account(suspended_at=moment, suspension_origin="local").id})


def reports(callers: Callers, size: int) -> Scene:
    _owner(callers)
    for _number in range(size):
        target = make_account()
        post = make_status(target, "bad")
        report = Report.objects.create(account=make_account(), target_account=target, status_ids=[post.id])
    return Scene(ids={"id": report.id})


def rows(make: Maker, **params: Any) -> Callable[[Callers, int], Scene]:
    def setting(callers: Callers, size: int) -> Scene:
        _owner(callers)
        made = [make(next(_number)) for _one in range(size)]
        return Scene(ids={"id": made[-1].pk}, params=params)

    return setting


domain_blocks = rows(lambda number: DomainRule.objects.create(domain=f"bad{number}.example"))
domain_allows = rows(lambda number: DomainAllow.objects.create(domain=f"good{number}.example"))
email_domains = rows(lambda number: EmailDomainBlock.objects.create(domain=f"mail{number}.example"))
digests = rows(lambda number: CanonicalEmailBlock.objects.create(digest=f"{number:064x}"))
tags = rows(lambda number: Tag.objects.create(name=f"tag{number}", display_name=f"Tag{number}"))
networks = rows(
    lambda number: IpBlock.objects.create(
        network=f"2001:db8::{number:x}/128",
        first=f"2001:db8::{number:x}",
        last=f"2001:db8::{number:x}",
        severity=Severity.SIGN_UP_BLOCK,
    )
)


publishers = rows(lambda number: LinkPublisher.objects.create(domain=f"site{number}.example"))


def trends(kind: TrendKind, make: Maker) -> Callable[[Callers, int], Scene]:
    def setting(callers: Callers, size: int) -> Scene:
        _owner(callers)
        for number in range(size):
            found = make(number)
            Trend.objects.get_or_create(kind=kind, object_id=found.pk, defaults={"score": 5})
        return Scene(ids={"id": found.pk}, params={"limit": 20})

    return setting


def trending_tag(number: int) -> Tag:
    return Tag.objects.get_or_create(name=f"trend{number}", defaults={"display_name": "Trend"})[0]


def trending_card(number: int) -> PreviewCard:
    shown = {"host": "site.example", "title": "Page"}
    return PreviewCard.objects.get_or_create(url=f"https://site.example/{number}", defaults=shown)[0]


trending_tags = trends(TrendKind.TAG, trending_tag)
trending_posts = trends(TrendKind.STATUS, lambda number: make_status(make_account(), "hello"))
trending_links = trends(TrendKind.LINK, trending_card)


def with_params(**params: Any) -> Callable[[Callers, int], Scene]:
    def setting(callers: Callers, size: int) -> Scene:
        _owner(callers)
        return Scene(params=params)

    return setting


def blocked_address(callers: Callers, size: int) -> Scene:
    _owner(callers)
    CanonicalEmailBlock.objects.get_or_create(digest=email_digest("somebody@mail.example"))
    return Scene(params={"email": "some.body+tag@mail.example"})


def figures(*keys: str) -> Callable[[Callers, int], Scene]:
    of = {key: {"id": "1"} if key.startswith("tag_") else {"domain": "there.example"} for key in keys if "_" in key}
    return with_params(keys=list(keys), start_at="2025-01-01", end_at="2025-01-03", **of)


_ACCOUNT = "api/v1/admin/accounts/<id>"
_REPORT = "api/v1/admin/reports/<id>"
_TRENDS = "api/v1/admin/trends"
#: Scenes for actions that need an account in a certain state.
_SCENES = {"unsuspend": suspended}

ROWS = [
    Row("GET api/v1/admin/accounts", people),
    Row("GET api/v2/admin/accounts", people),
    Row(f"GET {_ACCOUNT}", people),
    Row(f"DELETE {_ACCOUNT}", suspended),
    Row(f"POST {_ACCOUNT}/action", action),
    Row(f"POST {_ACCOUNT}/approve", waiting),
    Row(f"POST {_ACCOUNT}/reject", waiting),
    *(Row(f"POST {_ACCOUNT}/{act.api}", _SCENES.get(act.api, people)) for act in ACCOUNT_ACTS if act.api),
    Row("GET api/v1/admin/reports", reports),
    Row(f"GET {_REPORT}", reports),
    Row(f"PUT {_REPORT}", reports),
    Row(f"PATCH {_REPORT}", reports),
    Row(f"POST {_REPORT}/assign_to_self", reports),
    Row(f"POST {_REPORT}/unassign", reports),
    Row(f"POST {_REPORT}/resolve", reports),
    Row(f"POST {_REPORT}/reopen", reports),
    Row("POST api/v1/admin/measures", figures("tag_uses", "new_users", "instance_statuses"), flat=False),
    Row("POST api/v1/admin/dimensions", figures("languages", "tag_servers", "instance_accounts"), flat=False),
    Row("POST api/v1/admin/retention", with_params(start_at="2025-01-01", end_at="2025-01-03"), flat=False),
    Row("GET api/v1/admin/tags", tags),
    Row("GET api/v1/admin/tags/<id>", tags),
    Row("PUT api/v1/admin/tags/<id>", tags),
    Row("PATCH api/v1/admin/tags/<id>", tags),
    Row(f"GET {_TRENDS}/tags", trending_tags),
    Row(f"POST {_TRENDS}/tags/<id>/approve", trending_tags),
    Row(f"POST {_TRENDS}/tags/<id>/reject", trending_tags),
    Row(f"GET {_TRENDS}/statuses", trending_posts),
    Row(f"POST {_TRENDS}/statuses/<id>/approve", trending_posts),
    Row(f"POST {_TRENDS}/statuses/<id>/reject", trending_posts),
    Row(f"GET {_TRENDS}/links", trending_links),
    Row(f"POST {_TRENDS}/links/<id>/approve", trending_links),
    Row(f"POST {_TRENDS}/links/<id>/reject", trending_links),
    Row(f"GET {_TRENDS}/links/publishers", publishers),
    Row(f"POST {_TRENDS}/links/publishers/<id>/approve", publishers),
    Row(f"POST {_TRENDS}/links/publishers/<id>/reject", publishers),
    Row("GET api/v1/admin/domain_blocks", domain_blocks),
    Row("POST api/v1/admin/domain_blocks", with_params(domain="new.example")),
    Row("GET api/v1/admin/domain_blocks/<id>", domain_blocks),
    Row("PUT api/v1/admin/domain_blocks/<id>", domain_blocks),
    Row("PATCH api/v1/admin/domain_blocks/<id>", domain_blocks),
    Row("DELETE api/v1/admin/domain_blocks/<id>", domain_blocks),
    Row("GET api/v1/admin/domain_allows", domain_allows),
    Row("POST api/v1/admin/domain_allows", with_params(domain="new.example")),
    Row("GET api/v1/admin/domain_allows/<id>", domain_allows),
    Row("DELETE api/v1/admin/domain_allows/<id>", domain_allows),
    Row("GET api/v1/admin/email_domain_blocks", email_domains),
    Row("POST api/v1/admin/email_domain_blocks", with_params(domain="new.example")),
    Row("GET api/v1/admin/email_domain_blocks/<id>", email_domains),
    Row("DELETE api/v1/admin/email_domain_blocks/<id>", email_domains),
    Row("GET api/v1/admin/ip_blocks", networks),
    Row("POST api/v1/admin/ip_blocks", with_params(ip="198.51.100.0/24", severity="sign_up_block")),
    Row("GET api/v1/admin/ip_blocks/<id>", networks),
    Row("PUT api/v1/admin/ip_blocks/<id>", networks),
    Row("PATCH api/v1/admin/ip_blocks/<id>", networks),
    Row("DELETE api/v1/admin/ip_blocks/<id>", networks),
    Row("GET api/v1/admin/canonical_email_blocks", digests),
    Row("POST api/v1/admin/canonical_email_blocks", with_params(email="somebody@mail.example")),
    Row("POST api/v1/admin/canonical_email_blocks/test", blocked_address, flat=False),
    Row("GET api/v1/admin/canonical_email_blocks/<id>", digests),
    Row("DELETE api/v1/admin/canonical_email_blocks/<id>", digests),
]
test_promises = battery(ROWS)
