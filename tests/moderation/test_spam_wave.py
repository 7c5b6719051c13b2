"""Tests of a wave of spam: 500 sign-ups and 5,000 mentions with links to one host, among ordinary posts."""

import time
from datetime import timedelta
from typing import Any

import pytest

from accounts.identity.policies.sign_up import SignUpDraft
from accounts.identity.services.signing_up import sign_up
from accounts.models import Account, User
from accounts.policies.staff import OPERATOR
from accounts.spam.services.rules import switch_rule
from moderation.queries.dry_runs import try_rule
from notifications.models import Notification
from social.kernel import clock
from statuses.models import HeldPost, Status
from statuses.services.moderating import discard_held_by_rule
from tests.factories.accounts import make_account, make_many_remote
from tests.factories.spam_rules import make_rule
from tests.factories.statuses import follow
from tests.federation.notes import receive_mention
from tests.support.work import work

pytestmark = [pytest.mark.verify, pytest.mark.django_db, pytest.mark.timeout(900)]
SPAMMERS, POSTS, SIGN_UPS = 500, 5000, 500
BEFORE_THE_RULE = 500
LINK = '<a href="https://%s/%d">look</a>'


def _receive(author: Account, number: int, content: str, to: Account) -> bool:
    """Return whether a received mention was published rather than held."""
    now = clock.iso(clock.now() - timedelta(minutes=1))
    return receive_mention(author, number, content, to=to, published=now) is not None


def _others_at(domain: str, number: int) -> list[Account]:
    rows = (
        Account(username=f"m{one}", domain=domain, uri=f"https://{domain}/{one}", url=f"https://{domain}/")
        for one in range(number)
    )
    return Account.objects.bulk_create(rows, batch_size=1000)


def test_enabled_rules_hold_a_wave_of_spam_and_no_other_posts(settings: Any, capsys: Any) -> None:
    settings.REGISTRATIONS, settings.CONFIRM_EMAIL = "open", False
    spammers = make_many_remote(SPAMMERS)
    strangers, friends = _others_at("calm.example", 50), _others_at("friends.example", 50)
    people = [make_account() for _ in range(20)]
    for number, friend in enumerate(friends):
        follow(people[number % len(people)], friend)
    posts = make_rule(enabled=False, link_hosts=("spam.example",), first_contact=True)
    sign_ups = make_rule(subject="sign_ups", enabled=False, mail_domains=("spam.example",))
    shown = {"spam before": 0, "spam after": 0, "with other links": 0, "of friends with the link": 0}
    seconds = 0.0
    for number in range(POSTS):
        if number == BEFORE_THE_RULE:
            tried = try_rule(posts)
            for rule in (posts, sign_ups):
                switch_rule(by=OPERATOR, rule=rule, enabled=True)
        when = "spam before" if number < BEFORE_THE_RULE else "spam after"
        begun, reader = time.perf_counter(), people[number % 20]
        shown[when] += _receive(spammers[number % SPAMMERS], number, LINK % ("www.spam.example", number), reader)
        seconds += time.perf_counter() - begun
        if number % 100 == 0:
            place = number // 100
            calm, friend, known = strangers[place], friends[place], people[place % 20]
            shown["with other links"] += _receive(calm, number, LINK % ("news.example", number), known)
            shown["of friends with the link"] += _receive(friend, number, LINK % ("spam.example", number), known)
    waiting = 0
    for number in range(SIGN_UPS):
        draft = SignUpDraft(
            username=f"wave{number}", email=f"{number}@mail.spam.example", password="correct horse", agreement=True
        )
        waiting += not sign_up(draft=draft).approved
    draft = SignUpDraft(username="calm", email="calm@example.com", password="correct horse", agreement=True)
    newcomer = sign_up(draft=draft)
    work(rounds=200)
    held = HeldPost.objects.filter(rule=posts).count()
    notified = Notification.objects.filter(type="mention", from_account__in=[one.id for one in spammers]).count()
    begun = time.perf_counter()
    discarded = discard_held_by_rule(by=OPERATOR, rule=posts)
    discarding = time.perf_counter() - begun
    with capsys.disabled():
        print(
            f"\n  before the rule was on: {shown['spam before']} of {BEFORE_THE_RULE} mentions shown; "
            f"the dry run meets {tried.met} of {tried.looked_at} posts, of {len(tried.account_ids)} accounts"
            f"\n  after: {held} of {POSTS - BEFORE_THE_RULE} mentions held, {shown['spam after']} shown, "
            f"{waiting} of {SIGN_UPS} sign-ups wait for approval"
            f"\n  not caught: {shown['with other links']} of 50 strangers' posts with other links, "
            f"{shown['of friends with the link']} of 50 friends' posts with the link; "
            f"a sign-up with another address is let in: {newcomer.approved}"
            f"\n  {seconds / POSTS * 1000:.1f} ms a mention; {discarded} discarded in {discarding:.1f} s"
        )
    assert (held, shown["spam after"], waiting) == (POSTS - BEFORE_THE_RULE, 0, SIGN_UPS)
    assert (shown["with other links"], shown["of friends with the link"], newcomer.approved) == (50, 50, True)
    assert tried.met == BEFORE_THE_RULE == notified, "earlier posts were published, and the dry run finds them"
    assert Status.objects.filter(account_id__in=[one.id for one in spammers]).count() == BEFORE_THE_RULE
    assert User.objects.filter(approved=False).count() == SIGN_UPS
