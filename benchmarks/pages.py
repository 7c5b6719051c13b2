"""`python -m benchmarks.pages`: bytes, statements, layout shift and processor time of the pages for members.

A server of its own is seeded through its API; then a member with a full home opens every page. For each page: bytes of the
HTML and of everything that is loaded with it for the first time but for pictures of people (styles, script, icons), statements,
layout shift on a phone and on a desktop in Chromium (if there is one); then the CPU time of home as a page beside the same
posts as JSON, which is what a client asks for, of all processes together.
"""

from __future__ import annotations

import argparse
import random
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Final

import requests

from benchmarks.measuring import attach, wait_until_idle
from benchmarks.processes import Tree
from benchmarks.seeding import Seeded, seed
from tests.support.chromium import Tab, find_chromium, open_tab
from tests.support.instance import Instance

_PATHS: Final = """
/ /notifications /write /search?q=garden /explore /explore/people /public /tags/music /conversations
/bookmarks /favourites /lists /followed_tags /mutes /blocks /follow_requests /filters /scheduled /announcements
/@bench000 {thread} /settings/profile
"""
#: The most bytes that the HTML of home may have.
LIMIT: Final = 60_000
_SHIFTS: Final = """window.shifted = 0; new PerformanceObserver(list => {
  for (const entry of list.getEntries()) if (!entry.hadRecentInput) window.shifted += entry.value;
}).observe({type: 'layout-shift', buffered: true});"""
# Headers are left out, and what is loaded is counted as it comes: static files are sent compressed.
_LOADED: Final = """performance.getEntriesByType('navigation').concat(performance.getEntriesByType('resource'))
  .filter(each => each.entryType === 'navigation' || new URL(each.name).pathname.startsWith('/static/'))
  .filter(each => each.initiatorType !== 'img').reduce((sum, each) => sum + each.encodedBodySize, 0)"""


def look(tab: Tab, url: str, width: int) -> tuple[int, float]:
    """The bytes that a first visit to a page loads without pictures, and by how much what it shows has moved."""
    tab.call("Network.clearBrowserCache")
    tab.call("Emulation.setDeviceMetricsOverride", width=width, height=844, deviceScaleFactor=1, mobile=width < 500)
    tab.go(url)
    time.sleep(1.5)
    return int(tab.run(_LOADED)), float(tab.run("window.shifted"))


def statements(paths: list[str], username: str) -> list[tuple[int, int]]:
    """The status of each page, and how many statements it takes."""
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from accounts.models import User

    browser = Client(SERVER_NAME="localhost")
    browser.force_login(User.objects.get(account__username=username))
    found = []
    for path in paths:
        browser.get(path)
        with CaptureQueriesContext(
            connection,
        ) as captured:
            answer = browser.get(path)
        found.append((answer.status_code, len(captured)))
    return found


def processor_time(ask: Callable[[], Any], tree: Tree, requests_made: int) -> float:
    """CPU milliseconds of one request, of all processes of the server together: the median of five runs."""
    ask()
    runs = []
    for _run in range(5):
        before = wait_until_idle(tree)
        for _number in range(requests_made):
            ask()
        runs.append((wait_until_idle(tree) - before) / requests_made * 1000)
    return statistics.median(runs)


def signed_in(server: Instance, login: str) -> requests.Session:
    """A browser's session of one of the seeded people."""
    browser = requests.Session()
    page = browser.get(f"{server.base_url}/auth/sign_in", timeout=60).text
    token = page.partition('name="csrfmiddlewaretoken" value="')[2].partition('"')[0]
    form = {"login": login, "password": "a long enough password", "csrfmiddlewaretoken": token}
    answer = browser.post(f"{server.base_url}/auth/sign_in", form, timeout=60, allow_redirects=False)
    assert answer.status_code == 303, answer.text[:500]
    return browser


def measure(server: Instance, seeded: Seeded, made: int) -> bool:
    """Print the table; return whether home keeps the limit."""
    attach(server)
    thread = random.Random(1).choice(seeded.threads)
    status = requests.get(f"{server.base_url}/api/v1/statuses/{thread}", timeout=60).json()
    paths = [page.format(thread=f"/@{status['account']['acct']}/{thread}") for page in _PATHS.split()]
    browser = signed_in(server, "bench001")
    kept = True
    print(
        f"{'page':28} {'HTML':>7} {'with styles and script':>23} {'statements':>11} {'shift 390':>10} {'shift 1280':>11}"
    )
    with tempfile.TemporaryDirectory() as folder, open_tab(Path(folder)) if find_chromium() else nullcontext() as tab:
        if tab is not None:
            tab.call("Page.addScriptToEvaluateOnNewDocument", source=_SHIFTS)
            for cookie in browser.cookies:
                tab.call("Network.setCookie", url=server.base_url, name=cookie.name, value=cookie.value or "", path="/")
        for path, (code, count) in zip(paths, statements(paths, "bench001"), strict=True):
            if code == 404:
                continue
            html = len(browser.get(server.base_url + path, timeout=60).content)
            loaded = [look(tab, server.base_url + path, width) for width in (390, 1280)] if tab is not None else []
            weight = loaded[0][0] if loaded else html
            kept = kept and (path != "/" or html < LIMIT)
            shifts = [f"{shift:.3f}" for _bytes, shift in loaded] or ["-", "-"]
            print(f"{path:28} {html:>7} {weight:>23} {count:>11} {shifts[0]:>10} {shifts[1]:>11}", flush=True)
    assert server.process is not None
    tree, token = Tree(server.process.pid), {"Authorization": f"Bearer {seeded.tokens[1]}"}
    json_url = f"{server.base_url}/api/v1/timelines/home?limit=20"
    client = requests.Session()
    page = processor_time(lambda: browser.get(f"{server.base_url}/", timeout=60), tree, made)
    entity = processor_time(lambda: client.get(json_url, headers=token, timeout=60), tree, made)
    print(f"\nhome, CPU of one request: page {page:.1f} ms, JSON {entity:.1f} ms")
    return kept


def main() -> None:
    """Seed, measure, print. The exit code is 1 when home has more than LIMIT bytes."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--statuses", type=int, default=200)
    parser.add_argument("--requests", type=int, default=100, help="requests of one run for CPU time")
    arguments = parser.parse_args()
    with Instance() as server:
        seeded = seed(server.base_url, users=12, statuses=arguments.statuses, follows=6, favourites=200, reblogs=60)
        raise SystemExit(0 if measure(server, seeded, arguments.requests) else 1)


if __name__ == "__main__":
    main()
