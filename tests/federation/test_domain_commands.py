"""Tests of commands that list known servers and queued deliveries, and remove servers."""

import io
import json
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db.models.functions import Now

from accounts.models import Account, AccountStat, AuditEntry, Domain
from accounts.policies.staff import OPERATOR, staff_of
from federation.models import Delivery, OutboundActivity
from federation.outbound.queueing import deliveries_to, drop, retry_host
from federation.remote.actors import fetch_actor
from federation.remote.servers import purge_server
from social.kernel.errors import Forbidden
from social.kernel.outbox import drain
from social.kernel.runner import Host
from statuses.models import Status
from tests.factories.accounts import make_account, make_remote, make_user
from tests.factories.statuses import follow, make_remote_status, make_status
from tests.federation.activities import deal, introduced
from tests.federation.remote_server import RemotePerson, RemoteServer
from tests.support.client import signed_in
from tests.support.work import work

pytestmark = pytest.mark.django_db


def said(*arguments: str) -> str:
    out = io.StringIO()
    call_command(*arguments, stdout=out)
    return out.getvalue()


@pytest.fixture
def posted() -> Status:
    """A post that is queued for two servers, one of which does not respond."""
    alice = make_account("alice")
    for name in ("one.example", "two.example"):
        Domain.objects.create(name=name)
        stranger = make_remote("yan", name)
        follow(stranger, alice)
        make_remote_status(stranger)
        AccountStat.objects.filter(account=stranger).update(following_count=1)
    follow(alice, Account.objects.get(domain="one.example"))
    AccountStat.objects.filter(account__domain="one.example").update(followers_count=1)
    status = make_status(alice)
    Host.objects.create(queue="deliveries", name="one.example", failures=3, last_error="TimedOut")
    drain("default")
    return status


def figures(*arguments: str) -> dict[str, dict[str, Any]]:
    return {row["domain"]: row for row in json.loads(said("show_domains", "--json", *arguments))}


def test_servers_are_shown_with_their_figures_and_can_be_retried(posted: Status) -> None:
    Delivery.objects.filter(host="one.example").update(dead_at=Now(), attempts=16, last_error="gone")
    found = figures()
    assert set(found) == {"one.example", "two.example"}
    one = found["one.example"]
    names = ("accounts", "followed", "followers", "posts", "waiting", "given_up", "failures", "last_error")
    assert [one[name] for name in names] == [1, 1, 1, 1, 0, 1, 3, "TimedOut"]
    assert (found["two.example"]["waiting"], found["two.example"]["followed"]) == (1, 0)
    assert set(figures("--failing")) == {"one.example"}
    assert set(figures("TWO.example")) == {"two.example"}
    assert len(figures("--limit", "1")) == 1
    Host.objects.create(queue="deliveries", name="xn--strae-oqa.example", failures=2)
    assert set(figures("--failing")) == {"one.example", "xn--strae-oqa.example"}, (
        "the relay is listed too, although no account names it"
    )
    assert set(figures("Straße.example")) == {"xn--strae-oqa.example"}
    assert "one.example" in said("show_domains")
    assert said("show_domains", "--retry", "one.example") == "one.example is being contacted again. Deliveries: 1.\n"
    one = figures()["one.example"]
    assert [one[name] for name in ("waiting", "given_up", "failures")] == [1, 0, 0]
    assert said("show_domains", "two.example", "--failing").strip() == "Every known server answers."
    for wrong in (
        ["--retry"],
        ["--limit", "0"],
        ["three.example"],
        ["one.example", "three.example"],
        ["https://one.example/"],
        ["--retry", "three.example"],
    ):
        with pytest.raises(CommandError):
            said("show_domains", *wrong)


