"""Tests of the API for blocklists, as in GoToSocial; the API has the same rules as the pages for staff."""

import base64
import json
import time
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest

from accounts.models import AuditEntry, User
from accounts.policies.staff import OPERATOR
from moderation.blocklists.models import Blocklist, BlocklistEntry, BlocklistException
from moderation.blocklists.services import fetching
from moderation.blocklists.services.lists import change_list, change_values, switch_list
from moderation.models import DomainRule
from moderation.policies.domain_rules import DomainRuleDraft
from moderation.services.domain_rules import create_rule
from social.kernel.crypto import decrypt
from social.kernel.errors import NotFound
from tests.factories.accounts import make_token, make_user
from tests.moderation.blocklists import HEADER, draft, fetched, listed, rules, states, subscribed
from tests.support.at_once import at_once
from tests.support.client import Api
from tests.support.site import Site
from tests.support.work import work

pytestmark = pytest.mark.django_db
ADMIN = "/api/v1/admin"
STAFF = "admin:read admin:write"
LISTS, DRAFTS, EXCLUDES = (f"{ADMIN}/domain_permission_{name}" for name in ("subscriptions", "drafts", "excludes"))


@pytest.fixture
def api(boss: User) -> Api:
    return Api(make_token(boss, STAFF))


def new_list(url: str, **values: Any) -> dict[str, Any]:
    return {"uri": url, "permission_type": "block", "content_type": "text/csv", **values}


def test_a_client_subscribes_to_a_list_and_decides_about_its_entries(api: Api, boss: User, site: Site) -> None:
    url = site.show("/list", HEADER + "bad.example,suspend,,,spam,true\nloud.example,silence,,,,\n")
    made = api.post(LISTS, new_list(url, title="Theirs", priority=0, adopt_orphans=False, remove_retracted=True)).json()
    same = {"id": made["id"], "title": "Theirs", "uri": url, "as_draft": True, "permission_type": "block", "count": 0}
    assert made | same | {"created_by": str(boss.account_id), "content_type": "text/csv"} == made
    assert not made.keys() & {"fetched_at", "error", "fetch_username"}
    work()
    (shown,) = api.get(LISTS).json()
    assert (shown["count"], shown["fetched_at"] == shown["successfully_fetched_at"]) == (2, True)
    assert [one["domain"] for one in api.get(DRAFTS).json()] == ["loud.example", "bad.example"]
    (bad,) = api.get(DRAFTS, {"domain": "Bad.Example"}).json()
    assert bad | {"public_comment": "spam", "obfuscate": True, "severity": "suspend"} == bad
    assert (bad["subscription_id"], bad["created_by"]) == (made["id"], str(boss.account_id))
    accepted = api.post(f"{DRAFTS}/{bad['id']}/accept").json()
    assert accepted["id"] == str(DomainRule.objects.get().pk)
    assert accepted | {"domain": "bad.example", "subscription_id": made["id"], "public_comment": "spam"} == accepted
    assert rules() == {"bad.example": "suspend"}
    (loud,) = api.get(DRAFTS, {"subscription_id": made["id"]}).json()
    assert api.post(f"{DRAFTS}/{loud['id']}/remove", {"exclude_target": True}).json() == loud
    (exclude,) = api.get(EXCLUDES).json()
    assert (exclude["domain"], states()["loud.example"]) == ("loud.example", "dismissed")
    assert api.delete(f"{EXCLUDES}/{exclude['id']}").json() == exclude
    assert AuditEntry.objects.filter(account_name="@boss", target_type="DomainRule").count() == 1
    for path in (f"{DRAFTS}/{bad['id']}", f"{DRAFTS}/{loud['id']}/accept", f"{EXCLUDES}/{exclude['id']}"):
        assert (api.post if path.endswith("accept") else api.get)(path).status_code == 404


