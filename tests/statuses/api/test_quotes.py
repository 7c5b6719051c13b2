"""Tests of quotes and of who may quote a post (contract, parameters section 3, behaviours section 9 "Quotes", entities
"Quote").
"""

from typing import Any

import orjson
import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from accounts.models import Account, AccountDomainBlock
from accounts.policies.relations import Hidden
from accounts.queries.relations import load_relations_of
from social.kernel import clock
from statuses.models import Quote, QuoteState, Status
from statuses.policies.quotes import NO_GROUP, Group, encode_policy
from statuses.queries.marks import Marks
from statuses.queries.page import fill, of_rows
from statuses.queries.posts import load_posts
from statuses.serializers.presenting import present, present_statuses
from statuses.services.deleting import delete_status
from statuses.services.quotes import settle_quote
from tests.factories.accounts import make_remote, make_user
from tests.factories.statuses import block, follow, make_reblog, make_remote_status, make_status, mute
from tests.statuses.conftest import api_of
from tests.support.client import Api
from tests.support.entities import check
from tests.support.work import work
from timelines.policies.streams import Stream, Viewer, is_hidden_from_viewer
from timelines.stores.messages import Facts, Message

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("media_root")]
STATUSES = "/api/v1/statuses"


def _quoted(author: Account, base: Any, **values: Any) -> dict[str, Any]:
    number = base.id if isinstance(base, Status) else base
    response = api_of(author).post(STATUSES, {"status": "I quote", "quoted_status_id": str(number), **values})
    assert response.status_code == 200, response.content
    body: dict[str, Any] = response.json()
    check("StatusOfUser", body)
    return body


def _quote(reader: Account | None, number: Any) -> tuple[str, str | None]:
    """Return the state and the id of the quoted post, as the reader gets them."""
    quote = (Api() if reader is None else api_of(reader)).get(f"{STATUSES}/{number}").json()["quote"]
    return quote["state"], quote["quoted_status"] and quote["quoted_status"]["id"]


def test_trap_21_a_quote_of_a_local_post_is_accepted_immediately_and_shown(alice: Account, bob: Account) -> None:
    base = make_status(alice, "Quote me")
    body = _quoted(bob, base)
    assert body["quote"]["state"] == "accepted"
    shown = body["quote"]["quoted_status"]
    check("StatusOfUser", shown)
    assert (shown["id"], shown["content"], shown["quotes_count"]) == (str(base.id), "<p>Quote me</p>", 1)
    assert shown["quote"] is None
    link = f'<a href="http://social.localhost/@alice/{base.id}" target="_blank" rel="nofollow noopener"'
    assert body["content"].startswith(f'<p class="quote-inline">RE: {link}')
    assert body["content"].endswith("</a></p><p>I quote</p>")
    assert _quote(None, body["id"]) == ("accepted", str(base.id))
    assert api_of(bob).get(f"{STATUSES}/{base.id}").json()["quotes_count"] == 1


def test_a_quote_needs_no_text_and_keeps_its_warning(alice: Account, bob: Account) -> None:
    base = make_status(alice)
    assert _quoted(bob, base, status="")["content"].count("<p") == 1
    body = _quoted(bob, base, status="", spoiler_text="Careful")
    assert (body["spoiler_text"], body["sensitive"]) == ("Careful", True)


def test_the_address_of_the_quoted_post_is_not_repeated_in_the_text(alice: Account) -> None:
    url = "https://far.example.org/@eve/1"
    base = make_remote_status(make_remote(), quote_policy=encode_policy(Group.PUBLIC), url=url)
    body = _quoted(alice, base, status=f"Look: {url}")
    assert "quote-inline" not in body["content"]


def test_trap_21_a_quote_of_a_boost_quotes_the_original_and_one_of_a_quote_shows_one_level(
    alice: Account, bob: Account, carol: Account
) -> None:
    base = make_status(alice)
    inner = _quoted(bob, make_reblog(carol, base))
    assert inner["quote"]["quoted_status"]["id"] == str(base.id)
    outer = _quoted(carol, inner["id"])
    shallow = outer["quote"]["quoted_status"]["quote"]
    check("ShallowQuote", shallow)
    assert shallow == {"state": "accepted", "quoted_status_id": str(base.id)}
    boost = make_reblog(alice, Status.objects.get(id=inner["id"]))
    body = api_of(alice).get(f"{STATUSES}/{boost.id}").json()
    assert body["quote"] is None
    assert body["reblog"]["quote"]["quoted_status"]["id"] == str(base.id)


