"""Tests of an unavailable PostgreSQL: responses are 503 with Retry-After until it is back, and then normal."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
import requests

from social.runtime.embedded import Embedded
from tests.runtime.processes import eventually
from tests.support.instance import Instance
from tests.support.own_postgres import own_postgres

pytestmark = [pytest.mark.verify, pytest.mark.timeout(200)]


@pytest.fixture
def database() -> Iterator[Embedded]:
    with own_postgres() as running:
        yield running


def test_an_unavailable_database_is_reported_and_a_restarted_one_used_immediately(database: Embedded) -> None:
    with Instance(DATABASE_URL=database.database_url) as server:
        token = server.create_account("alice")["access_token"]
        streams = f"http://localhost:{server.streaming_port}/api/v1/streaming/user?access_token={token}"
        addresses = [
            (f"{server.base_url}/api/v1/notifications?access_token={token}", "application/json"),
            (f"{server.base_url}/@alice", "text/html"),
            (streams, "application/json"),
        ]
        web = [address for address, _kind in addresses[:2]] * 8

        def ask(address: str) -> int:
            return requests.get(address, headers={"Accept": "text/html"}, timeout=20).status_code

        with ThreadPoolExecutor(8) as many:
            assert set(many.map(ask, web)) == {200}
            database.stop()
            for address, kind in addresses:
                for _ in range(3):
                    answer = requests.get(address, headers={"Accept": "text/html"}, timeout=20)
                    assert (answer.status_code, answer.headers["Content-Type"].split(";")[0]) == (503, kind)
                    assert answer.headers["Retry-After"].isdigit()
                    print(kind, answer.elapsed)
            database.start()
            # After a failure, no connection is attempted for a second.
            eventually(lambda: ask(web[0]) == 200)
            eventually(lambda: ask(web[1]) == 200)
            assert set(many.map(ask, web)) == {200}
            database.stop()
            database.start()
            # A restart between requests causes no error.
            assert set(many.map(ask, web)) == {200}
        with requests.get(streams, stream=True, timeout=20) as answer:
            assert answer.status_code == 200
