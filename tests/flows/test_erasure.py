"""Tests that erasing an account with many posts continues after a kill of its worker, and leaves no rows (issue E, 3)."""

import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import mastodon
import psycopg
import pytest
import requests

from social.runtime.embedded import Embedded
from tests.support.instance import Instance

pytestmark = [pytest.mark.verify, pytest.mark.timeout(7200)]

#: The number of posts of the account. Every run spends half a minute waiting for another worker to take over.
POSTS: Final = int(os.environ.get("ERASED_POSTS", "5000"))
SECONDS: Final = 120.0 + POSTS / 20
ACTIVITY: Final = "application/activity+json"

# Posts of `gone` are numbered from 1 to POSTS, and those of `friend` from 1 to a tenth of POSTS; one post in ten has each kind
# of relation. The ids correspond to one post per minute over the last months.
_ID: Final = "(((extract(epoch FROM now()) * 1000)::bigint - ({n} + 60)::bigint * 60000) << 16) + {salt}"
_FILL: Final = f"""
CREATE TEMP TABLE names AS
  SELECT (SELECT id FROM accounts_account WHERE username = 'gone' AND domain IS NULL) AS gone,
         (SELECT id FROM accounts_account WHERE username = 'friend' AND domain IS NULL) AS friend,
         (SELECT id FROM accounts_account WHERE username = 'reader' AND domain IS NULL) AS reader;
CREATE TEMP TABLE theirs AS
  SELECT n, {_ID.format(n="n * 10", salt="7")} AS id FROM generate_series(1, {POSTS} / 10) n;
INSERT INTO statuses_status (id, account_id, text, content, content_type, spoiler_text, sensitive, visibility, local,
                             version, created_at)
  SELECT t.id, m.friend, 'of a friend', '<p>of a friend</p>', 'text/plain', '', false, 'public', true, 1,
         now() - (t.n * 10 + 60) * interval '1 minute' FROM theirs t, names m;
CREATE TEMP TABLE ours AS
  SELECT g.i AS n, {_ID.format(n="g.i", salt="3")} AS id, g.i % 10 AS kind, t.id AS about
    FROM generate_series(1, {POSTS}) g (i) JOIN theirs t ON t.n = (g.i - 1) / 10 + 1;
INSERT INTO statuses_status (id, account_id, text, content, content_type, spoiler_text, sensitive, visibility, local,
                             version, created_at, in_reply_to_id, in_reply_to_account_id, thread_id, thread_path,
                             reblog_of_id)
  SELECT o.id, m.gone, CASE kind WHEN 4 THEN '' ELSE 'evanescent words' END, '<p>evanescent words</p>', 'text/plain', '',
         false, CASE kind WHEN 5 THEN 'direct' WHEN 6 THEN 'private' ELSE 'public' END, true, 1,
         now() - (n + 60) * interval '1 minute',
         CASE kind WHEN 1 THEN about END, CASE kind WHEN 1 THEN m.friend END, CASE kind WHEN 1 THEN about END,
         CASE kind WHEN 1 THEN ARRAY[about, o.id] END, CASE kind WHEN 4 THEN about END
    FROM ours o, names m;
INSERT INTO statuses_mention (status_id, account_id, silent)
  SELECT o.id, CASE kind WHEN 2 THEN m.friend ELSE m.reader END, false FROM ours o, names m WHERE kind IN (2, 5);
INSERT INTO accounts_tag (name, display_name, usable, listable, created_at)
  VALUES ('fleeting', 'fleeting', true, true, now()) ON CONFLICT DO NOTHING;
INSERT INTO statuses_statustag (status_id, tag_id)
  SELECT o.id, g.id FROM ours o, accounts_tag g WHERE kind = 3 AND g.name = 'fleeting';
INSERT INTO statuses_quote (status_id, quoted_status_id, state, legacy, created_at)
  SELECT o.id, about, 'accepted', false, now() FROM ours o WHERE kind = 7;
INSERT INTO timelines_searchdocument (status_id, words)
  SELECT o.id, to_tsvector('simple', 'evanescent words') FROM ours o WHERE kind <> 4;
-- What others did with these posts.
INSERT INTO statuses_favourite (account_id, status_id, created_at)
  SELECT m.friend, o.id, now() FROM ours o, names m WHERE kind = 8;
INSERT INTO statuses_bookmark (account_id, status_id, created_at)
  SELECT m.reader, o.id, now() FROM ours o, names m WHERE kind IN (5, 8);
INSERT INTO statuses_status (id, account_id, text, content, content_type, spoiler_text, sensitive, visibility, local,
                             version, created_at, in_reply_to_id, in_reply_to_account_id, thread_id, thread_path,
                             reblog_of_id)
  SELECT {_ID.format(n="(n - 1)", salt="5")}, m.friend, CASE kind WHEN 0 THEN 'an answer' ELSE '' END, '', 'text/plain',
         '', false, 'public', true, 1, now() - (n + 59) * interval '1 minute', CASE kind WHEN 0 THEN o.id END,
         CASE kind WHEN 0 THEN m.gone END, CASE kind WHEN 0 THEN o.id END,
         CASE kind WHEN 0 THEN ARRAY[o.id, {_ID.format(n="(n - 1)", salt="5")}] END, CASE kind WHEN 9 THEN o.id END
    FROM ours o, names m WHERE kind IN (0, 9);
-- And this account with posts of others.
INSERT INTO statuses_favourite (account_id, status_id, created_at)
  SELECT m.gone, t.id, now() FROM theirs t, names m;
INSERT INTO statuses_poll (status_id, options, tallies, voters_count, multiple, hide_totals, expires_at, created_at)
  SELECT t.id, '{{yes,no}}', '{{1,1}}', 2, true, false, now() + interval '1 day', now() FROM theirs t WHERE n % 5 = 0;
INSERT INTO statuses_pollvote (poll_id, account_id, choice, created_at)
  SELECT p.id, v.account, v.choice, now() FROM statuses_poll p JOIN theirs t ON t.id = p.status_id, names m,
         LATERAL (VALUES (m.gone, 0), (m.reader, 1)) v (account, choice);
INSERT INTO accounts_taguse (tag_id, day, account_id, uses)
  SELECT g.id, d.day, m.gone, 1 FROM accounts_tag g, names m,
         (SELECT DISTINCT (now() - (n + 60) * interval '1 minute')::date AS day FROM ours) d
   WHERE g.name = 'fleeting' ON CONFLICT DO NOTHING;
INSERT INTO statuses_statusstat (status_id, replies_count, reblogs_count, favourites_count, quotes_count)
  SELECT s.id, COALESCE(r.n, 0), COALESCE(b.n, 0), COALESCE(f.n, 0), COALESCE(q.n, 0) FROM statuses_status s
    LEFT JOIN (SELECT in_reply_to_id AS id, count(*) AS n FROM statuses_status
                WHERE in_reply_to_id IS NOT NULL AND visibility = 'public' GROUP BY 1) r ON r.id = s.id
    LEFT JOIN (SELECT reblog_of_id AS id, count(*) AS n FROM statuses_status
                WHERE reblog_of_id IS NOT NULL GROUP BY 1) b ON b.id = s.id
    LEFT JOIN (SELECT status_id AS id, count(*) AS n FROM statuses_favourite GROUP BY 1) f ON f.id = s.id
    LEFT JOIN (SELECT quoted_status_id AS id, count(*) AS n FROM statuses_quote GROUP BY 1) q ON q.id = s.id
   WHERE COALESCE(r.n, b.n, f.n, q.n) IS NOT NULL
      ON CONFLICT (status_id) DO NOTHING;
UPDATE accounts_accountstat a SET statuses_count = (
  SELECT count(*) FROM statuses_status s WHERE s.account_id = a.account_id AND s.visibility <> 'direct'
     AND s.deleted_at IS NULL);
"""
_LEFT: Final = """
SELECT count(*) FILTER (WHERE deleted_at IS NULL), count(*) FROM statuses_status WHERE account_id = %s
"""
_POLLS: Final = "SELECT count(*) FROM statuses_poll WHERE tallies <> '{0,1}' OR voters_count <> 1"
_REFERENCES: Final = """
SELECT c.conrelid::regclass::text, a.attname FROM pg_constraint c
  JOIN pg_attribute a ON a.attrelid = c.conrelid AND a.attnum = c.conkey[1]
 WHERE c.contype = 'f' AND c.confrelid = 'accounts_account'::regclass
"""