@pytest.mark.parametrize("number", ["1", "abc", "-1", "9" * 30, 7])
def test_a_quote_of_a_missing_post_is_refused(alice: Account, number: Any) -> None:
    response = api_of(alice).post(STATUSES, {"status": "I quote", "quoted_status_id": number})
    assert (response.status_code, response.json()) == (404, {"error": MISSING})
    assert not Status.objects.exists()


@pytest.mark.parametrize("number", ["", None, [], ["1"], {"a": "1"}])
def test_an_empty_id_or_one_of_another_shape_quotes_nothing(alice: Account, number: Any) -> None:
    response = api_of(alice).post(STATUSES, {"status": "hello", "quoted_status_id": number})
    assert (response.status_code, response.json()["quote"]) == (200, None)


MISSING = "The post you are trying to quote does not appear to exist."


def test_a_forbidden_quote_gets_the_same_response_as_one_of_a_missing_post(
    alice: Account, bob: Account, carol: Account
) -> None:
    follow(bob, alice)
    refused = [
        (bob, make_status(alice, quote_approval_policy="nobody")),
        (carol, make_status(alice, quote_approval_policy="followers")),
        (bob, make_status(alice, visibility="private")),
        (carol, make_status(alice, visibility="private")),
        (bob, make_status(alice, "@bob", visibility="direct")),
        (alice, make_status(alice, "@bob", visibility="direct")),
        (bob, make_remote_status(make_remote())),
    ]
    gone = make_status(alice)
    delete_status(status_id=gone.id)
    blocking = make_status(carol)
    block(carol, alice)
    blocked = make_status(alice)
    boosted = make_reblog(bob, blocked)
    for person, status in [*refused, (bob, gone), (alice, blocking), (carol, blocked), (carol, boosted)]:
        response = api_of(person).post(STATUSES, {"status": "I quote", "quoted_status_id": str(status.id)})
        assert (response.status_code, response.json()) == (404, {"error": MISSING})
    assert _quoted(bob, make_status(alice, quote_approval_policy="followers"))["quote"]["state"] == "accepted"
    assert _quoted(alice, refused[0][1])["quote"]["state"] == "accepted"


def test_a_quote_of_ones_own_private_post_is_private_at_most(alice: Account) -> None:
    base = make_status(alice, visibility="private")
    for wanted, made in [("public", "private"), ("unlisted", "private"), ("private", "private"), ("direct", "direct")]:
        assert _quoted(alice, base, visibility=wanted)["visibility"] == made


def test_a_direct_post_quotes_only_accounts_that_it_mentions(alice: Account, bob: Account) -> None:
    base = make_status(alice)
    sent = {"status": "I quote", "quoted_status_id": str(base.id), "visibility": "direct"}
    response = api_of(bob).post(STATUSES, sent)
    error = "Validation failed: Cannot quote a non-mentioned user in a Private Mention post."
    assert (response.status_code, response.json()) == (422, {"error": error})
    assert _quoted(bob, base, status="@alice look", visibility="direct")["quote"]["state"] == "accepted"
    assert _quoted(alice, base, visibility="direct")["quote"]["state"] == "accepted"


def test_a_quote_of_a_remote_post_is_hidden_until_its_author_accepts(alice: Account) -> None:
    eve = make_remote()
    base = make_remote_status(eve, quote_policy=encode_policy(Group.PUBLIC), url="https://far.example/@eve/1")
    body = _quoted(alice, base)
    assert body["quote"] == {"state": "pending", "quoted_status": None}
    assert "https://far.example/@eve/1" in body["content"]
    quote = Quote.objects.get()
    assert quote.request_uri is not None
    assert quote.request_uri.startswith("http://social.localhost/users/alice/quote_requests/")
    assert _counted(base) == 0
    assert settle_quote(quote_id=quote.id, accepted=True, approval_uri="https://far.example/approvals/1")
    assert not settle_quote(quote_id=quote.id, accepted=True)
    assert _quote(alice, body["id"]) == ("accepted", str(base.id))
    assert _counted(base) == 1
    assert settle_quote(quote_id=quote.id, accepted=False)
    assert _quote(alice, body["id"]) == ("revoked", None)
    assert _counted(base) == 0
    assert not settle_quote(quote_id=quote.id, accepted=True), "a revoked quote stays revoked"


def _counted(status: Status) -> int:
    return load_posts([status.id])[0].quotes_count


def test_row_36_a_rejected_quote_stays_rejected(alice: Account) -> None:
    base = make_remote_status(make_remote(), quote_policy=encode_policy(NO_GROUP, Group.PUBLIC))
    body = _quoted(alice, base)
    assert settle_quote(quote_id=Quote.objects.get().id, accepted=False)
    assert _quote(alice, body["id"]) == ("rejected", None)


