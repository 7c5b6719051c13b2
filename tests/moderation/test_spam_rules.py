"""Tests of spam rules: matching posts are held, limited or reported."""

from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core import mail
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.identity.policies.sign_up import SignUpDraft
from accounts.identity.services.signing_up import sign_up
from accounts.models import AuditEntry, User
from accounts.policies.staff import staff_of
from accounts.services.instance_actor import instance_actor_uri
from accounts.spam.models import RuleOutcome, RuleSubject, SpamRule, SpamRuleMatch
from accounts.spam.policies import SpamRuleDraft
from accounts.spam.services.rules import change_rule, create_rule, delete_rule, switch_rule
from moderation.models import Report, Strike
from moderation.queries.dry_runs import try_rule
from social.kernel import clock
from social.kernel.errors import Forbidden, Invalid, NotFound
from social.kernel.text.sanitize import sanitize
from statuses.models import Status
from statuses.services.screening import screen
from statuses.services.storing import Composed
from tests.factories.accounts import make_remote, make_token, make_user
from tests.factories.spam_rules import make_rule
from tests.factories.statuses import edit, follow, make_remote_status, make_status
from tests.support.client import Api
from tests.support.work import work

pytestmark = pytest.mark.django_db
STATUSES = "/api/v1/statuses"
_HIDDEN = '<span class="invisible">'
_CUT_LINK = f'<a href="https://spam.com/viagra">{_HIDDEN}https://spam.</span>com/vi{_HIDDEN}agra</span></a>'
_MANY_LINKS = "".join(f'<a href="https://{number}.harmless.example/">x</a>' for number in range(500))


@pytest.mark.parametrize(
    ("conditions", "text", "met"),
    [
        ({"words": ("free money",)}, "FREE   money for you", True),
        ({"words": ("free",)}, "freedom", False),
        ({"words": ("free \u200b",)}, "free!", True),
        ({"words": ("儲かる",)}, "必ず儲かる話", True),
        ({"link_hosts": ("spam.com",)}, "https://a.b.spam.com/x", True),
        ({"link_hosts": ("spam.com",)}, "https://notspam.com/spam.com", False),
        ({"minimum_mentions": 2}, "@bob @cat hello", True),
        ({"minimum_mentions": 3}, "@bob @cat hello", False),
        ({"maximum_age_hours": 1}, "hello", True),
        ({"first_contact": True}, "@bob hello", True),
        ({"first_contact": True}, "@cat hello", False),
        ({"first_contact": True}, "hello", False),
        ({"origin": "remote", "words": ("hello",)}, "hello", False),
        ({"words": ("hello",), "link_hosts": ("spam.example",)}, "hello", False),
    ],
)
def test_a_rule_matches_if_all_its_conditions_match(conditions: dict[str, Any], text: str, met: bool) -> None:
    ann, bob, cat = make_user("ann"), make_user("bob"), make_user("cat")
    follow(cat.account, ann.account)
    make_rule(**conditions)
    answer = Api(make_token(ann)).post(STATUSES, {"status": text})
    assert answer.status_code == (422 if met else 200), answer.content
    assert SpamRuleMatch.objects.count() == int(met)
    assert bob.account_id


@pytest.mark.parametrize(
    ("conditions", "content"),
    [
        ({"words": ("viagra",)}, '<p>vi<span class="invisible">zzz</span>agra</p>'),
        ({"words": ("viagra",)}, f'<p><span class="invisible">{"zzz " * 2000}</span>viagra</p>'),
        ({"words": ("spam.com/viagra",)}, _CUT_LINK),
        ({"link_hosts": ("spam.com",)}, _CUT_LINK),
        ({"words": ("viagra",), "link_hosts": ("spam.com",)}, _CUT_LINK),
        ({"link_hosts": ("spam.com",)}, _MANY_LINKS + _CUT_LINK),
    ],
)
def test_row_74_words_hidden_by_markup_still_match_a_rule(conditions: dict[str, Any], content: str) -> None:
    rule = make_rule(**conditions)
    assert list(screen(Composed(author=make_remote("eve"), visibility="public", content=content)).rules) == [rule]