def test_unsupported_values_are_refused_with_their_names(api: Api) -> None:
    url = "https://lists.example/1"
    for wrong in (
        {"permission_type": "allow"},
        {"permission_type": "other"},
        {"priority": 1},
        {"adopt_orphans": True},
        {"remove_retracted": False},
        {"content_type": "text/html"},
        {"uri": "http://lists.example/1"},
        {"uri": "https://127.0.0.1/list"},
        {"uri": "https://ada:secret@lists.example/1"},
        {"title": "x" * 256},
        {"fetch_username": "a:b", "fetch_password": "x"},
        {"fetch_password": "x" * 256, "fetch_username": "ada"},
    ):
        answer = api.post(LISTS, new_list(url) | wrong)
        name = next(iter(wrong))
        assert (answer.status_code, list(answer.json()["details"])) == (422, [name]), wrong
    answer = api.post(LISTS, new_list(url, fetch_password="secret"))
    assert list(answer.json()["details"]) == ["fetch_username"]
    for missing in ("uri", "permission_type"):
        answer = api.post(LISTS, new_list(url) | {missing: ""})
        assert (answer.status_code, missing in answer.json()["error"]) == (400, True)
    made = api.post(LISTS, new_list(url)).json()
    assert (made["title"], api.post(LISTS, new_list(url)).status_code) == (url, 409)
    path = f"{LISTS}/{made['id']}"
    assert api.patch(path, {}).status_code == 400
    assert list(api.patch(path, {"priority": 9, "title": "x"}).json()["details"]) == ["priority"]
    assert list(api.patch(path, {"title": " "}).json()["details"]) == ["title"]
    assert Blocklist.objects.get().name == url
    assert api.get(f"{LISTS}/preview").status_code == 400
    kinds = [api.get(f"{LISTS}/preview", {"permission_type": kind}) for kind in ("block", "allow", "x")]
    assert [kind.status_code for kind in kinds] == [200, 200, 422]
    assert [len(kind.json()) for kind in kinds[:2]] == [1, 0]
    for path in (LISTS, DRAFTS):
        assert [api.get(path, {"permission_type": kind}).status_code for kind in ("", "allow", "x")] == [200, 200, 422]
    assert api.get(DRAFTS, {"subscription_id": "x"}).json() == []
    for path, body, name in (
        (DRAFTS, {"domain": "x.example", "permission_type": "allow"}, "permission_type"),
        (DRAFTS, {"domain": "no domain", "permission_type": "block"}, "domain"),
        (DRAFTS, {"domain": "x.example", "permission_type": "block", "private_comment": "x" * 2001}, "private_comment"),
        (DRAFTS, {"domain": "x.example", "permission_type": "block", "public_comment": "x" * 10_001}, "public_comment"),
        (EXCLUDES, {"domain": "social.localhost"}, "domain"),
        (EXCLUDES, {"domain": "x.example", "private_comment": "x" * 2001}, "private_comment"),
    ):
        answer = api.post(path, body)
        assert (answer.status_code, list(answer.json()["details"])) == (422, [name]), body
        assert api.post(path, body | {"domain": ""}).status_code == 400
    assert [api.post(EXCLUDES, {"domain": "x.example"}).status_code for _time in range(2)] == [200, 409]


def test_the_password_of_a_list_is_never_returned_and_kept_by_other_changes(api: Api, site: Site) -> None:
    url = site.show("/list", listed("a.example"))
    seen: list[tuple[Any, Any]] = []

    def answer(handler: BaseHTTPRequestHandler) -> None:
        seen.append((handler.headers["Authorization"], handler.headers["Accept"].partition(",")[0]))
        handler.send_error(403)

    site.instead = answer
    values = {"fetch_username": "ada", "fetch_password": "secret", "content_type": "application/json"}
    made = api.post(LISTS, new_list(url, **values))
    work()
    path = f"{LISTS}/{made.json()['id']}"
    answers = [made, api.get(path), api.get(LISTS), api.patch(path, {"title": "x", "as_draft": False})]
    assert not [one for one in answers if b"secret" in one.content or b"fetch_password" in one.content]
    shown = answers[-1].json()
    assert (shown["fetch_username"], shown["title"], shown["as_draft"]) == ("ada", "x", False)
    assert ("answers 403" in shown["error"], "successfully_fetched_at" in shown) == (True, False)
    assert api.post(f"{path}/test").json() == {"error": "the server answers 403"}
    basic = f"Basic {base64.b64encode(b'ada:secret').decode()}"
    assert seen == [(basic, "application/json")] * 2
    assert decrypt(Blocklist.objects.get().password) == "secret"
    assert "fetch_username" not in api.patch(path, {"fetch_username": ""}).json()
    assert Blocklist.objects.get().password == ""