def test_the_shown_state_of_a_quote_depends_on_the_readers_relation_to_the_quoted_author(
    alice: Account, bob: Account, carol: Account
) -> None:
    base = make_status(alice)
    number = _quoted(bob, base)["id"]
    block(carol, alice)
    assert _quote(carol, number) == ("blocked_account", str(base.id))
    mute(bob, alice)
    assert _quote(bob, number) == ("muted_account", str(base.id))
    eve = make_remote(domain="far.example")
    remote = make_remote_status(eve, quote_policy=encode_policy(Group.PUBLIC))
    waiting = _quoted(bob, remote)["id"]
    settle_quote(quote_id=Quote.objects.get(status_id=waiting).id, accepted=True)
    AccountDomainBlock.objects.create(account=carol, domain="far.example")
    assert _quote(carol, waiting) == ("blocked_domain", str(remote.id))
    assert _quote(alice, waiting) == ("accepted", str(remote.id))


def test_a_quote_never_shows_a_post_that_the_reader_may_not_read(alice: Account, bob: Account, carol: Account) -> None:
    base = make_status(alice, "secret words", visibility="private")
    number = _quoted(alice, base)["id"]
    public = _quoted(bob, make_status(alice, "open words"))["id"]
    Quote.objects.filter(status_id=public).update(quoted_status=base)
    follow(bob, alice)
    assert _quote(bob, number) == ("accepted", str(base.id))
    assert _quote(bob, public) == ("accepted", str(base.id))
    outer = _quoted(carol, public)["id"]
    for reader in (carol, None):
        assert _quote(reader, public) == ("unauthorized", None)
        shallow = (Api() if reader is None else api_of(reader)).get(f"{STATUSES}/{outer}").json()
        assert shallow["quote"]["quoted_status"]["quote"] == {"state": "unauthorized", "quoted_status_id": None}
    block(alice, bob)
    assert _quote(bob, public) == ("unauthorized", None), (
        "even in the reader's own post, and even after the quoted post was shown"
    )


def test_a_quote_of_a_suspended_author_shows_nothing(alice: Account, bob: Account) -> None:
    number = _quoted(bob, make_status(alice))["id"]
    Account.objects.filter(id=alice.id).update(suspended_at=clock.now())
    assert _quote(bob, number) == ("unauthorized", None)


def test_quotes_of_a_deleted_post_stay_and_a_deleted_quote_no_longer_counts(alice: Account, bob: Account) -> None:
    base = make_status(alice)
    number = _quoted(bob, base)["id"]
    other = _quoted(bob, base)["id"]
    deleted = api_of(bob).delete(f"{STATUSES}/{other}").json()
    assert deleted["quote"]["quoted_status"]["id"] == str(base.id)
    assert _counted(base) == 1
    api_of(alice).delete(f"{STATUSES}/{base.id}")
    assert _quote(bob, number) == ("deleted", None)


def test_redrafting_returns_the_quoted_post_in_any_state_unless_it_is_unreadable(alice: Account, bob: Account) -> None:
    base = make_status(alice)
    numbers = [_quoted(bob, base)["id"] for _time in range(2)]
    for number in numbers:
        assert api_of(alice).post(f"{STATUSES}/{base.id}/quotes/{number}/revoke").status_code == 200
    shown = api_of(bob).delete(f"{STATUSES}/{numbers[0]}").json()["quote"]
    assert (shown["state"], shown["quoted_status"]["id"]) == ("revoked", str(base.id))
    block(alice, bob)
    assert api_of(bob).delete(f"{STATUSES}/{numbers[1]}").json()["quote"] == {"state": "revoked", "quoted_status": None}


def test_the_readable_quotes_of_a_post_are_listed_newest_first(alice: Account, bob: Account, carol: Account) -> None:
    base = make_status(alice)
    numbers = [_quoted(bob, base)["id"] for _time in range(3)]
    private = _quoted(bob, base, visibility="private")["id"]
    direct = _quoted(bob, base, status="@alice", visibility="direct")["id"]
    path = f"{STATUSES}/{base.id}/quotes"
    assert [item["id"] for item in api_of(carol).get(path).json()] == numbers[::-1]
    assert [item["id"] for item in api_of(alice).get(path).json()] == [direct, *numbers[::-1]]
    assert [item["id"] for item in api_of(bob).get(path).json()] == [direct, private, *numbers[::-1]]
    first = api_of(carol).get(f"{path}?limit=2")
    last = Quote.objects.get(status_id=numbers[1]).id
    assert f"max_id={last}" in first.headers["Link"]
    rest = api_of(carol).get(f"{path}?limit=2&max_id={last}")
    assert [item["id"] for item in rest.json()] == numbers[:1]
    assert Api().get(path).status_code == 401
    mute(carol, bob)
    mute(alice, bob)
    assert api_of(carol).get(path).json() == []
    assert len(api_of(alice).get(path).json()) == 4, "authors see who quotes them"


