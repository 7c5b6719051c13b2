"""Tests of reading and posting with a client, against a server as an operator runs it."""

import time

import mastodon
import pytest
import redis

from social.runtime.embedded import Embedded
from tests.support.instance import Instance

SENTENCES = [
    ("Guten Morgen aus Köln, das Wetter ist schön", "de"),
    ("Доброе утро, друзья, сегодня снег", "ru"),
    ("Καλημέρα κόσμε, πάμε για καφέ", "el"),
    ("صباح الخير يا أصدقاء", "ar"),
    ("בוקר טוב לכולם", "he"),
    ("नमस्ते दुनिया, कैसे हो", "hi"),
    ("สวัสดีตอนเช้าทุกคน", "th"),
    ("大家早上好，今天天气不错", "zh"),
    ("おはようございます、良い一日を", "ja"),
    ("좋은 아침입니다 여러분", "ko"),
]
EXTRAS = [
    "{text}",
    "{text} https://example.org/wiki/Straße_(Begriff)?q={number}#abschnitt",
    "{text} @follower schau mal #Social{number}",
    "{text}\n\n#Grüße @follower https://www.example.com/{number}",
    "{text} 👨‍👩‍👧‍👦🇩🇪 :smile: & <b>kein HTML</b>",
]
POSTS = [
    (extra.format(text=text, number=number), language)
    for number, extra in enumerate(EXTRAS)
    for text, language in SENTENCES
]


def sign_up(server: Instance, username: str) -> mastodon.Mastodon:
    client_id, secret = mastodon.Mastodon.create_app(
        "Flow", api_base_url=server.base_url, scopes=["read", "write", "follow", "push"]
    )
    client = mastodon.Mastodon(client_id=client_id, client_secret=secret, api_base_url=server.base_url)
    token = client.create_account(
        username, "correct horse battery", f"{username}@example.com", agreement=True, scopes=["read", "write", "follow"]
    )
    return mastodon.Mastodon(access_token=token, api_base_url=server.base_url)


def home(client: mastodon.Mastodon) -> list[str]:
    """Return the whole home timeline, oldest first, read page by page."""
    seen, page = [], client.timeline_home(limit=20)
    while page:
        seen += [str(status.id) for status in page]
        page = client.fetch_next(page)
    return seen[::-1]


def wait_for(client: mastodon.Mastodon, wanted: list[str], seconds: float = 60.0) -> list[str]:
    deadline = time.monotonic() + seconds
    while (seen := home(client)) != wanted and time.monotonic() < deadline:
        time.sleep(0.2)
    return seen


def test_fifty_posts_in_ten_scripts_arrive_once_and_in_order_even_after_a_flushall(server: Instance) -> None:
    author, follower = sign_up(server, "author"), sign_up(server, "follower")
    follower.account_follow(author.me().id)
    posted = []
    for text, language in POSTS:
        status = author.status_post(text, language=language, visibility="public")
        assert status.language == language
        posted.append(str(status.id))
    assert wait_for(follower, posted) == posted

    connection = redis.Redis.from_url(Embedded(server.data_dir).redis_url)
    connection.flushall()
    assert home(follower) == posted
    late = author.status_post("After the flood")
    assert wait_for(follower, [*posted, str(late.id)]) == [*posted, str(late.id)]

    by_text = {str(status.id): status for status in author.account_statuses(author.me().id, limit=40)}
    linked = by_text[posted[-20]]  # the fourth kind of text, in the last script but one
    # The hashtag is normalised, so that it is found with and without the umlaut.
    assert [tag.name.lower() for tag in linked.tags] == ["gruße"]
    assert [mention.acct for mention in linked.mentions] == ["follower"]
    assert 'href="https://www.example.com/3"' in linked.content
    assert "<b>" not in by_text[posted[-1]].content


def test_a_reply_is_counted_and_a_deleted_post_is_gone(server: Instance) -> None:
    author, reader = sign_up(server, "teller"), sign_up(server, "reader")
    first = author.status_post("A question", visibility="unlisted")
    answer = reader.status_post("@teller an answer", in_reply_to_id=first.id)
    assert str(answer.in_reply_to_id) == str(first.id)
    assert str(author.status(first.id).replies_count) == "1"
    removed = author.status_delete(first.id)
    assert removed.text == "A question"
    with pytest.raises(mastodon.MastodonNotFoundError):
        reader.status(first.id)


def test_the_public_timeline_and_the_instance_document_need_no_token(server: Instance) -> None:
    anybody = mastodon.Mastodon(api_base_url=server.base_url)
    assert anybody.instance_v2().domain == f"localhost:{server.port}"
    assert all(status.visibility == "public" for status in anybody.timeline_public())