@dataclass
class World:
    """A server, a reader on it, and the ids of posts of each visibility that the account wrote through the API."""

    server: Instance
    reader: mastodon.Mastodon
    friend: mastodon.Mastodon
    gone_id: int
    posts: dict[str, int]
    sample: list[int]
    friends_post: int

    def sql(self, text: str, *values: Any) -> list[tuple[Any, ...]]:
        """Return the rows of an SQL query."""
        with psycopg.connect(Embedded(self.server.data_dir).database_url, autocommit=True) as connection:
            return connection.execute(text.encode(), values or None).fetchall()

    def get(self, path: str, *, accept: str = "application/json", **parameters: str) -> requests.Response:
        """Return the response that the reader, who followed the account, gets at a path."""
        headers = {"Authorization": f"Bearer {self.reader.access_token}", "Accept": accept}
        return requests.get(self.server.base_url + path, params=parameters, headers=headers, timeout=30)

    def left(self) -> tuple[int, int]:
        """Return the number of the account's posts that are not deleted, and the number of all rows of its posts."""
        ((living, rows),) = self.sql(_LEFT, self.gone_id)
        return living, rows


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    """A server on which everything was requested once, so that feeds and caches are filled."""
    with Instance() as server:
        gone, friend, reader = (server.sign_up(name) for name in ("gone", "friend", "reader"))
        for client in (friend, reader):
            client.account_follow(gone.me().id)
        gone.account_follow(friend.me().id)
        gone.account_update_credentials(display_name="Evanescent Person", discoverable=True, indexable=True)
        mine = friend.status_post("hello @gone")
        posts = {
            "public": gone.status_post("an evanescent public post #fleeting"),
            "private": gone.status_post("an evanescent private post", visibility="private"),
            "direct": gone.status_post("@reader an evanescent direct post", visibility="direct"),
            "reply": gone.status_post("@friend an evanescent reply", in_reply_to_id=mine.id),
        }
        with psycopg.connect(Embedded(server.data_dir).database_url) as connection:
            connection.execute(_FILL.encode())
            sample = [row[0] for row in connection.execute("SELECT id FROM ours ORDER BY n LIMIT 20").fetchall()]
        with psycopg.connect(Embedded(server.data_dir).database_url, autocommit=True) as connection:
            connection.execute("ANALYZE")
        world = World(
            server=server,
            reader=reader,
            friend=friend,
            gone_id=int(gone.me().id),
            posts={name: int(post.id) for name, post in posts.items()},
            sample=sample,
            friends_post=int(mine.id),
        )
        _wait(lambda: seen_in(world.get("/api/v1/timelines/tag/fleeting")), 30)
        _wait(lambda: world.get("/api/v1/conversations").json(), 30)
        _wait(lambda: world.get("/api/v2/search", q="evanescent", type="statuses").json()["statuses"], 30)
        assert shown(world), "nothing is visible before the deletion: the test looks in the wrong places"
        yield world


