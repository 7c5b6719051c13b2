"""Tests of the inbox in Chromium: a moderator handles a hundred reports about ten accounts with few clicks and few queries."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.core.signals import request_finished, request_started
from django.db.backends.utils import CursorWrapper

from accounts.models import Account
from moderation.models import Report, Strike
from statuses.models import Status
from tests.factories.accounts import make_account, make_remote, make_user
from tests.factories.statuses import make_media, make_status
from tests.support.axe import show_at, sign_in
from tests.support.chromium import Tab, find_chromium, open_tab
from tests.support.federation_server import needs_federation

pytestmark = [
    pytest.mark.verify,
    needs_federation,
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(find_chromium() is None, reason="there is no Chromium on this machine"),
]
INBOX = "/admin/moderation/report/inbox/"
SUBMIT = "#content form:not(.staff-undo) button[type=submit], #main form:not(.staff-undo) button[type=submit]"


@contextmanager
def counted_pages(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[tuple[str, int]]]:
    """Count the queries of each admin page that is requested inside the block."""
    pages: list[tuple[str, int]] = []
    here = threading.local()
    execute = CursorWrapper.execute

    def counting(self: Any, *args: Any, **kwargs: Any) -> Any:
        here.count = getattr(here, "count", 0) + 1
        return execute(self, *args, **kwargs)

    def begin(environ: dict[str, Any] | None = None, **_: Any) -> None:
        here.count, here.page = 0, f"{(environ or {}).get('REQUEST_METHOD')} {(environ or {}).get('PATH_INFO')}"

    def end(**_: Any) -> None:
        if here.page.startswith("GET /admin/"):
            pages.append((here.page, here.count))

    monkeypatch.setattr(CursorWrapper, "execute", counting)
    request_started.connect(begin)
    request_finished.connect(end)
    try:
        yield pages
    finally:
        request_started.disconnect(begin)
        request_finished.disconnect(end)


class Hand:
    """A moderator's clicks, counted in `clicks`."""

    def __init__(self, tab: Tab) -> None:
        self.tab = tab
        self.clicks = 0

    def choose(self, selector: str) -> None:
        """Click an element that stays on the page."""
        self.clicks += 1
        found = f"document.querySelector({json.dumps(selector)})"
        assert self.tab.run(f"!!{found} && ({found}.click(), true)"), selector

    def go(self, selector: str) -> str:
        """Click an element that leads to another page, and return its path."""
        self.clicks += 1
        assert self.tab.run(f"!!document.querySelector({json.dumps(selector)})"), selector
        return self.tab.press(selector)


def reported() -> list[Account]:
    """Create ten accounts, each with ten reports by ten accounts about two posts."""
    reporters = [make_remote(f"reporter{number}", "there.example") for number in range(10)]
    targets = []
    for number in range(10):
        target = make_account(f"target{number}")
        posts = [make_status(target, f"post {each}", media=[make_media(target, "A picture")]) for each in range(2)]
        ids = [post.id for post in posts]
        for reporter in reporters:
            Report.objects.create(account=reporter, target_account=target, status_ids=ids, comment="Spam")
        targets.append(target)
    return targets


def test_a_hundred_reports_on_ten_accounts_take_at_most_thirty_clicks(
    live_server: Any, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.BASE_URL = live_server.url
    settings.WEB_DOMAIN = live_server.url.partition("//")[2]
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.STAFF_SECOND_FACTOR = False
    moderator = make_user("moderator", role="Moderator")
    targets = reported()
    assert Report.objects.filter(action_taken_at=None).count() == 100
    with open_tab(tmp_path / "browser") as tab, counted_pages(monkeypatch) as pages:
        sign_in(tab, live_server.url, moderator)
        tab.go(f"{live_server.url}{INBOX}")
        hand = Hand(tab)
        path = hand.go("[data-open]")
        for act in ("warn", "silence", "delete", "suspend"):
            assert path != INBOX
            if act == "delete":
                hand.choose("[name=select][value=posts]")
            hand.choose(f"[name=acts][value={act}]")
            path = hand.go(SUBMIT)
        hand.go(f"#main a[href='{INBOX}']")
        for _account in range(6):
            hand.choose("[name=account]:not(:checked)")
        hand.choose("[name=acts][value=resolve]")
        hand.go(SUBMIT)
        assert hand.go(SUBMIT) == INBOX
        assert "There are no open reports" in tab.run("document.body.innerText")
        assert tab.problems == []
    assert not Report.objects.filter(action_taken_at=None).exists()
    assert hand.clicks <= 30
    assert max(count for _page, count in pages) <= 20, pages
    assert len(pages) >= 8
    done = {strike.action for strike in Strike.objects.filter(target_account_id__one_of=[each.pk for each in targets])}
    assert done == {"none", "silence", "suspend"}
    assert Status.objects.filter(deleted_at=None).count() == 20, "posts are deleted when ten minutes are over"
    print(f"{hand.clicks} clicks, at most {max(count for _page, count in pages)} statements a page")


_IN_SIGHT = """[0, 0.5, 1].every(part => {
  for (const each of [document.documentElement, document.getElementById('main')])
    each.scrollTo({top: part * each.scrollHeight, behavior: 'instant'});
  const box = document.querySelector('.staff-panel').getBoundingClientRect();
  return box.top >= 0 && box.bottom <= innerHeight + 1 && box.height < innerHeight * 0.6;
})"""
# The checkboxes of accounts, reports and posts that another element covers after they are scrolled into view.
_COVERED = """[...document.querySelectorAll('[data-choice], [data-post]')].filter(box => {
  box.scrollIntoView({block: 'nearest', behavior: 'instant'});
  const {left, right, top, bottom} = box.getBoundingClientRect();
  return [top + 2, bottom - 2].some(y => document.elementFromPoint((left + right) / 2, y) !== box);
}).map(box => box.outerHTML)"""


@pytest.mark.parametrize("width", [390, 1280])
def test_the_actions_stay_visible_and_the_key_u_undoes_the_last_decision_on_any_page(
    live_server: Any, settings: Any, tmp_path: Path, width: int
) -> None:
    settings.BASE_URL = live_server.url
    settings.WEB_DOMAIN = live_server.url.partition("//")[2]
    settings.MEDIA_ROOT = tmp_path / "media"
    settings.STAFF_SECOND_FACTOR = False
    target = reported()[0]
    case = f"{live_server.url}{INBOX}{target.pk}/"
    with open_tab(tmp_path / "browser") as tab:
        sign_in(tab, live_server.url, make_user("moderator", role="Moderator"))
        show_at(tab, width, "light")
        for page in (f"{live_server.url}{INBOX}", case):
            tab.go(page)
            assert tab.run(_IN_SIGHT), page
            assert tab.run("document.querySelectorAll('[data-post]').length") > 1
            assert tab.run(_COVERED) == [], page
        Hand(tab).choose("[name=acts][value=silence]")
        tab.press(SUBMIT)
        assert Account.objects.get(pk=target.pk).limited_at is not None
        tab.go(f"{live_server.url}/admin/accounts/account/")
        tab.letter("u")
        tab.wait("document.querySelector('[data-undo]') === null && document.readyState === 'complete'")
        assert tab.run("location.pathname") == "/admin/accounts/account/"
        assert "has been undone" in tab.run("document.body.innerText")
    assert Account.objects.get(pk=target.pk).limited_at is None
    assert Report.objects.filter(target_account=target, action_taken_at=None).count() == 10
