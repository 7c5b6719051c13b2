"""Tests of killed processes while notifications are mailed: each mail is sent, with at most one repetition per kill."""

import re
import time
from collections import Counter
from contextlib import suppress

import psycopg
import pytest
import requests

from social.runtime.embedded import Embedded
from tests.support.instance import Instance
from tests.support.mail_server import MailServer

pytestmark = [pytest.mark.verify, pytest.mark.timeout(420)]

READERS = 30
POSTS = 4
MAILS = READERS * POSTS
# Other workers can claim a killed worker's jobs only after their lease has ended.
KILLED = ("postgres", "FLUSHALL", "worker")


def post(server: Instance, token: str, text: str, number: int) -> None:
    """Publish exactly one post, even if the server is killed meanwhile."""
    deadline = time.monotonic() + 60
    headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": f"number {number}"}
    while time.monotonic() < deadline:
        with suppress(requests.RequestException):
            answer = requests.post(
                f"{server.base_url}/api/v1/statuses", data={"status": text}, headers=headers, timeout=10
            )
            if answer.status_code == 200:
                return
        time.sleep(0.1)
    raise AssertionError(f"post {number} was not accepted")


def ask(server: Instance, statement: str) -> int:
    """Run a query, and return its result or the number of changed rows; 0 while PostgreSQL is down."""
    with suppress(psycopg.OperationalError), psycopg.connect(Embedded(server.data_dir).database_url) as connection:
        cursor = connection.execute(statement)  # type: ignore[call-overload]  # a literal of this file
        return int(cursor.fetchone()[0]) if cursor.description else int(cursor.rowcount)
    return 0


def test_every_mail_arrives_and_is_repeated_at_most_once_per_kill() -> None:
    smtp = MailServer(pause=0.1)
    with Instance(EMAIL_URL=f"smtp://127.0.0.1:{smtp.port}") as server:
        author = str(server.sign_up("author").access_token)
        names = [f"r{number}" for number in range(READERS)]
        for name in names:
            server.sign_up(name)
        # Users who have just signed up count as active, and so would get no mails.
        assert ask(server, "UPDATE accounts_user SET created_at = created_at - interval '1 hour'") == READERS + 1
        for number in range(POSTS):
            post(server, author, " ".join(f"@{name}" for name in names), number)
        deadline = time.monotonic() + 60
        while ask(server, "SELECT count(*) FROM notifications_mailitem") < MAILS:
            assert time.monotonic() < deadline
            time.sleep(0.2)
        ask(server, "UPDATE notifications_mailing SET due_at = now()")
        for place, name in enumerate(KILLED):
            deadline = time.monotonic() + 120
            while len(smtp.messages) < MAILS * (place + 1) // (len(KILLED) + 2):
                assert time.monotonic() < deadline, f"only {len(smtp.messages)} mails have arrived"
                time.sleep(0.01)
            if name == "FLUSHALL":
                server.redis().flushall()
            else:
                server.kill(name)
            print(f"{name} was killed when {len(smtp.messages)} mails had arrived")
        deadline = time.monotonic() + 180
        while len({recipient for recipient, _mail in smtp.messages}) < READERS or ask(
            server, "SELECT count(*) FROM notifications_mailitem"
        ):
            assert time.monotonic() < deadline, f"only {len(smtp.messages)} mails have arrived"
            time.sleep(0.5)
        times = Counter(
            (recipient, match[1])
            for recipient, mail in smtp.messages
            if (match := re.search(rb"Message-ID: <(notification-\d+)@", mail))
        )
        per_reader = Counter(recipient for recipient, _id in times)
        assert per_reader == dict.fromkeys((f"{name}@example.com" for name in names), POSTS)
        assert len(times) == MAILS
        repeated = sum(times.values()) - len(times)
        print(f"{len(times)} mails, {repeated} of them more than once, at most {max(times.values())} times")
        assert max(times.values()) <= 1 + len(KILLED)
    smtp.socket.close()
