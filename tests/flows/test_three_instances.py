"""Tests of three local servers in secure mode: activities in a thread reach followers on the third server.

Contract, federation section 11.
"""

from collections.abc import Iterator
from typing import Any

import mastodon
import pytest

from tests.flows.people import Person, arrives, wait
from tests.support.instance import Instance

pytestmark = pytest.mark.verify


@pytest.fixture(scope="module")
def servers() -> Iterator[tuple[Instance, Instance, Instance]]:
    environment = {"FEDERATION_LOOPBACK": "yes", "AUTHORIZED_FETCH": "yes"}
    with Instance(**environment) as one, Instance(**environment) as two, Instance(**environment) as three:
        yield one, two, three


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2)], ids=["asked on the first", "asked on the second"])
def test_a_reply_from_a_third_server_reaches_followers_and_is_deleted_there_too(
    servers: tuple[Instance, Instance, Instance], order: tuple[int, int, int]
) -> None:
    names = (f"{name}{order[0]}" for name in ("anna", "bob", "cleo"))
    anna, bob, cleo = (Person(servers[number], name) for number, name in zip(order, names, strict=True))
    bob.follow(anna)
    question = anna.client.status_post("Who has slept well?")
    seen = arrives(bob, "slept well")
    asked = cleo.client.search_v2(question.uri, resolve=True, result_type="statuses").statuses[0]
    answer = cleo.client.status_post("I have", in_reply_to_id=asked.id)

    def below() -> list[Any]:
        return list(bob.client.status_context(seen.id).descendants)

    (shown,) = wait(below)
    assert (shown.uri, shown.account.acct) == (answer.uri, cleo.address)
    cleo.client.status_post("only for her, @" + anna.address, in_reply_to_id=asked.id, visibility="direct")
    wait(lambda: len(anna.client.status_context(question.id).descendants) == 2)
    cleo.client.status_delete(answer.id)
    wait(lambda: not below())
    with pytest.raises(mastodon.MastodonNotFoundError):
        bob.client.status(shown.id)
