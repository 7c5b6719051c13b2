"""Tests that staff see the software name and the last contact of each remote server, and that hostile values do no harm."""

import io
import json
from datetime import timedelta
from typing import Any, Final

import pytest
from django.core.management import call_command

from accounts.models import Account, Domain
from federation.models import Fetch, FetchKind
from federation.remote.actors import fetch_actor, refresh
from federation.remote.software import request_software
from social.kernel import clock
from tests.factories.accounts import make_user
from tests.factories.statuses import follow, make_status
from tests.federation.remote_server import Answer, RemotePerson, RemoteServer
from tests.federation.test_admin import signed_in
from tests.support.work import work

pytestmark = pytest.mark.django_db
PLACE: Final = "/.well-known/nodeinfo"
SCHEMA: Final = "http://nodeinfo.diaspora.software/ns/schema/"


def says(server: RemoteServer, said: Any, *, href: str | None = None, schema: str = "2.0") -> None:
    """Serve this NodeInfo document."""
    link = {"rel": f"{SCHEMA}{schema}", "href": href or server.uri("nodeinfo/it")}
    server.pages[PLACE] = Answer(json.dumps({"links": [link]}).encode(), "application/json")
    document = json.dumps(said).encode()
    server.pages["/nodeinfo/it"] = Answer(document, f'application/json; profile="{SCHEMA}{schema}#"; charset=utf-8')


def known(server: RemoteServer) -> Domain:
    return Domain.objects.get(name=server.domain)


def ask() -> int:
    """Queue and run requests for the software of known servers, as the scheduler does, and return the number of servers."""
    count = request_software()
    work()
    return count


def asked(server: RemoteServer) -> int:
    return server.gets().count(PLACE)


def test_a_server_is_asked_once_a_week_for_its_software_which_staff_see(
    elsewhere: RemoteServer, zoe: RemotePerson, settings: Any
) -> None:
    settings.STAFF_SECOND_FACTOR = False
    says(elsewhere, {"version": "2.0", "software": {"name": "GoToSocial", "version": "0.20.1+git"}})
    for name in ("zoe", "yan", "xia"):
        fetch_actor(elsewhere.person(name).uri)
    assert (ask(), ask()) == (1, 0)
    server = known(elsewhere)
    assert (server.software, server.version, asked(elsewhere)) == ("gotosocial", "0.20.1+git", 1)
    says(elsewhere, {"software": {"name": "gotosocial", "version": "0.21"}})
    Domain.objects.update(software_asked_at=clock.now() - timedelta(days=6))
    assert ask() == 0
    assert (known(elsewhere).version, asked(elsewhere)) == ("0.20.1+git", 1)
    week_ago = clock.now() - timedelta(days=8)
    Domain.objects.update(software_asked_at=week_ago, reached_at=week_ago)
    assert ask() == 0, "a server without contact is not asked"
    refresh(Account.objects.get(uri=zoe.uri))
    assert ask() == 1
    assert (known(elsewhere).version, asked(elsewhere)) == ("0.21", 2)
    Domain.objects.create(name="silent.example")
    client = signed_in(make_user("boss", role="Owner"))
    page = "/admin/accounts/domain/"
    assert "gotosocial 0.21" in client.get(page).content.decode()
    listed = {each: client.get(page, {"software": each}).content.decode() for each in ("gotosocial", "-", "odd")}
    names = {each: [elsewhere.domain in text, "silent.example" in text] for each, text in listed.items()}
    assert names == {"gotosocial": [True, False], "-": [False, True], "odd": [False, False]}
    assert "gotosocial 0.21" in client.get(f"{page}{server.pk}/change/").content.decode()
    out = io.StringIO()
    call_command("show_domains", elsewhere.domain, "--json", stdout=out)
    (shown,) = json.loads(out.getvalue())
    assert (shown["software"], shown["version"], bool(shown["reached"])) == ("gotosocial", "0.21", True)


@pytest.mark.parametrize(
    ("said", "more"),
    [
        ({"software": {"name": 7, "version": {}}}, {}),
        ({"software": "mastodon"}, {}),
        ({}, {}),
        ({"software": {"name": "other", "version": "1"}}, {"href": "https://third.example/nodeinfo"}),
        ({"software": {"name": "other", "version": "1"}}, {"href": "javascript:1"}),
        ({"software": {"name": "other", "version": "1"}}, {"schema": "9.9"}),
        (None, {}),
        ([], {}),
    ],
)
def test_an_invalid_nodeinfo_changes_nothing(
    elsewhere: RemoteServer, zoe: RemotePerson, said: Any, more: dict[str, Any]
) -> None:
    says(elsewhere, said, **more)
    fetch_actor(zoe.uri)
    Domain.objects.update(software="mastodon", version="4.6.5")
    ask()
    assert (known(elsewhere).software, known(elsewhere).version) == ("mastodon", "4.6.5")
    assert Fetch.objects.get(kind=FetchKind.SOFTWARE).dead_at is not None, "the server is not asked again"
    assert Account.objects.filter(uri=zoe.uri).exists()


@pytest.mark.parametrize(
    "links", [[{"rel": ["x"], "href": {}}, {"rel": {}}, 7, None], "x", {}, {"rel": f"{SCHEMA}2.0"}]
)
def test_malformed_links_to_nodeinfo_cause_no_error(
    elsewhere: RemoteServer, zoe: RemotePerson, links: Any, caplog: pytest.LogCaptureFixture
) -> None:
    elsewhere.pages[PLACE] = Answer(json.dumps({"links": links}).encode(), "application/json")
    fetch_actor(zoe.uri)
    assert ask() == 1
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []
    assert Fetch.objects.get(kind=FetchKind.SOFTWARE).dead_at is not None


def test_long_words_are_cut_and_stay_on_one_line(elsewhere: RemoteServer, zoe: RemotePerson) -> None:
    says(elsewhere, {"software": {"name": "\u0130\n" * 900, "version": "v" * 9000}}, schema="2.1")
    fetch_actor(zoe.uri)
    ask()
    server = known(elsewhere)
    assert (len(server.software) <= 64, "\n" in server.software, len(server.version)) == (True, False, 255)


def test_the_last_contact_is_stored_for_the_domain_of_the_accounts(elsewhere: RemoteServer, settings: Any) -> None:
    with RemoteServer().running() as names:
        person = elsewhere.person("zoe", webfinger=f"zoe@{names.domain}")
        names.finger("zoe", person.uri)
        elsewhere.finger("zoe", person.uri, subject=f"acct:zoe@{names.domain}")
        account = fetch_actor(person.uri)
    assert account.domain == names.domain
    alice = make_user("alice").account
    follow(account, alice)
    work()
    yesterday = clock.now() - timedelta(days=1)
    for status, changes in ((202, True), (500, False)):
        elsewhere.inbox_status = status
        Domain.objects.update(reached_at=yesterday)
        make_status(alice)
        work()
        assert (known(names).reached_at != yesterday) == changes, status


def test_successful_deliveries_update_the_last_contact_once_an_hour_and_failed_ones_never(
    elsewhere: RemoteServer, zoe: RemotePerson
) -> None:
    alice = make_user("alice").account
    follow(fetch_actor(zoe.uri), alice)
    work()
    hours = {number: clock.now() - timedelta(hours=number) for number in (0.5, 2)}
    for status, before, changes in ((202, 0.5, False), (202, 2, True), (500, 2, False)):
        elsewhere.inbox_status = status
        Domain.objects.update(reached_at=hours[before])
        make_status(alice)
        work()
        assert (known(elsewhere).reached_at != hours[before]) == changes, (status, before)
