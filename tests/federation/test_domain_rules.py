"""Tests of rules for remote servers: their effect on known accounts, on new accounts, and on deliveries."""

from typing import Any

import pytest

from accounts.models import Account, AuditEntry, Follow, SeveredAccount, SeveredFollow
from accounts.policies.staff import OPERATOR, Staff
from federation.models import InboundActivity
from federation.reasons import Rejected
from federation.remote.actors import fetch_actor
from moderation.models import DomainRule
from moderation.policies.domain_rules import DomainRuleDraft
from moderation.queries.blocks import is_closed_to, rule_for
from moderation.services.domain_rules import allow_domain, change_rule, create_rule, remove_rule
from notifications.models import Notification
from social.kernel.errors import Forbidden, Invalid
from social.kernel.outbox import OutboxRow, drain
from social.kernel.subscriptions import DEFAULT_QUEUE
from statuses.models import MediaAttachment
from tests.factories.accounts import make_account, make_remote, make_user
from tests.factories.statuses import follow
from tests.federation.activities import PUBLIC, deal
from tests.federation.remote_server import RemotePerson
from tests.support.work import work

pytestmark = pytest.mark.django_db


def rule(domain: str, **says: Any) -> DomainRule:
    made = create_rule(by=OPERATOR, domain=domain, draft=DomainRuleDraft(**says))
    work()
    return made


def host_of(person: RemotePerson) -> str:
    """Return the host of the user's server without the port, which is not part of a rule."""
    return person.uri.split("/")[2].partition(":")[0]


def state(account: Account) -> tuple[bool, bool]:
    current = Account.objects.get(id=account.id)
    return current.limited, current.suspended


def handle_one_by_one() -> set[str]:
    """Handle the queued events one at a time, and return their names."""
    names: set[str] = set()
    while waiting := list(OutboxRow.objects.values_list("queue", "event")):
        names |= {event for _queue, event in waiting}
        if not sum(drain(queue, 1) for queue in {queue for queue, _event in waiting}):
            break
    return names


def test_a_rule_applies_to_all_accounts_of_a_server_and_keeps_decisions_about_single_ones() -> None:
    there, below = make_remote("a", "bad.example"), make_remote("b", "sub.bad.example")
    elsewhere, similar = make_remote("c", "good.example"), make_remote("d", "notbad.example")
    by_hand = make_remote("e", "bad.example", limited_at="2026-01-01T00:00:00Z")
    made = rule("bad.example", severity="silence")
    assert [state(one) for one in (there, below, elsewhere, similar)] == [
        (True, False),
        (True, False),
        (False, False),
        (False, False),
    ]
    change_rule(by=OPERATOR, rule=made, draft=DomainRuleDraft(severity="suspend"))
    work()
    assert [state(one) for one in (there, below, elsewhere)] == [(False, True), (False, True), (False, False)]
    remove_rule(by=OPERATOR, rule=made)
    work()
    assert [state(one) for one in (there, below, by_hand)] == [(False, False), (False, False), (True, False)]
    assert list(AuditEntry.objects.order_by("id").values_list("action", "target_name")) == [
        ("create", "bad.example"),
        ("update", "bad.example"),
        ("destroy", "bad.example"),
    ]


def test_the_most_specific_domain_rule_applies() -> None:
    below = make_remote("b", "sub.bad.example")
    rule("bad.example", severity="silence")
    rule("sub.bad.example", severity="suspend")
    found = rule_for("sub.bad.example")
    assert found is not None
    assert found.severity == "suspend"
    assert is_closed_to("deep.sub.bad.example")
    assert not is_closed_to("bad.example")
    assert Account.objects.get(id=below.id).suspended


def test_follows_with_a_suspended_server_end_and_are_recorded() -> None:
    ann, zoe = make_account("ann"), make_remote("zoe", "bad.example")
    for follower, target in ((ann, zoe), (zoe, ann)):
        Follow.objects.create(account=follower, target=target, uri=f"https://x.example/{follower.id}")
    made = rule("bad.example", severity="suspend")
    assert not Follow.objects.exists()
    kept = SeveredFollow.objects.select_related("severance")
    assert {(one.account_id, one.target_id) for one in kept} == {(ann.id, zoe.id), (zoe.id, ann.id)}
    assert {(one.severance.type, one.severance.target_name, one.severance.cause) for one in kept} == {
        ("domain_block", "bad.example", f"domain_rule:{made.id}")
    }
    lost = SeveredAccount.objects.get(account=ann)
    assert (lost.followers_count, lost.following_count) == (1, 1)