def _wait(look: Any, seconds: float) -> None:
    end = time.monotonic() + seconds
    while not look():
        assert time.monotonic() < end
        time.sleep(0.2)


_LISTS: Final = (
    "/api/v1/timelines/home",
    "/api/v1/timelines/public",
    "/api/v1/timelines/public?local=true",
    "/api/v1/timelines/tag/fleeting",
    "/api/v1/conversations",
    "/api/v1/bookmarks",
    "/api/v1/notifications",
    "/api/v2/notifications",
    "/api/v1/directory?local=true",
    "/api/v2/search?q=evanescent",
    "/api/v2/search?q=gone",
    "/api/v1/accounts/search?q=gone",
    "/api/v1/trends/statuses",
    "/api/v2/suggestions",
)
_OBJECTS: Final = (
    "/api/v1/accounts/{account}",
    "/api/v1/accounts/{account}/statuses",
    "/api/v1/accounts/lookup?acct=gone",
    "/api/v1/statuses/{post}",
    "/api/v1/statuses/{post}/context",
    "/api/v1/statuses/{post}/favourited_by",
)
_PAGES: Final = (
    "/@gone",
    "/@gone/{post}",
    "/@gone.rss",
    "/users/gone",
    "/users/gone/outbox",
    "/users/gone/statuses/{post}",
)


