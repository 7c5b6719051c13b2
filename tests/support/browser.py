"""A simple browser for tests, which only handles HTML forms, and functions that read pages."""

import re
from html.parser import HTMLParser
from urllib.parse import urljoin

import requests
from django.test import Client


class Forms(HTMLParser):
    """The forms of a page: the target and the values of each."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.found: list[tuple[str, dict[str, str]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "form":
            self.found.append((values.get("action") or "", {}))
        elif tag == "input" and self.found and values.get("name"):
            self.found[-1][1][str(values["name"])] = values.get("value") or ""


def submit(browser: requests.Session, page: requests.Response, **values: str) -> requests.Response:
    """Send the first form of a page as a browser without scripts does."""
    action, fields = Forms(page.text).found[0]
    answer = browser.post(urljoin(page.url, action), data={**fields, **values}, timeout=60)
    assert answer.status_code == 200, answer.text[:2000]
    return answer


def text_of(browser: Client, path: str = "/") -> str:
    """Return the text of a page, after checking that no cache may store the page."""
    answer = browser.get(path, headers={"Accept": "text/html"})
    assert (answer.status_code, answer["Cache-Control"]) == (200, "private, no-store"), path
    return answer.content.decode()


def shown_posts(text: str) -> list[int]:
    """Return the ids of the posts on a page, in the order of the page."""
    return [int(number) for number in re.findall(r'<article [^>]*id="post-(\d+)"', text)]
