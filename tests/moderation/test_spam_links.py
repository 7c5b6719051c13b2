"""Tests that spam rules check the right links of a post (security row 74)."""

from typing import Any

import pytest

from accounts.models import Account
from moderation.queries.dry_runs import try_rule
from social.kernel.text.sanitize import sanitize
from statuses.models import MediaType
from statuses.services.receiving import publish_remote_status
from statuses.services.screening import screen
from statuses.services.storing import Composed, RemoteFile
from tests.factories.accounts import make_remote, make_user
from tests.factories.spam_rules import make_rule
from tests.factories.statuses import make_status

pytestmark = pytest.mark.django_db

SPAM = "https://spam.com/shop"
AT_HOME = "https://remote.example"
PAGE_LINK = RemoteFile("https://shop.spam.com/file.xyz")


def meets(author: Account, content: str = "<p>x</p>", host: str = "spam.com", **written: Any) -> bool:
    """Return whether the post matches a rule on links to a host, both on arrival and in a dry run over stored posts."""
    rule = make_rule(link_hosts=(host,))
    new = Composed(
        author=author, visibility="public", content=sanitize(content), uri=f"{author.uri}/statuses/1", **written
    )
    publish_remote_status(new=new)
    arrived, past = bool(screen(new).rules), try_rule(rule).met == 1
    assert arrived == past
    return arrived


@pytest.mark.parametrize(
    "mark",
    [
        *('class="mention"', 'class="u-url mention"', 'class="u-url"', 'class="h-card"', 'class="mention hashtag"'),
        *('class="hashtag" rel="tag"', 'rel="tag"', ""),
    ],
)
def test_a_link_marked_as_a_mention_or_hashtag_counts_as_a_link(mark: str) -> None:
    assert meets(make_remote("eve"), f'<p><a {mark} href="{SPAM}">@bob</a></p>')


@pytest.mark.parametrize("page", ["https://spam.com/@sue", "https://spam.com/users/sue"])
def test_a_link_to_a_mentioned_account_does_not_count(page: str) -> None:
    content = f'<p><a class="u-url mention" href="{page}">@sue</a></p>'
    assert not meets(make_remote("eve"), content, mentions=[make_remote("sue", "spam.com")])


def test_a_mention_of_another_account_on_a_host_does_not_exempt_other_links() -> None:
    content = f'<p><a class="mention" href="https://spam.com/@sue">@sue</a> <a class="mention" href="{SPAM}">x</a></p>'
    assert meets(make_remote("eve"), content, mentions=[make_remote("sue", "spam.com")])


def test_a_link_to_an_unknown_mentioned_account_counts() -> None:
    content = f'<p><a class="u-url mention" href="{SPAM}">@sue</a></p>'
    assert meets(make_remote("eve"), content, unknown_mentions=[SPAM])


@pytest.mark.parametrize(
    "content",
    [
        f'<a class="mention hashtag" rel="tag" href="{AT_HOME}/tags/cats">#cats</a>',
        f'<a class="u-url mention" href="{AT_HOME}/@bob@other.example">@bob</a>',
    ],
)
def test_hashtags_and_mentions_on_the_authors_server_do_not_count(content: str) -> None:
    assert not meets(make_remote("eve"), f"<p>{content}</p>", host="remote.example", url=f"{AT_HOME}/@eve/1")


def test_other_links_to_the_authors_server_count() -> None:
    assert meets(make_remote("eve"), f'<p><a href="{AT_HOME}/casino">x</a></p>', host="remote.example")


def test_hashtags_and_mentions_of_local_accounts_do_not_count() -> None:
    rule = make_rule(enabled=False, link_hosts=("localhost", "social.test", "remote.example"))
    make_remote("sue")
    make_user("bob")
    make_status(make_user("ann").account, "#cats @bob @sue@remote.example")
    assert try_rule(rule).met == 0


@pytest.mark.parametrize("written", [{"url": SPAM}, {"files": [PAGE_LINK]}])
def test_the_page_of_a_post_and_files_shown_as_links_count_as_links(written: dict[str, Any]) -> None:
    assert meets(make_remote("eve"), **written)


def test_the_address_of_a_picture_does_not_count() -> None:
    assert not meets(make_remote("eve"), files=[RemoteFile("https://spam.com/1.png", type=MediaType.IMAGE)])