def test_a_host_that_was_only_named_by_a_stranger_is_not_listed_as_failing(
    zoe: RemotePerson, alice: Account, settings: Any
) -> None:
    settings.STAFF_SECOND_FACTOR = False
    introduced(zoe, alice)
    assert deal(zoe, zoe.activity("Create", zoe.note(inReplyTo="http://localhost:1/notes/1"))) == "done"
    assert Host.objects.get(name="localhost:1").failures == 1
    for name in ("followed.example", "pages.example", "met.example"):
        Host.objects.create(queue="fetches", name=name, failures=1)
    for name, host in (("split", "pages"), ("followed", "followed"), ("met", "met")):
        Domain.objects.create(name=f"{name}.example", host=f"{host}.example")
    make_remote("yan", "met.example")
    for name in ("followed.example", "split.example"):
        follow(alice, make_remote("yan", name))
    Host.objects.create(queue="deliveries", name="relay.example", failures=1)
    assert set(figures("--failing")) == {"followed.example", "split.example", "relay.example"}
    assert set(figures("met.example", "--failing")) == set()
    assert figures("localhost:1")["localhost:1"]["failures"] == 1, "the host is shown if it is named"
    client = signed_in(make_user("boss", role="Owner"))
    for path in ("/admin/social/host/", "/admin/"):
        page = client.get(path).content.decode()
        named = {name for name in ("followed", "split", "relay", "met") if f"{name}.example" in page}
        assert (named, "localhost:1" in page) == ({"followed", "split", "relay"}, False), path


def test_deliveries_to_a_servers_host_are_listed_under_its_domain(posted: Status, settings: Any) -> None:
    settings.STAFF_SECOND_FACTOR = False
    Domain.objects.filter(name="one.example").update(host="web.uno.example")
    Delivery.objects.filter(host="one.example").update(host="web.uno.example", attempts=2)
    Host.objects.update(name="web.uno.example")
    for found in (figures(), figures("--failing"), figures("web.uno.example")):
        assert [found["one.example"][name] for name in ("waiting", "failing", "failures")] == [1, 1, 3]
        assert "web.uno.example" not in found
    client = signed_in(make_user("boss", role="Owner"))
    page = client.get(f"/admin/accounts/domain/{Domain.objects.get(name='one.example').pk}/change/")
    assert [page.context["original"].figures[name] for name in ("waiting", "state")] == [1, "backing off"]
    for searched, there in (("", True), ("ONE.ex", True), ("uno", True), ("two", False)):
        listed = client.get("/admin/social/host/", {"q": searched}).content.decode()
        assert (">one.example<" in listed) is there, searched
    host = client.get(f"/admin/social/host/{Host.objects.get().pk}/change/").content.decode()
    assert (">one.example<" in host, ">web.uno.example<" in host) == (True, True)
    for name in ("one.example", "web.uno.example"):
        assert len(json.loads(said("show_deliveries", "--json", "--host", name))) == 1
    assert (
        said("show_domains", "--retry", "web.uno.example") == "one.example is being contacted again. Deliveries: 1.\n"
    )
    assert (Host.objects.get().failures, Delivery.objects.get(host="web.uno.example").attempts) == (0, 0)
    assert drop(by=OPERATOR, rows=deliveries_to("one.example")) == 1


def test_a_host_shared_by_several_servers_is_shown_for_each_of_them(posted: Status) -> None:
    for name in ("three.example", "four.example"):
        Domain.objects.create(name=name, host="web.example")
    Domain.objects.create(name="five.example", host="two.example")
    Host.objects.create(queue="deliveries", name="web.example", failures=1)
    assert set(figures("web.example")) == set(figures("web.example", "--failing")) == {"three.example", "four.example"}
    assert set(figures("two.example")) == {"two.example"}
    assert {name: row["waiting"] for name, row in figures("two.example", "five.example").items()} == {
        "two.example": 1,
        "five.example": 1,
    }


def test_deliveries_are_shown_tried_again_and_dropped(posted: Status) -> None:
    Delivery.objects.filter(host="one.example").update(dead_at=Now(), attempts=16, last_error="gone")
    rows = json.loads(said("show_deliveries", "--json"))
    assert [(row["host"], row["type"], row["about"], row["state"], row["last_error"]) for row in rows] == [
        ("one.example", "Create", f"status:{posted.id}", "given up", "gone"),
        ("two.example", "Create", f"status:{posted.id}", "waiting", ""),
    ]
    assert "hello" not in said("show_deliveries"), "posts may be private"
    assert said("show_deliveries", "--given-up", "--retry", "all").strip() == "1 retried."
    assert not Delivery.objects.filter(dead_at__isnull=False).exists()
    assert said("show_deliveries", "--host", "two.example", "--drop", "all").strip() == "1 dropped."
    (left,) = Delivery.objects.all()
    assert left.host == "one.example"
    assert OutboundActivity.objects.exists()
    assert said("show_deliveries", "--drop", str(left.id)).strip() == "1 dropped."
    assert not OutboundActivity.objects.exists()
    assert said("show_deliveries").strip() == "No deliveries are waiting."
    assert list(AuditEntry.objects.order_by("id").values_list("action", "target_name")) == [
        ("retry", "Create for one.example"),
        ("discard", "Create for two.example"),
        ("discard", "Create for one.example"),
    ]
    for wrong in (["--drop", str(left.id)], ["--retry", "x"], ["--limit", "0"], ["--host", "https://one.example/"]):
        with pytest.raises(CommandError):
            said("show_deliveries", *wrong)