def test_a_change_over_the_api_keeps_options_set_on_the_pages(api: Api, site: Site) -> None:
    blocklist = subscribed(site, listed("a.example"), suspend_as="silence", follows_limit=7, take_rejections=True)
    api.patch(f"{LISTS}/{blocklist.pk}", {"title": "x"})
    blocklist.refresh_from_db()
    assert (blocklist.suspend_as, blocklist.follows_limit, blocklist.take_rejections) == ("silence", 7, True)
    # A change that another client makes between reading the list and writing it is kept too.
    api.patch(f"{LISTS}/{blocklist.pk}", {"title": "y"})
    change_values(by=OPERATOR, blocklist=blocklist, changes={"mode": "draft"})
    blocklist.refresh_from_db()
    assert (blocklist.name, blocklist.mode, blocklist.suspend_as) == ("y", "draft", "silence")


@pytest.mark.parametrize(
    "scope", ["admin:read", "admin:write", STAFF, "admin:read:domain_blocks admin:write:domain_blocks", "read"]
)
def test_reading_and_writing_require_different_scopes(boss: User, site: Site, scope: str) -> None:
    blocklist = subscribed(site, listed("a.example"), mode="draft")
    entry = BlocklistEntry.objects.get()
    api = Api(make_token(boss, scope))
    reads = [LISTS, f"{LISTS}/preview?permission_type=block", f"{LISTS}/{blocklist.pk}", DRAFTS, EXCLUDES]
    may_read, may_write = scope in ("admin:read", STAFF), scope in ("admin:write", STAFF)
    assert {api.get(path).status_code for path in reads} == {200 if may_read else 403}
    writes = [
        api.post(f"{LISTS}/{blocklist.pk}/test"),
        api.patch(f"{LISTS}/{blocklist.pk}", {"title": "x"}),
        api.post(f"{DRAFTS}/{entry.pk}/accept"),
        api.post(EXCLUDES, {"domain": "b.example"}),
        api.post(f"{LISTS}/{blocklist.pk}/remove"),
    ]
    assert {answer.status_code for answer in writes} == {200 if may_write else 403}


def test_a_role_without_the_permission_reads_and_changes_nothing(site: Site) -> None:
    blocklist = subscribed(site, listed("a.example"), mode="draft")
    entry = BlocklistEntry.objects.get()
    for api in (Api(make_token(make_user("mod", role="Moderator"), STAFF)), Api(make_token(make_user(), STAFF)), Api()):
        answers = [
            *map(api.get, (LISTS, f"{LISTS}/{blocklist.pk}", DRAFTS, f"{DRAFTS}/{entry.pk}", EXCLUDES)),
            api.post(LISTS, new_list("https://lists.example/1")),
            api.post(f"{LISTS}/{blocklist.pk}/remove"),
            api.post(f"{LISTS}/{blocklist.pk}/test"),
            api.post(f"{DRAFTS}/{entry.pk}/accept"),
            api.post(DRAFTS, {"domain": "b.example", "permission_type": "block"}),
        ]
        assert {answer.status_code for answer in answers} == {403}
    assert (rules(), states(), len(site.asked)) == ({}, {"a.example": "waiting"}, 1)


def test_a_list_is_removed_with_its_rules_or_without_them(api: Api, site: Site) -> None:
    first = subscribed(site, listed("a.example", "both.example"), "first")
    second = subscribed(site, listed("b.example", "both.example"), "second")
    assert api.post(f"{LISTS}/{first.pk}/remove").json()["title"] == "first"
    assert [one["title"] for one in api.get(LISTS).json()] == ["second"]
    for path in (f"{LISTS}/{first.pk}", f"{LISTS}/{first.pk}/remove"):
        assert (api.post if path.endswith("remove") else api.get)(path).status_code == 404
    with pytest.raises(NotFound):
        switch_list(by=OPERATOR, blocklist=first, enabled=True)
    work()
    assert (rules(), Blocklist.objects.count()) == ({"b.example": "suspend", "both.example": "suspend"}, 1)
    api.post(f"{LISTS}/{second.pk}/remove", {"remove_children": False})
    work()
    assert (rules(), Blocklist.objects.count()) == ({"b.example": "suspend", "both.example": "suspend"}, 0)
    assert not DomainRule.objects.filter(from_lists=True).exists()
    acts = AuditEntry.objects.filter(target_type="Blocklist", action="destroy", account_name="@boss")
    assert acts.count() == 2