@pytest.mark.parametrize(
    "url",
    [
        *(
            "https://\uff53\uff50\uff41\uff4d.com/",
            "https://spam\u3002com/",
            "https://spam.com./",
            "https://me@spam.com/",
            "https://spam%2ecom/",
        ),
        *("https://sp\u00adam.com/", "https://spam.com\\@other.example/", "https://a@b:c@shop.spam.com:8443/x"),
    ],
)
def test_row_74_every_spelling_of_a_host_matches_a_rule(url: str) -> None:
    rule = make_rule(link_hosts=("spam.com",))
    content = sanitize(f'<p><a href="{url}">x</a></p>')
    assert list(screen(Composed(author=make_remote("eve"), visibility="public", content=content)).rules) == [rule]


def test_an_account_limited_by_a_rule_gets_a_statement_of_reasons() -> None:
    ann = make_user("ann")
    made = make_rule(RuleOutcome.LIMIT, words=("casino",))
    for _twice in range(2):
        make_status(ann.account, "casino")
    work()
    ann.account.refresh_from_db()
    assert ann.account.limited
    strike = Strike.objects.get()
    assert (strike.action, strike.account_id, strike.spam_rule_id) == ("silence", None, made.id)
    assert strike.statement["automated"]
    letter = mail.outbox[0].body
    for words in ("automatic spam rule", "The decision was automatic", "casino", "You can appeal until"):
        assert words in letter
    assert made.name not in letter, "the mail does not reveal the rule"
    entry = AuditEntry.objects.get(action="limit")
    assert (entry.account_id, made.name in entry.account_name) == (None, True)
    assert SpamRuleMatch.objects.filter(rule=made, account=ann.account).count() == 2


def test_a_rule_reports_an_account_once_with_all_its_posts_and_edits() -> None:
    zoe = make_user("zoe")
    make_rule(RuleOutcome.REPORT, words=("casino",))
    posts = [make_status(zoe.account, text) for text in ("casino", "more casino", "harmless")]
    edit(posts[2], "a casino")
    work()
    (by_casino,) = Report.objects.all()
    assert by_casino.status_ids == [post.id for post in posts]
    assert (by_casino.account.uri, by_casino.category) == (instance_actor_uri(), "spam")


def test_posts_of_staff_match_no_rule() -> None:
    make_rule(words=("casino",))
    make_status(make_user("boss", role="Moderator").account, "casino")
    assert Status.objects.count() == 1


def person(name: str, **values: Any) -> User:
    draft = SignUpDraft(
        username=name, email=f"{name}@mail.spam.example", password="correct horse", agreement=True, **values
    )
    return sign_up(draft=draft)


def test_sign_ups_that_match_a_rule_wait_for_approval_or_are_limited(settings: Any) -> None:
    settings.REGISTRATIONS, settings.CONFIRM_EMAIL = "open", False
    make_rule(subject=RuleSubject.SIGN_UPS, mail_domains=("spam.example",), networks=("192.0.2.0/24",))
    make_rule(RuleOutcome.LIMIT, RuleSubject.SIGN_UPS, words=("crypto",))
    assert not person("a", ip="192.0.2.7").approved
    assert person("b", ip="198.51.100.7").approved
    limited = person("c", ip="2001:db8::1", reason="I love Crypto").account
    limited.refresh_from_db()
    assert limited.limited
    work()
    assert Strike.objects.get().target_account_id == limited.id
    assert SpamRuleMatch.objects.count() == 2
    operators = SignUpDraft(
        username="d", email="d@spam.example", password="correct horse", agreement=True, ip="192.0.2.7"
    )
    assert sign_up(draft=operators, confirmed=True, approved=True).approved, (
        "rules do not apply to actions of the operator"
    )


