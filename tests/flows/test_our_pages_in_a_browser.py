"""Tests of a member's everyday use of the pages in Chromium, on a phone and a desktop, with and without scripts."""

import base64
import contextlib
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from social.kernel.text.characters import counted_length
from tests.flows.people import Person, arrives, wait
from tests.support.chromium import Tab, find_chromium, open_tab
from tests.support.instance import Instance

pytestmark = [
    pytest.mark.verify,
    pytest.mark.timeout(300),
    pytest.mark.skipif(find_chromium() is None, reason="there is no Chromium on this machine"),
]
PASSWORD = "correct horse battery"


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tab]:
    with open_tab(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pictures") / "tree.png"
    Image.new("RGB", (640, 480), "green").save(path)
    return path


class Reader:
    """A user with a browser; posts are identified by a word of their text."""

    def __init__(self, tab: Tab) -> None:
        self.tab = tab

    def post(self, word: str, seconds: float = 60) -> str:
        """Return the selector of the post with this word, as soon as the page shows it."""
        found = f"[...document.querySelectorAll('article.post')].find(post => post.innerText.includes('{word}'))?.id"
        return f"#{self.tab.wait(found, seconds)}"

    def finds(self, word: str) -> str:
        """Reload the home page until the post is there, and return its selector."""
        for _attempt in range(20):
            self.opens("/")
            with contextlib.suppress(AssertionError):
                return self.post(word, seconds=1)
        raise AssertionError(f"{word} did not arrive at home")

    def sees(self, selector: str) -> None:
        self.tab.wait(f"document.querySelector({selector!r}) !== null")

    def reads(self, text: str) -> None:
        self.tab.wait(f"document.querySelector('main')?.innerText.includes({text!r})")

    def is_at(self, path: str) -> None:
        self.tab.wait(f"location.pathname === '{path}' && document.readyState === 'complete'")

    def opens(self, name: str) -> None:
        """Follow a link of the navigation; on a phone most links are inside the menu."""
        link = f'.side nav a[href="{name}"]'
        shown = f"(link => link && (link.getClientRects().length ? 'yes' : 'no'))(document.querySelector('{link}'))"
        if self.tab.wait(shown) == "no":
            self.tab.click('a[href="#menu"]')
        self.tab.click(link)
        self.is_at(name)

    def marks_the_page(self) -> None:
        self.tab.run("window.marked = true")

    def has_stayed_on_the_page(self) -> bool:
        return bool(self.tab.run("window.marked === true"))

    def does(self, act: str, word: str) -> None:
        """Press a toggle button of a post, and wait until it is pressed."""
        button = f"{self.post(word)} .act.{act}"
        self.tab.click(button)
        self.sees(f"{button}[aria-pressed=true]")


_PASTE = """(() => {
  const [place, transfer] = [document.querySelector('main textarea[data-limit]'), new DataTransfer()];
  transfer.items.add(new File([Uint8Array.from(atob('%s'), letter => letter.charCodeAt(0))], 'tree.png', {type: 'image/png'}));
  place.dispatchEvent(new ClipboardEvent('paste', {clipboardData: transfer, bubbles: true, cancelable: true}));
})()"""


def without_a_mouse(reader: Reader, tree: Path) -> None:
    """Use the features of the script: keys, the length of a text, and pictures from the clipboard."""
    tab = reader.tab
    for key in "jjf":
        tab.letter(key)
    reader.sees("article.post:focus .favourite[aria-pressed=true]")
    tab.letter("?")
    reader.sees("dialog[open]")
    tab.click("dialog #keys-on")
    tab.click("dialog form button")
    tab.letter("?")
    assert tab.run("document.querySelector('dialog[open]') === null")
    tab.run("localStorage.clear()")

    text = "Read https://example.org/a/very/long/path. By @ada@example.org 👩‍👩‍👧 and 🇩🇪!"
    tab.click(".writing > summary")
    tab.type(".writing textarea", text)
    assert tab.wait("document.querySelector('.counter')?.textContent") == f"{counted_length(text)} / 500"
    # A draft is visible again after a visit to another page.
    tab.click("article.post .act.reply")
    reader.is_at("/write")
    tab.run("history.back()")
    reader.sees(".writing[open]")
    assert tab.run("document.querySelector('.writing textarea').value") == text
    tab.run(_PASTE % base64.b64encode(tree.read_bytes()).decode())
    # The whole form is sent, with the text and the picture.
    reader.is_at("/write")
    reader.sees(".attached [name^=description_of_]")
    assert tab.run("document.querySelector('[name=text]').value") == text
    tab.run(_PASTE % base64.b64encode(tree.read_bytes()).decode())
    assert tab.run("[...document.querySelectorAll('[type=file]')].map(field => field.files.length)") == [1, 0, 0]


@pytest.mark.parametrize("scripts", [False, True], ids=["without scripts", "with scripts"])
@pytest.mark.parametrize(("width", "height"), [(390, 844), (1280, 900)], ids=["phone", "desktop"])
def test_members_can_do_everything_on_the_pages(
    server: Instance, tab: Tab, tree: Path, width: int, height: int, scripts: bool
) -> None:
    way = f"{width}{'s' if scripts else ''}"
    ada, bob = Person(server, f"ada{way}"), Person(server, f"bob{way}")
    bob.client.status_post("Tea or coffee?", poll=bob.client.make_poll(["Tea", "Coffee"], 3600))
    bob.client.status_post("A walk in the rain #umbrella")
    reader = Reader(tab)
    tab.call("Network.clearBrowserCookies")
    tab.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)
    tab.call("Emulation.setScriptExecutionDisabled", value=not scripts)

    tab.go(f"{server.base_url}/auth/sign_in")
    tab.type("[name=login]", ada.username)
    tab.type("[name=password]", PASSWORD)
    tab.click("form:not([data-passkey]) [type=submit]")
    reader.is_at("/")

    # Publish a picture with a description, and a poll.
    reader.opens("/write")
    tab.type("[name=text]", "My garden #garden")
    tab.click("details:has([name=file_0]) > summary")
    tab.attach("[name=file_0]", tree)
    tab.type("[name=description_0]", "A tree")
    tab.click("[value=publish]")
    reader.reads("Your post has been published.")
    reader.sees(f"{reader.finds('My garden')} img[alt='A tree']")
    reader.opens("/write")
    tab.type("[name=text]", "Plant another one?")
    tab.click("details:has([name=option_1]) > summary")
    tab.type("[name=option_1]", "Yes")
    tab.type("[name=option_2]", "No")
    tab.click("[value=publish]")
    reader.reads("Your post has been published.")
    own = ada.client.account_statuses(ada.me())
    assert [post.poll and post.poll.options[0].title for post in own] == ["Yes", None]

    # Follow another user, reply to them, and use every button of their posts.
    reader.opens("/search")
    tab.type("[name=q]", bob.username)
    tab.click("form[role=search] [type=submit]")
    tab.click(f"main a.person[href='/@{bob.username}']")
    reader.is_at(f"/@{bob.username}")
    tab.click(".relation [value=follow]")
    reader.sees(".relation [value=unfollow]")
    reader.finds("Tea or coffee")
    tab.click(f"{reader.post('Tea or coffee')} [name=choices]")
    tab.click(f"{reader.post('Tea or coffee')} [value=vote]")
    reader.reads("your vote")
    reader.marks_the_page()
    for act in ("boost", "favourite", "bookmark"):
        reader.does(act, "A walk")
    assert reader.has_stayed_on_the_page() is scripts
    reader.opens("/bookmarks")
    reader.post("A walk")
    tab.click(f"{reader.post('A walk')} .act.reply")
    reader.is_at("/write")
    tab.type("[name=text]", f"@{bob.username} With boots?")
    tab.click("[value=publish]")
    reader.is_at("/bookmarks")
    (mention,) = wait(lambda: bob.notifications("mention"), 30)
    assert {item.type for item in bob.client.notifications()} >= {"reblog", "favourite", "follow", "mention"}

    # Open a hashtag with posts of other users.
    tab.click(f"{reader.post('A walk')} .prose a[href$='/tags/umbrella']")
    reader.is_at("/tags/umbrella")
    bob.client.status_favourite(mention.status.id)
    wait(lambda: ada.notifications("favourite"), 30)
    tab.go(f"{server.base_url}/")
    reader.sees(".side .count")
    reader.opens("/notifications")
    reader.reads("With boots?")

    # Edit the post, and delete it.
    tab.click(f"{reader.post('With boots')} .menu > summary")
    tab.click(
        f"{reader.post('With boots')} .menu a[href$='/edit'], {reader.post('With boots')} .menu a[href*='/edit?']"
    )
    tab.type("[name=text]", f"@{bob.username} With rubber boots?")
    tab.click("[value=publish]")
    reader.reads("Your post has been changed.")
    assert "rubber" in str(bob.client.status(mention.status.id).content)
    reader.finds("rubber boots")
    tab.click(f"{reader.post('rubber boots')} .menu > summary")
    tab.click(f"{reader.post('rubber boots')} .menu a[href*='/delete']")
    tab.click("main form .danger")
    reader.is_at("/")
    assert [post.content for post in ada.home() if "boots" in post.content] == []

    # With scripts, new posts of a followed account appear at the top, or are announced to a reader who has scrolled down;
    # without scripts the page shows their number.
    reader.opens("/")
    if scripts:
        reader.sees("#member-script[data-state=open]")
        reader.marks_the_page()
        bob.client.status_post("It rains less")
        reader.post("It rains less")
        tab.run("scrollTo(0, 200)")
    bob.client.status_post("The rain is over")
    arrives(ada, "The rain is over", 30)
    if scripts:
        reader.reads("New posts: 1")
        assert not tab.run("document.querySelector('main').innerText.includes('The rain is over')")
    tab.click(".refresh a")
    reader.reads("1 new post")
    reader.post("The rain is over")
    if scripts:
        assert reader.has_stayed_on_the_page()
        bob.client.status_favourite(own[0].id)
        reader.sees(".bar .count")
        without_a_mouse(reader, tree)

    reader.opens("/auth/sign_out")
    tab.click("main form [type=submit]")
    reader.is_at("/auth/sign_in")
    assert tab.problems == []
