"""Tests of the admin page of suggestions: staff see the suggestions for each language, and can exclude accounts."""

from typing import Any

import pytest
from django.test import Client

from accounts.models import Account, AccountStat, AuditEntry
from accounts.policies.staff import staff_of
from accounts.services.sanctions import restore_suggestions, suppress_suggestions
from moderation.admin.audit_sentences import sentence
from social.kernel.errors import Forbidden
from tests.factories.accounts import make_account, make_token, make_user
from tests.factories.statuses import follow, make_status
from tests.support.client import Api, signed_in

pytestmark = pytest.mark.django_db
ACCOUNTS = "/admin/accounts/account/"


def popular(name: str, language: str) -> Account:
    found = make_user(name).account
    Account.objects.filter(id=found.id).update(discoverable=True)
    make_status(found, "hello", language=language)
    AccountStat.objects.filter(account=found).update(followers_count=9)
    return found


def listed(client: Client, **query: str) -> list[str]:
    return sorted(row.username for row in client.get(ACCOUNTS, query).context["cl"].result_list)


def test_staff_can_exclude_an_account_from_suggestions_and_include_it_again(settings: Any) -> None:
    settings.STAFF_SECOND_FACTOR = False
    boss, ann = signed_in(make_user("boss", role="Owner")), make_user("ann")
    api, friend = Api(make_token(ann)), make_account("friend")
    bad, good = popular("bad", "de"), popular("good", "en")
    follow(ann.account, friend)
    follow(friend, bad)

    def suggested() -> list[str]:
        return sorted(account["acct"] for account in api.get("/api/v1/suggestions").json())

    assert suggested() == ["bad", "good"]
    assert listed(boss, suggested="yes") == ["bad", "good"]
    assert (listed(boss, language="de"), listed(boss, language="EN")) == (["bad"], ["good"])
    for action, name in (("suppress_suggestions", "removed @bad from the suggestions"), ("restore_suggestions", "")):
        for _twice in range(2):
            boss.post(ACCOUNTS, {"action": action, "_selected_action": [bad.pk]})
        (entry,) = AuditEntry.objects.filter(action=action)
        assert name in sentence(entry)
        left = ["good"] if name else ["bad", "good"]
        assert (suggested(), listed(boss, suggested="yes")) == (left, left)
        assert listed(boss, suggested="no") == (["bad"] if name else [])
    suppress = f"{ACCOUNTS}{good.pk}/suppress_suggestions/"
    page = boss.get(f"{ACCOUNTS}{good.pk}/change/").content.decode()
    assert suppress.rpartition(str(good.pk))[2].strip("/") in page
    for act in (suppress_suggestions, restore_suggestions):
        with pytest.raises(Forbidden):
            act(by=staff_of(ann), account=good)
