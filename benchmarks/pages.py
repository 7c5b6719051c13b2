"""`python -m benchmarks.pages`: bytes, queries and layout shift of pages for visitors, members and staff.

It starts a server with a data directory of its own and fills it through the API. Then a visitor, a member with a full home
timeline and the owner open their pages. For each page it prints the bytes of the HTML, the bytes of a first visit (HTML,
styles, script and icons, but no pictures of users), the number of queries, and the layout shift on a phone and on a desktop, if
Chromium is installed.
"""

import argparse
import random
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path
from typing import Final

import requests

from benchmarks.measuring import attach
from benchmarks.seeding import PASSWORD, Seeded, seed
from tests.support.browser import submit
from tests.support.chromium import Tab, find_chromium, open_tab
from tests.support.instance import Instance

_MEMBER: Final = "bench001"
_OWNER: Final = "bench002"
#: The pages by username; the empty name stands for a visitor.
_PATHS: Final = {
    "": """/ /about /explore /explore/tags /explore/people /public /tags/music /@bench000 /@bench000/media {thread}
        /auth/sign_in /auth/sign_up /privacy-policy""",
    _MEMBER: """/ /notifications /notifications/requests /notifications/policy /write /drafts /scheduled /search?q=garden
        /explore /explore/people /public /tags/music /conversations /bookmarks /favourites /lists /followed_tags /mutes
        /blocks /domain_blocks /follow_requests /interaction_requests /filters /filters/new /announcements /collections
        /@bench000 {thread} /apps /settings /settings/profile /settings/preferences /settings/replies
        /settings/old_posts /settings/imports /settings/past /settings/export /invites""",
    _OWNER: """/admin/ /admin/moderation/report/inbox/ {case} /admin/accounts/account/ {person} /admin/statuses/status/
        /admin/accounts/sitesetting/ /admin/accounts/auditentry/ /admin/accounts/user/ /admin/accounts/domain/
        /admin/moderation/domainrule/ /admin/moderation/blocklist/ /admin/accounts/hashlist/ /admin/accounts/spamrule/
        /admin/timelines/trend/ /admin/moderation/webhook/ /admin/accounts/role/""",
}
#: Maximum size of the HTML of a page for visitors and members, in bytes; admin pages are larger because of their theme.
LIMIT: Final = 60_000
_NAMES: Final = {"": "visitor", _MEMBER: "member", _OWNER: "owner"}
_SHIFTS: Final = """window.shifted = 0; new PerformanceObserver(list => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifted += entry.value;
}).observe({type: 'layout-shift', buffered: true});"""
# The sizes do not include headers, and static files are counted at their compressed size.
_LOADED: Final = """performance.getEntriesByType('navigation').concat(performance.getEntriesByType('resource'))
  .filter(each => each.entryType === 'navigation' || new URL(each.name).pathname.startsWith('/static/'))
  .filter(each => each.initiatorType !== 'img').reduce((sum, each) => sum + each.encodedBodySize, 0)"""


def look(tab: Tab, url: str, width: int) -> tuple[int, float]:
    """Return how many bytes a first visit to a page loads, not counting pictures, and the page's cumulative layout shift."""
    tab.call("Network.clearBrowserCache")
    tab.call("Emulation.setDeviceMetricsOverride", width=width, height=844, deviceScaleFactor=1, mobile=width < 500)
    tab.go(url)
    time.sleep(1.5)
    return int(tab.run(_LOADED)), float(tab.run("window.shifted"))


def statements(paths: list[str], username: str) -> list[tuple[int, int]]:
    """Return the status of each page and its number of queries on a second visit; an empty username stands for a visitor."""
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from accounts.models import User

    browser = Client(SERVER_NAME="localhost")
    if username:
        browser.force_login(User.objects.get(account__username=username))
    found = []
    for path in paths:
        browser.get(path)
        with CaptureQueriesContext(connection) as captured:
            answer = browser.get(path)
        found.append((answer.status_code, len(captured)))
    return found


def signed_in(server: Instance, login: str) -> requests.Session:
    """Return a browser session in which this user has signed in, or a visitor's session if `login` is empty."""
    browser = requests.Session()
    if login:
        page = browser.get(f"{server.base_url}/auth/sign_in", timeout=60)
        answer = submit(browser, page, login=login, password=PASSWORD)
        assert answer.url != page.url, answer.text[:500]
    return browser


def paths_of(server: Instance, seeded: Seeded) -> dict[str, list[str]]:
    """Return the paths of the pages by username, after reporting the author of a thread and making one user the owner."""
    from accounts.models import Role, User

    thread = random.Random(1).choice(seeded.threads)
    account = requests.get(f"{server.base_url}/api/v1/statuses/{thread}", timeout=60).json()["account"]
    report = {"account_id": account["id"], "status_ids": [thread], "comment": "rude"}
    headers = {"Authorization": f"Bearer {seeded.tokens[1]}"}
    sent = requests.post(f"{server.base_url}/api/v1/reports", json=report, headers=headers, timeout=60)
    assert sent.status_code == 200, sent.text[:500]
    User.objects.filter(account__username=_OWNER).update(role=Role.objects.get(name="Owner"))
    values = {
        "thread": f"/@{account['acct']}/{thread}",
        "case": f"/admin/moderation/report/inbox/{account['id']}/",
        "person": f"/admin/accounts/account/{account['id']}/change/",
    }
    return {reader: [path.format(**values) for path in paths.split()] for reader, paths in _PATHS.items()}


def measure(server: Instance, seeded: Seeded) -> bool:
    """Print the tables; return whether the HTML of every page for visitors and members is below LIMIT."""
    attach(server.data_dir)
    kept = True
    for reader, paths in paths_of(server, seeded).items():
        print(f"\n{_NAMES[reader]:42} {'HTML':>7} {'first visit':>12} {'statements':>11} {'shift 390':>10} {'1280':>6}")
        browser = signed_in(server, reader)
        with (
            tempfile.TemporaryDirectory() as folder,
            open_tab(Path(folder)) if find_chromium() else nullcontext() as tab,
        ):
            if tab is not None:
                tab.call("Page.addScriptToEvaluateOnNewDocument", source=_SHIFTS)
                for cookie in browser.cookies:
                    tab.call(
                        "Network.setCookie", url=server.base_url, name=cookie.name, value=cookie.value or "", path="/"
                    )
            for path, (code, count) in zip(paths, statements(paths, reader), strict=True):
                assert code == 200, f"{path}: {code}"
                html = len(browser.get(server.base_url + path, timeout=60).content)
                loaded = [look(tab, server.base_url + path, width) for width in (390, 1280)] if tab is not None else []
                weight = loaded[0][0] if loaded else html
                kept = kept and (reader == _OWNER or html < LIMIT)
                shifts = [f"{shift:.3f}" for _bytes, shift in loaded] or ["-", "-"]
                print(f"{path:42} {html:>7} {weight:>12} {count:>11} {shifts[0]:>10} {shifts[1]:>6}", flush=True)
    return kept


def main() -> None:
    """Fill a server, measure its pages, and exit with 1 if the HTML of a page for visitors or members reaches LIMIT bytes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--statuses", type=int, default=200)
    arguments = parser.parse_args()
    with Instance() as server:
        seeded = seed(server.base_url, users=12, statuses=arguments.statuses, follows=6)
        raise SystemExit(0 if measure(server, seeded) else 1)


if __name__ == "__main__":
    main()