@pytest.mark.parametrize("is_applied", [True, False], ids=["applied", "not yet applied"])
@pytest.mark.parametrize("severity", ["suspend", "silence"])
def test_a_rule_that_is_removed_and_created_again_applies_once_until_it_is_removed(
    severity: str, is_applied: bool
) -> None:
    """The events of the old rule are handled after the new rule was created."""
    alice, there = make_user("alice"), make_remote("zoe", "bad.example")
    follow(alice.account, there)
    draft = DomainRuleDraft(severity=severity)
    old = create_rule(by=OPERATOR, domain="bad.example", draft=draft)
    if is_applied:
        work()
    remove_rule(by=OPERATOR, rule=old)
    new = create_rule(by=OPERATOR, domain="bad.example", draft=draft)
    handled = handle_one_by_one()
    assert state(there) == (severity == "silence", severity == "suspend")
    assert "AccountUnsuspended" not in handled, "between the two rules no account is unsuspended"
    assert Follow.objects.exists() == (severity == "silence")
    if severity == "suspend":
        lost = SeveredAccount.objects.select_related("severance").get(account=alice.account)
        assert (lost.following_count, lost.severance.cause) == (1, f"domain_rule:{(old if is_applied else new).id}")
        assert Notification.objects.filter(account=alice.account, type="severed_relationships").count() == 1
    remove_rule(by=OPERATOR, rule=new)
    work()
    assert state(there) == (False, False)


def test_a_late_event_of_a_removed_rule_ends_no_follows() -> None:
    """Follows end only when the new rule has been applied to every account of the server; otherwise they remain."""
    alice, there = make_user("alice"), make_remote("zoe", "bad.example")
    follow(alice.account, there)
    old = create_rule(by=OPERATOR, domain="bad.example", draft=DomainRuleDraft(severity="suspend"))
    drain(DEFAULT_QUEUE, 1)
    (waiting,) = OutboxRow.objects.filter(event="ServerSuspended")
    remove_rule(by=OPERATOR, rule=old)
    new = create_rule(by=OPERATOR, domain="bad.example", draft=DomainRuleDraft(severity="suspend"))
    while OutboxRow.objects.filter(id=waiting.id).exists():
        assert drain(DEFAULT_QUEUE, 1)
    remove_rule(by=OPERATOR, rule=new)
    work()
    assert Follow.objects.exists()
    assert not SeveredFollow.objects.exists()
    assert state(there) == (False, False)


def test_a_suspended_server_is_refused_and_not_contacted(zoe: RemotePerson) -> None:
    account = fetch_actor(zoe.uri)
    rule(host_of(zoe), severity="suspend")
    assert state(account) == (False, True)
    assert zoe.send(zoe.activity("Like", "https://x.example/1")).status_code == 403
    assert not InboundActivity.objects.exists()
    with pytest.raises(Rejected):
        fetch_actor(zoe.uri)


def test_row_13_a_domain_rule_applies_to_accounts_that_arrive_later(zoe: RemotePerson) -> None:
    rule(host_of(zoe), severity="silence", reject_media=True)
    account = fetch_actor(zoe.uri)
    assert (account.limited, account.avatar_remote_url) == (True, "")


def test_no_media_are_stored_from_a_server_whose_media_staff_reject(zoe: RemotePerson) -> None:
    account, ann = fetch_actor(zoe.uri), make_account("ann")
    Follow.objects.create(account=ann, target=account)
    rule(host_of(zoe), severity="noop", reject_media=True)
    picture = {"type": "Document", "mediaType": "image/png", "url": f"{zoe.uri}/picture.png"}
    deal(zoe, zoe.activity("Create", zoe.note(attachment=[picture]), to=[PUBLIC]))
    assert not MediaAttachment.objects.exists()


def test_with_limited_federation_only_allowed_servers_are_contacted(zoe: RemotePerson, settings: Any) -> None:
    settings.LIMITED_FEDERATION = True
    assert zoe.send(zoe.activity("Like", "https://x.example/1")).status_code == 403
    allow_domain(by=OPERATOR, domain=host_of(zoe))
    assert fetch_actor(zoe.uri).username == "zoe"


@pytest.mark.parametrize("domain", ["", "not a domain", "social.example:80", "testserver", "-"])
def test_only_domains_of_other_servers_can_have_rules(domain: str, settings: Any) -> None:
    with pytest.raises(Invalid):
        rule(settings.LOCAL_DOMAIN if domain == "testserver" else domain)


def test_a_rule_needs_the_permission() -> None:
    nobody = Staff(1, "@nobody", 0, 100)
    with pytest.raises(Forbidden):
        create_rule(by=nobody, domain="bad.example", draft=DomainRuleDraft())
    with pytest.raises(Forbidden):
        allow_domain(by=nobody, domain="bad.example")


def test_row_13_a_server_that_is_not_allowed_cannot_send_activities_of_an_allowed_one(
    zoe: RemotePerson, settings: Any
) -> None:
    """The rule for the signer's server applies, whichever actor the activity names."""
    alice = make_account("alice")
    fetch_actor(zoe.uri)
    settings.LIMITED_FEDERATION = True
    allow_domain(by=OPERATOR, domain="open.example")
    open_one = make_remote("yan", "open.example")
    follow(alice, open_one)
    claimed = zoe.activity("Delete", f"{open_one.uri}/statuses/1") | {"actor": open_one.uri}
    assert zoe.send(claimed).status_code == 403
    assert not InboundActivity.objects.exists()