def test_a_dry_run_reports_matches_and_stores_nothing() -> None:
    ann, bob, zoe = make_user("ann"), make_user("bob"), make_remote("zoe")
    make_status(ann.account, "casino", visibility="direct")
    make_remote_status(zoe, "<p>Casino</p>", mentions=[bob.account])
    make_remote_status(zoe, "<p>Casino</p>", created_at=clock.now() - timedelta(days=40))
    make_status(ann.account, "harmless")
    before = SpamRuleMatch.objects.count(), AuditEntry.objects.count()
    unsaved = SpamRule(name="x", subject=RuleSubject.POSTS, words=["casino"])
    found = try_rule(unsaved)
    assert (found.looked_at, found.met, len(found.account_ids), found.complete) == (3, 2, 2, True)
    assert sorted(one.words for one in found.samples) == ["", "Casino"], "words of private posts are not shown"
    strangers = try_rule(SpamRule(name="x", subject=RuleSubject.POSTS, first_contact=True))
    assert [one.account_id for one in strangers.samples] == [zoe.id]
    follow(bob.account, zoe)
    assert try_rule(SpamRule(name="x", subject=RuleSubject.POSTS, first_contact=True)).met == 0
    mails = SpamRule(name="x", subject=RuleSubject.SIGN_UPS, mail_domains=["example.com"])
    assert try_rule(mails).met == 2
    assert not try_rule(unsaved, limit=1).complete
    assert before == (SpamRuleMatch.objects.count(), AuditEntry.objects.count())
    with CaptureQueriesContext(connection) as queries:
        try_rule(unsaved)
    assert len(queries) == 2, "one query for a thousand posts, and one that finds no more"


def test_managing_rules_requires_the_permission() -> None:
    boss, ann = staff_of(make_user("boss", role="Owner")), staff_of(make_user("ann"))
    draft = SpamRuleDraft(
        "Casino", RuleSubject.POSTS, RuleOutcome.HOLD, words=("casino",), link_hosts=("BÜCHER.example",)
    )
    with pytest.raises(Forbidden):
        create_rule(by=ann, draft=draft)
    made = create_rule(by=boss, draft=draft)
    assert (made.enabled, made.link_hosts) == (False, ["xn--bcher-kva.example"])
    with pytest.raises(Invalid):
        create_rule(by=boss, draft=draft)
    for wrong in (
        {"name": ""},
        {"subject": "x"},
        {"words": (), "link_hosts": ()},
        {"networks": ("1.2.3",)},
        {"link_hosts": ("no host",)},
        {"minimum_mentions": 0},
        {"words": ("x",) * 501},
        {"words": ("\u200b",)},
        {"words": ("\u200b \u200b",)},
    ):
        with pytest.raises(Invalid):
            create_rule(
                by=boss,
                draft=SpamRuleDraft(**{"name": "n", "subject": "posts", "outcome": "hold", "words": ("a",)} | wrong),
            )
    switch_rule(by=boss, rule=made, enabled=True)
    change_rule(by=boss, rule=made, draft=SpamRuleDraft("Casino", "posts", "report", words=("casino",)))
    made.refresh_from_db()
    assert (made.enabled, made.outcome, made.link_hosts) == (True, "report", [])
    delete_rule(by=boss, rule=made)
    for act in (lambda: switch_rule(by=boss, rule=made, enabled=False), lambda: delete_rule(by=boss, rule=made)):
        with pytest.raises(NotFound):
            act()
    actions = AuditEntry.objects.filter(target_type="SpamRule").order_by("id").values_list("action", flat=True)
    assert list(actions) == ["create", "enable", "update", "destroy"]


def command(*words: str) -> str:
    out = StringIO()
    call_command("manage_spam_rules", *words, stdout=out)
    return out.getvalue()


def test_operators_create_test_and_enable_rules_and_decide_held_posts_by_command() -> None:
    ann = make_user("ann")
    make_status(ann.account, "casino")
    tried = command("add", "Casino", "--word", "casino", "--dry-run")
    assert "the rule matches 1 of them, by 1 accounts" in tried
    assert not SpamRule.objects.exists()
    command("add", "Casino", "--word", "casino")
    assert "Casino  off  posts  hold  0" in command()
    assert "matches 1" in command("try", "Casino")
    assert command("enable", "Casino") == "Casino: on.\n"
    assert Api(make_token(ann)).post(STATUSES, {"status": "casino"}).status_code == 422
    assert "1 post was approved" in command("approve", "Casino")
    assert Status.objects.count() == 2
    assert command("disable", "Casino") == "Casino: off.\n"
    assert command("remove", "Casino") == "Casino: removed.\n"
    for wrong in (("try", "Nothing"), ("add", "Empty"), ("enable",)):
        with pytest.raises(CommandError):
            command(*wrong)