def test_a_list_can_be_tested_without_changing_anything(api: Api, site: Site) -> None:
    create_rule(by=OPERATOR, domain="mine.example", draft=DomainRuleDraft("silence"))
    blocklist = subscribed(site, listed("a.example", "waits.example"), mode="draft")
    api.post(EXCLUDES, {"domain": "good.example"})
    body = (
        HEADER
        + "a.example,suspend,,,spam,\nmine.example,suspend,,,,\ngood.example,suspend,,,,\nnew.example,silence,,,,\n"
    )
    site.show("/theirs", body)
    before = (states(), rules(), AuditEntry.objects.count(), Blocklist.objects.values().get())
    found = api.post(f"{LISTS}/{blocklist.pk}/test").json()
    same = {"private_comment": "", "obfuscate": False}
    assert found == [
        {"domain": "a.example", "public_comment": "spam", "severity": "suspend", **same},
        {"domain": "new.example", "public_comment": "", "severity": "silence", **same},
    ]
    site.show("/theirs", "")
    assert api.post(f"{LISTS}/{blocklist.pk}/test").json() == []
    for wrong, said in (
        ("<p>gone</p>", "web page"),
        (b"a.example\n" * 419_431, "TooLarge"),
        ("x\ny\n", "names a server"),
    ):
        site.show("/theirs", wrong)
        answer = api.post(f"{LISTS}/{blocklist.pk}/test")
        assert (answer.status_code, said in answer.json()["error"]) == (200, True), answer.json()
    assert before == (states(), rules(), AuditEntry.objects.count(), Blocklist.objects.values().get())


def test_a_list_of_4_mb_can_be_tested(api: Api, site: Site) -> None:
    names = [f"{'long-' * 11}{number}.{'name-' * 11}{number}.{'more-' * 9}{number}.example" for number in range(19_999)]
    body = listed(*names)
    assert 3_900_000 < len(body) < fetching.BYTES_LIMIT
    blocklist = Blocklist.objects.create(name="theirs", url=site.show("/theirs", body))
    assert len(api.post(f"{LISTS}/{blocklist.pk}/test").json()) == 19_999


def test_a_server_that_does_not_answer_delays_a_request_for_seconds_at_most(
    api: Api, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "DEADLINE", 0.3)
    blocklist = Blocklist.objects.create(name="theirs", url=site.show("/theirs", ""))
    site.before_answer = lambda: time.sleep(1)
    assert "TimedOut" in api.post(f"{LISTS}/{blocklist.pk}/test").json()["error"]
    site.before_answer = lambda: None
    site.show("/theirs", "", status=302, Location="/theirs")
    monkeypatch.setattr(fetching, "DEADLINE", 5)
    assert "TooManyRedirects" in api.post(f"{LISTS}/{blocklist.pk}/test").json()["error"]


def test_lists_at_addresses_of_this_machine_are_not_requested(api: Api, site: Site, settings: Any) -> None:
    blocklist = Blocklist.objects.create(name="theirs", url=f"{site.address}/list")
    settings.FEDERATION_LOOPBACK = False
    for url in (blocklist.url, "https://localhost/", "https://[::1]/", "https://169.254.169.254/", "https://10.0.0.1/"):
        assert list(api.post(LISTS, new_list(url)).json()["details"]) == ["uri"], url
        Blocklist.objects.update(url=url)
        assert "Refused" in api.post(f"{LISTS}/{blocklist.pk}/test").json()["error"], url
    assert site.asked == []


