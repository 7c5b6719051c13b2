"""Tests of fallback texts for notification types that a client does not list (contract, entities; clients.md, trap 30)."""

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Account, SeveredAccount, User
from accounts.policies.staff import OPERATOR
from accounts.services.blocking import block_domain
from moderation.models import StrikeAction
from moderation.policies.reports import ReportDraft
from moderation.services.acting import act_on_account
from moderation.services.reports import file_report
from notifications.models import NotificationType
from notifications.policies.fallbacks import BASELINE, needs_fallback
from tests.factories.accounts import make_account, make_remote, make_token, make_user
from tests.factories.statuses import follow, make_status
from tests.support.client import Api
from tests.support.work import work

pytestmark = pytest.mark.django_db
PATH = "/api/v1/notifications"


def mention(account: Account) -> str:
    return (
        f'<span class="h-card" translate="no"><a href="{account.page_url}" class="u-url mention">'
        f"@<span>{account.username}</span></a></span>"
    )


def put_into_collection(owner: User, member: User) -> None:
    values = {"name": "Gardens", "sensitive": False, "discoverable": True, "account_ids": [str(member.account_id)]}
    api = Api(make_token(owner))
    made = api.post("/api/v1/collections", values).json()["collection"]
    work()
    assert api.patch(f"/api/v1/collections/{made['id']}", {"name": "Parks"}).status_code == 200


@pytest.fixture
def boss() -> User:
    """A member of staff with a mention, and a notification of each type that old clients do not know."""
    boss, ann = make_user("boss", role="owner", discoverable=True), make_user("ann")
    work()
    zoe = make_remote("zoe")
    follow(zoe, boss.account)
    block_domain(account=boss.account, domain="remote.example")
    act_on_account(by=OPERATOR, account=boss.account, action=StrikeAction.NONE, text="Mind the rules")
    file_report(account=ann.account, target=make_account("bea"), draft=ReportDraft())
    put_into_collection(ann, boss)
    make_status(ann.account, "hello @boss")
    work()
    return boss


def read(user: User, **query: Any) -> dict[str, dict[str, Any]]:
    answer = Api(make_token(user)).get(PATH, query)
    assert answer.status_code == 200, answer.content
    return {one["type"]: one for one in answer.json()}


def test_trap_30_exactly_the_types_outside_the_baseline_have_a_fallback_text(boss: User) -> None:
    ann, bea = (Account.objects.get(username=name) for name in ("ann", "bea"))
    found = read(boss, **{"supported_types[]": "mention"})
    fallbacks = {name: one["fallback"] for name, one in found.items() if "fallback" in one}
    assert set(found) - set(fallbacks) == {"mention"}
    assert {name: one["title"] for name, one in fallbacks.items()} == {
        "severed_relationships": "You have lost follows because of remote.example",
        "moderation_warning": "You have received a warning from the staff of this server",
        "admin.sign_up": f"{mention(ann)} has signed up",
        "admin.report": f"{mention(ann)} has reported {mention(bea)}",
        "added_to_collection": f"{mention(ann)} has added you to a collection",
        "collection_update": f"{mention(ann)} has edited a collection that you are in",
    }
    assert set(fallbacks) == set(NotificationType.values) - BASELINE
    assert {one["description"] for one in fallbacks.values()} == {None}
    assert "/severed_relationships" in fallbacks["severed_relationships"]["summary"]
    assert "/disputes/strikes/" in fallbacks["moderation_warning"]["summary"]
    assert "<a href=" in fallbacks["admin.report"]["summary"]


def test_there_is_no_fallback_for_clients_that_list_no_types_or_know_the_type(boss: User) -> None:
    assert not any("fallback" in one for one in read(boss).values())
    assert not any("fallback" in one for one in read(boss, supported_types="mention").values()), (
        "the value is not a list"
    )
    known = read(boss, **{"supported_types[]": ["added_to_collection", "admin.report", "pleroma:emoji_reaction"]})
    assert {name for name, one in known.items() if "fallback" in one} == {
        "severed_relationships",
        "moderation_warning",
        "admin.sign_up",
        "collection_update",
    }
    assert all("fallback" in one for name, one in read(boss, **{"supported_types[]": ""}).items() if name != "mention")


def test_fallback_texts_are_in_the_language_of_the_reader(boss: User) -> None:
    User.objects.filter(pk=boss.pk).update(locale="de")
    title = read(boss, **{"supported_types[]": "mention"})["moderation_warning"]["fallback"]["title"]
    assert title == "Du hast eine Verwarnung von den Leuten erhalten, die diesen Server betreiben"


def test_markup_in_names_is_escaped_in_fallback_texts(boss: User) -> None:
    severed = SeveredAccount.objects.select_related("severance").get()
    severed.severance.target_name = "<b>x</b>.example"
    severed.severance.save()
    title = read(boss, **{"supported_types[]": "x"})["severed_relationships"]["fallback"]["title"]
    assert title == "You have lost follows because of &lt;b&gt;x&lt;/b&gt;.example"


def test_fallback_texts_take_one_statement_for_any_number_of_notifications() -> None:
    owner, reader = make_user("owner"), make_user("reader", discoverable=True)
    for _number in range(3):
        put_into_collection(owner, reader)
        work()
    api = Api(make_token(reader))

    def cost(limit: int, **query: Any) -> int:
        api.get(PATH, {"limit": limit} | query)
        with CaptureQueriesContext(connection) as caught:
            assert len(api.get(PATH, {"limit": limit} | query).json()) == limit
        return len(caught)

    assert cost(6, **{"supported_types[]": "x"}) == cost(2, **{"supported_types[]": "x"}) == cost(2) + 1


@pytest.mark.parametrize("supported", [None, (), ("mention",)])
def test_baseline_types_never_need_a_fallback(supported: Any) -> None:
    assert not any(needs_fallback(name, supported) for name in BASELINE)
    assert needs_fallback("admin.report", supported) is (supported is not None)


def test_the_fallback_of_a_group_counts_the_other_accounts() -> None:
    boss = make_user("boss", role="owner")
    make_account("ann")
    bea = make_account("bea")
    work()
    body = Api(make_token(boss)).get("/api/v2/notifications", {"supported_types[]": "mention"}).json()
    (group,) = body["notification_groups"]
    assert group["notifications_count"] == 2
    assert group["fallback"]["title"] == f"{mention(bea)} and 1 other have signed up"
