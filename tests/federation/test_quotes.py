"""Tests of quotes and their policies in the documents of posts (contract, federation section 5; FEP-044f)."""

from typing import Any

import pytest

from accounts.models import Account
from federation.documents.context import PUBLIC
from federation.documents.notes import load_notes, note_document
from federation.documents.received_notes import read_note
from federation.remote.posts import store_note
from social.kernel import clock
from statuses.models import Quote, QuoteState, Status
from statuses.policies.quotes import Group, automatic_groups, manual_groups
from statuses.queries.posts import load_posts
from statuses.services.deleting import delete_status
from tests.factories.accounts import make_account, make_remote, make_user
from tests.factories.statuses import make_remote_status, make_status
from tests.support.client import Api

pytestmark = pytest.mark.django_db


def _document(status: Status) -> dict[str, Any]:
    return note_document(load_notes(load_posts([status.id]))[status.id])


def _received(author: Account, **values: Any) -> Status:
    number = Status.objects.count()
    document = {
        "id": f"{author.uri}/statuses/{number}",
        "type": "Note",
        "attributedTo": author.uri,
        "content": "<p>I quote</p>",
        "published": clock.now().isoformat(),
        "to": [PUBLIC],
        **values,
    }
    status = store_note(read_note(document), author)
    assert status is not None
    return status


def test_the_document_of_a_post_states_who_may_quote_it() -> None:
    anna = make_user("anna").account
    base = "http://social.localhost/users/anna"
    said = {
        "public": [PUBLIC],
        "followers": [f"{base}/followers"],
        "nobody": [base],
    }
    for policy, approved in said.items():
        document = _document(make_status(anna, quote_approval_policy=policy))
        assert document["interactionPolicy"] == {"canQuote": {"automaticApproval": approved}}
    assert _document(make_status(anna, visibility="private"))["interactionPolicy"]["canQuote"] == {
        "automaticApproval": [base]
    }
    terms = document["@context"][-1]
    assert terms["interactionPolicy"] == {"@id": "gts:interactionPolicy", "@type": "@id"}
    assert "quote" not in document


def test_a_quoting_post_names_the_quoted_post_and_the_authorization() -> None:
    anna, ben = make_user("anna").account, make_user("ben").account
    base = make_status(anna)
    quoting = make_status(ben, quoted_status_id=base.id)
    document = _document(quoting)
    uri = f"http://social.localhost/users/anna/statuses/{base.id}"
    assert (document["quote"], document["quoteUri"], document["_misskey_quote"]) == (uri, uri, uri)
    number = Quote.objects.get().id
    authorization = f"http://social.localhost/users/anna/quote_authorizations/{number}"
    assert document["quoteAuthorization"] == authorization
    assert document["@context"][-1]["quote"] == {"@id": "https://w3id.org/fep/044f#quote", "@type": "@id"}
    delete_status(status_id=base.id)
    document = _document(quoting)
    assert (document["quote"], document["quoteAuthorization"]) == ({"type": "Tombstone"}, authorization)
    assert "quoteUri" not in document
    assert "_misskey_quote" not in document


def test_a_pending_quote_of_a_remote_post_has_no_authorization() -> None:
    base = make_remote_status(make_remote(), quote_policy=int(Group.PUBLIC))
    quoting = make_status(make_user().account, quoted_status_id=base.id)
    assert _document(quoting)["quote"] == base.uri
    assert "quoteAuthorization" not in _document(quoting)
    Quote.objects.update(state=QuoteState.ACCEPTED, approval_uri="https://remote.example/approvals/1")
    assert _document(quoting)["quoteAuthorization"] == "https://remote.example/approvals/1"


@pytest.mark.parametrize(("name", "legacy"), [("quote", False), ("quoteUri", True), ("quoteUrl", True)])
def test_row_36_a_received_quote_is_pending_even_if_it_names_an_authorization(name: str, legacy: bool) -> None:
    base = make_status(make_user("anna").account)
    uri = f"http://social.localhost/users/anna/statuses/{base.id}"
    quoting = _received(make_remote(), **{name: uri, "quoteAuthorization": "https://remote.example/forged"})
    quote = Quote.objects.get(status=quoting)
    assert (quote.quoted_status_id, quote.state, quote.legacy) == (base.id, QuoteState.PENDING, legacy)
    assert quote.quoted_uri == uri
    assert quote.approval_uri == "https://remote.example/forged", (
        "the address is stored to be fetched later, but not trusted"
    )


def test_a_received_quote_of_an_unknown_or_unreadable_post_is_stored_with_its_id() -> None:
    secret = make_status(make_user("anna").account, visibility="private")
    hidden = f"http://social.localhost/users/anna/statuses/{secret.id}"
    for uri in ("https://third.example/notes/1", hidden):
        quote = Quote.objects.get(status=_received(make_remote(), quote=uri))
        assert (quote.quoted_status_id, quote.quoted_uri, quote.state) == (None, uri, QuoteState.PENDING)


def test_remote_authors_can_quote_themselves_without_consent() -> None:
    eve = make_remote()
    base = make_remote_status(eve)
    assert Quote.objects.get(status=_received(eve, quote=base.uri)).state == QuoteState.ACCEPTED


@pytest.mark.parametrize("value", [7, "", "javascript:1", ["x"], None, {"id": 7}])
def test_a_quote_whose_target_is_no_url_is_ignored(value: Any) -> None:
    assert not Quote.objects.filter(status=_received(make_remote(), quote=value)).exists()


def test_a_quote_of_a_deleted_post_says_so() -> None:
    eve, zoe = make_remote(), make_remote("zoe", "zoe.example")
    gone = make_remote_status(zoe)
    delete_status(status_id=gone.id)
    for said in ({"type": "Tombstone"}, {"type": "Tombstone", "id": "https://x.example/1"}, gone.uri):
        status = _received(eve, quote=said)
        shown = Api().get(f"/api/v1/statuses/{status.id}").json()["quote"]
        assert shown == {"state": "deleted", "quoted_status": None}


def test_the_quote_policy_of_a_received_post_is_stored() -> None:
    eve = make_account("eve", domain="far.example", uri="https://far.example/eve")
    Account.objects.filter(id=eve.id).update(
        followers_url="https://far.example/eve/followers", following_url="https://far.example/eve/following"
    )
    eve.refresh_from_db()
    policy = {
        "canQuote": {
            "automaticApproval": [eve.uri, "https://far.example/eve/followers", "https://far.example/eve/following"],
            "manualApproval": ["as:Public", "https://far.example/list"],
        }
    }
    kept = _received(eve, interactionPolicy=policy).quote_policy
    assert automatic_groups(kept) == Group.FOLLOWERS | Group.FOLLOWING
    assert manual_groups(kept) == Group.PUBLIC | Group.UNSUPPORTED_POLICY
    for odd in (None, 7, [], {"canQuote": "x"}, {"canQuote": {"automaticApproval": 7}}, {"canQuote": []}):
        assert _received(eve, interactionPolicy=odd).quote_policy == 0