def test_row_36_the_quoted_author_can_revoke_a_quote(alice: Account, bob: Account, carol: Account) -> None:
    base = make_status(alice)
    number = _quoted(bob, base)["id"]
    path = f"{STATUSES}/{base.id}/quotes/{number}/revoke"
    for api, code in ((Api(), 401), (api_of(bob), 403), (api_of(carol), 403)):
        assert api.post(path).status_code == code
    assert api_of(alice).post(f"{STATUSES}/{base.id}/quotes/1/revoke").status_code == 404
    assert api_of(alice).post(f"{STATUSES}/1/quotes/{number}/revoke").status_code == 404
    for _time in range(2):
        body = api_of(alice).post(path).json()
        assert (body["id"], body["quote"]) == (number, {"state": "revoked", "quoted_status": None})
        assert _counted(base) == 0
    assert _quote(bob, number) == ("revoked", None)
    assert api_of(alice).get(f"{STATUSES}/{base.id}/quotes").json() == []


def test_a_quote_can_be_revoked_in_a_post_that_has_become_unreadable(alice: Account, bob: Account) -> None:
    base = make_status(alice)
    number = _quoted(bob, base)["id"]
    block(bob, alice)
    assert api_of(alice).post(f"{STATUSES}/{base.id}/quotes/{number}/revoke").status_code == 404
    assert Quote.objects.get().state == QuoteState.REVOKED


def test_a_page_of_quotes_takes_as_many_statements_whatever_its_size(alice: Account, bob: Account) -> None:
    def statements(size: int) -> int:
        numbers = [int(_quoted(bob, make_status(make_user().account))["id"]) for _time in range(size)]
        with CaptureQueriesContext(connection) as captured:
            assert len(present_statuses(numbers, alice.id)) == size
        return len(captured.captured_queries)

    assert statements(2) == statements(6)


def test_a_page_loaded_for_a_stream_shows_each_reader_only_readable_quoted_posts(
    alice: Account, bob: Account, carol: Account
) -> None:
    base = make_status(alice, "secret words", visibility="private")
    number = int(_quoted(alice, base)["id"])
    follow(bob, alice)
    (row,) = load_posts([number])
    page = fill(of_rows([row], 0))
    readers = load_relations_of({bob.id, carol.id}, page.related_ids(row))

    def shown(reader: Account) -> Any:
        seen = page.seen_by(reader.id, row, Marks(), readers.get(reader.id))
        return orjson.loads(orjson.dumps(present(seen)[0]))["quote"]["state"]

    assert orjson.loads(orjson.dumps(present(page)[0]))["quote"] == {"state": "unauthorized", "quoted_status": None}
    assert (shown(bob), shown(carol)) == ("accepted", "unauthorized")


def test_public_streams_leave_out_quotes_of_hidden_and_blocking_accounts() -> None:
    stream = Stream(("public",), (), filtered=True)
    facts = Facts(author_id=1, quoted_id=2, quoted_domain="far.example")
    now = clock.now()

    def is_left_out(viewer_id: int, **hidden: Any) -> bool:
        return is_hidden_from_viewer(stream, facts, Viewer(viewer_id, Hidden(**hidden)), now)

    assert Message.decode(Message("update", b"{}", facts).encode()).facts == facts
    assert not is_left_out(3)
    assert is_left_out(3, blocking=frozenset({2}))
    assert is_left_out(3, muting={2: None})
    assert is_left_out(3, domains=frozenset({"far.example"}))
    assert is_left_out(3, blocked_by=frozenset({2}))
    assert is_left_out(1, blocked_by=frozenset({2})), "the viewer's own post is left out too"


def test_the_quoted_author_is_notified_of_a_quote(alice: Account, bob: Account) -> None:
    base = make_status(alice)
    number = _quoted(bob, base)["id"]
    _quoted(bob, base, visibility="private")
    _quoted(alice, base)
    work()
    (entity,) = api_of(alice).get("/api/v1/notifications?types[]=quote").json()
    assert (entity["type"], entity["account"]["acct"]) == ("quote", "bob")
    assert (entity["status"]["id"], entity["status"]["quote"]["quoted_status"]["id"]) == (number, str(base.id))