WORDS: Final = ("vanescent",)
"""Words in the account's display name and in everything that it has written."""
NAMED: Final = ('"acct":"gone"', '"username":"gone"')
"""The name of the emptied account, as other entities contain it until its row is deleted."""


def seen_in(answer: requests.Response, words: Sequence[str] = WORDS) -> bool:
    """Return whether a response shows any of the words."""
    return answer.status_code == 200 and any(word in answer.text for word in words)


def shown(world: World, words: Sequence[str] = WORDS) -> list[str]:
    """Return the paths at which the former follower can still read anything by or about the account."""
    paths = [*_LISTS, f"/api/v1/statuses/{world.friends_post}/context"]
    for path in _OBJECTS:
        posts = (*world.posts.values(), *world.sample) if "{post}" in path else (0,)
        paths += [path.format(account=world.gone_id, post=post) for post in posts]
    found = [path for path in paths if seen_in(world.get(path), words)]
    for path in _PAGES:
        for accept in ("text/html", ACTIVITY):
            address = path.format(post=world.posts["public"])
            if world.get(address, accept=accept).status_code not in (404, 406, 410):
                found.append(f"{address} as {accept}")
    return found


def test_the_erasure_of_very_many_posts_continues_after_each_kill_of_the_worker(world: World) -> None:
    server = world.server
    print("before:", len(shown(world)), "places;", world.left(), "posts and rows")
    server.manage("delete_account", "gone", "--yes")
    began = time.monotonic()
    deadline = began + SECONDS
    assert shown(world) == [], "the account is hidden from the start"
    for part in (0.85, 0.6, 0.3):
        while world.left()[0] + world.left()[1] > 2 * part * POSTS:
            assert time.monotonic() < deadline, world.left()
            time.sleep(0.1)
        before = world.left()
        took = server.kill("worker")
        print(f"{time.monotonic() - began:.0f} s: killed at {before}, a new worker after {took:.1f} s, {world.left()}")
        assert before[1] > 0, "the worker was killed when nothing was left to do"
        assert shown(world) == []
    while world.sql("SELECT 1 FROM accounts_account WHERE id = %s", world.gone_id):
        assert time.monotonic() < deadline, (world.left(), server.log.read_text()[-2000:])
        time.sleep(0.5)
    print(f"erased after {time.monotonic() - began:.0f} s")
    while waiting := world.sql("SELECT queue, event, count(*), max(last_error) FROM social_outbox GROUP BY 1, 2"):
        if all(event == "PollEnded" for _queue, event, _count, _error in waiting):
            break
        assert time.monotonic() < deadline, waiting
        time.sleep(0.5)
    print(f"everything that follows from it done after {time.monotonic() - began:.0f} s")
    assert shown(world, [*WORDS, *NAMED]) == []
    for table, column in world.sql(_REFERENCES):
        assert world.sql(f"SELECT count(*) FROM {table} WHERE {column} = %s", world.gone_id) == [(0,)], table
    _assert_counters(world)


def _assert_counters(world: World) -> None:
    assert world.sql(_POLLS) == [(0,)]
    assert ", 0 wrong" in world.server.manage("recount_statuses", "--dry-run")
    friend, reader = world.friend.me(), world.reader.me()
    # The friend's posts and replies stay; boosts of deleted posts do not.
    assert (friend.followers_count, friend.following_count) == (0, 0)
    assert (reader.followers_count, reader.following_count) == (0, 0)
    assert friend.statuses_count == 1 + POSTS // 10 + POSTS // 10
    ((status_id,),) = world.sql(
        "SELECT s.id FROM statuses_status s JOIN statuses_poll p ON p.status_id = s.id ORDER BY s.id LIMIT 1"
    )
    post = world.get(f"/api/v1/statuses/{status_id}").json()
    assert (post["replies_count"], post["reblogs_count"], post["favourites_count"], post["quotes_count"]) == (0,) * 4
    assert [option["votes_count"] for option in post["poll"]["options"]] == [0, 1]
    for tag in world.get("/api/v2/search", q="fleeting", type="hashtags").json()["hashtags"]:
        assert {day["uses"] for day in tag["history"]} == {"0"}