def test_a_server_is_removed_with_everybody_on_it(posted: Status) -> None:
    assert said("purge_domain", "one.example", "--dry-run") == "one.example  1\n"
    for wrong in (["one.example"], ["example", "--yes"], ["https://one.example/", "--yes"], ["example", "--dry-run"]):
        with pytest.raises(CommandError):
            said("purge_domain", *wrong)
    assert Account.objects.filter(domain="one.example", deleted_at=None).exists()
    assert said("purge_domain", "ONE.example", "--yes") == "one.example  1\n"
    work()
    assert not Account.objects.filter(domain="one.example").exists()
    assert not Status.objects.filter(account__domain="one.example").exists()
    assert set(figures()) == {"two.example"}
    assert AuditEntry.objects.filter(action="purge", target_name="one.example").exists()
    assert Account.objects.filter(domain="two.example", deleted_at=None).exists()


def test_acting_on_servers_requires_managing_federation_everywhere(posted: Status) -> None:
    nobody = staff_of(make_user())
    for attempt in (
        lambda: retry_host(by=nobody, name="one.example"),
        lambda: drop(by=nobody, rows=Delivery.objects.all()),
        lambda: list(purge_server(by=nobody, domain="one.example")),
    ):
        with pytest.raises(Forbidden):
            attempt()
    assert Delivery.objects.count() == 2


def test_the_end_of_this_server_is_sent_to_every_known_server(
    elsewhere: RemoteServer, zoe: RemotePerson, settings: Any
) -> None:
    owner, member = make_user("owner", role="Owner"), make_user("member")
    zoe_here = fetch_actor(zoe.uri)
    fetch_actor(elsewhere.person("yan", endpoints={}).uri)
    confirmed, plan = (
        ("--confirm", settings.LOCAL_DOMAIN),
        "2 accounts would be deleted permanently, and 1 servers notified",
    )
    for registrations in ("closed", "approval", "open"):
        settings.REGISTRATIONS = registrations
        for tried in ((), confirmed):
            shown = said("self_destruct", "--dry-run", *tried)
            assert shown.startswith(plan)
            assert ("People can still sign up" in shown) is (registrations != "closed")
    for wrong, registrations, reason in (
        ((), "closed", plan),
        (confirmed, "open", "REGISTRATIONS"),
        (("--confirm", "other.example"), "closed", "Nothing was deleted"),
        (("--dry-run", "--confirm", "other.example"), "closed", "Nothing was deleted"),
    ):
        settings.REGISTRATIONS = registrations
        with pytest.raises(CommandError, match=reason):
            said("self_destruct", *wrong)
    assert not Account.objects.filter(deleted_at__isnull=False).exists()
    settings.REGISTRATIONS = "closed"
    assert "Some servers have not been notified yet" in said("self_destruct", *confirmed), (
        "nothing is sent before the worker runs"
    )
    drain("default")
    assert "4 deliveries are waiting" in said("self_destruct")
    work()
    sent = [asked.activity() for asked in elsewhere.asked if asked.path == "/inbox"]
    gone = [(activity["type"], activity["object"]) for activity in sent]
    assert sorted(gone) == sorted(("Delete", user.account.uri) for user in (owner, member))
    for again in ((), ("--dry-run",), confirmed):
        assert (
            said("self_destruct", *again).strip() == "No more deliveries are waiting. This server can be switched off."
        )
    assert not Account.objects.filter(user__isnull=False, deleted_at=None).exists()
    assert Account.objects.filter(id=zoe_here.id, deleted_at=None).exists()
    assert AuditEntry.objects.filter(action="delete", account_name="operator").count() == 2