def test_staff_draft_rules_for_others_to_decide(api: Api, site: Site) -> None:
    values = {
        "permission_type": "block",
        "obfuscate": True,
        "public_comment": "spam",
        "private_comment": "see report 7",
    }
    made = api.post(DRAFTS, {"domain": "Bad.Example", **values}).json()
    assert made | {**values, "domain": "bad.example"} == made
    assert "subscription_id" not in made
    assert api.post(DRAFTS, {"domain": "bad.example", **values}).status_code == 409
    # Neither an entry of a list nor an exception for the same server changes the draft.
    subscribed(site, listed("bad.example"), mode="draft")
    exclude = api.post(EXCLUDES, {"domain": "bad.example"}).json()
    work()
    api.delete(f"{EXCLUDES}/{exclude['id']}")
    work()
    assert api.get(f"{DRAFTS}/{made['id']}").json() == made
    accepted = api.post(f"{DRAFTS}/{made['id']}/accept").json()
    rule = DomainRule.objects.get()
    assert (rule.severity, rule.from_lists, rule.obfuscate, rule.private_comment) == (
        "suspend",
        False,
        True,
        "see report 7",
    )
    assert (accepted["id"], api.post(f"{DRAFTS}/{made['id']}/accept").status_code) == (str(rule.pk), 404)
    again = api.post(DRAFTS, {"domain": "bad.example", "permission_type": "block"}).json()
    assert api.post(f"{DRAFTS}/{again['id']}/accept").status_code == 409
    assert api.post(f"{DRAFTS}/{again['id']}/accept", {"overwrite": True}).json()["id"] == str(rule.pk)
    below = api.post(DRAFTS, {"domain": "sub.bad.example", "permission_type": "block"}).json()
    assert api.post(f"{DRAFTS}/{below['id']}/remove").json() == below
    assert not BlocklistEntry.objects.filter(blocklist=None).exists()
    acts = AuditEntry.objects.filter(target_type="BlocklistEntry", target_name="sub.bad.example").order_by("id")
    assert [act.action for act in acts] == ["draft", "remove_draft"]


def test_an_entry_of_a_list_does_not_override_a_rule_of_staff(api: Api, site: Site) -> None:
    subscribed(site, listed("a.example", "b.example"), mode="draft")
    create_rule(by=OPERATOR, domain="a.example", draft=DomainRuleDraft("silence"))
    BlocklistException.objects.create(domain="b.example")
    for entry in BlocklistEntry.objects.order_by("domain"):
        for values in ({}, {"overwrite": True}):
            answer = api.post(f"{DRAFTS}/{entry.pk}/accept", values)
            assert (answer.status_code, bool(answer.json()["error"])) == (409, True)
    assert (rules(), set(states().values())) == ({"a.example": "silence"}, {"waiting"})


def test_a_draft_that_ends_a_rule_is_not_listed_as_a_block(api: Api, site: Site) -> None:
    blocklist = subscribed(site, listed("a.example"))
    change_list(by=OPERATOR, blocklist=blocklist, draft=draft(blocklist.url, mode="draft"))
    site.show("/theirs", listed("b.example"))
    fetched(blocklist)
    assert states() == {"a.example": "waiting", "b.example": "waiting"}
    assert [one["domain"] for one in api.get(DRAFTS).json()] == ["b.example"]
    entry = BlocklistEntry.objects.get(domain="a.example")
    assert api.post(f"{DRAFTS}/{entry.pk}/accept", {"overwrite": True}).status_code == 404


def test_a_suddenly_empty_list_ends_no_rules_over_the_api_either(api: Api, site: Site) -> None:
    names = [f"s{number}.example" for number in range(20)]
    blocklist = subscribed(site, listed(*names))
    site.show("/theirs", "")
    fetched(blocklist)
    assert (len(rules()), api.get(DRAFTS).json(), api.get(f"{LISTS}/{blocklist.pk}").json()["count"]) == (20, [], 0)


@pytest.mark.django_db(transaction=True)
def test_simultaneous_requests_of_several_clients_take_effect_once(site: Site, settings: Any) -> None:
    token = make_token(make_user("boss", role="Owner"), STAFF)
    url = site.show("/list", listed("a.example"))
    answers = at_once(4, lambda _place: Api(token).post(LISTS, new_list(url)).status_code)
    assert sorted(answers) == [200, 409, 409, 409]
    sent = {"domain": "b.example", "permission_type": "block"}
    answers = at_once(4, lambda _place: Api(token).post(DRAFTS, sent).status_code)
    assert sorted(answers) == [200, 409, 409, 409]
    work()
    for entry in BlocklistEntry.objects.order_by("domain"):
        answers = at_once(4, lambda _place, pk=entry.pk: Api(token).post(f"{DRAFTS}/{pk}/accept").status_code)
        assert answers.count(200) == 1
        assert set(answers) <= {200, 404, 409}
    assert rules() == {"a.example": "suspend", "b.example": "suspend"}
    path = f"{LISTS}/{Blocklist.objects.get().pk}/remove"
    assert sorted(at_once(4, lambda _place: Api(token).post(path).status_code)) == [200, 404, 404, 404]
    work()
    assert (rules(), Blocklist.objects.count()) == ({"b.example": "suspend"}, 0)
    assert json.loads(Api(token).get(LISTS).content) == []
