"""Tests of the page that redirects remote users to their own server, at the address in WebFinger, to follow or reply."""

from typing import Any
from urllib.parse import quote

import pytest
from django.test import Client

from accounts.models import Account
from federation.remote.webfinger import SUBSCRIBE
from social.api import admission
from social.api.limits import Count
from tests.factories.statuses import make_status
from tests.federation.remote_server import RemoteServer
from tests.support.site import serving

pytestmark = pytest.mark.django_db


def names(server: RemoteServer, template: Any, name: str = "zoe") -> None:
    """Add this template to the WebFinger response of a user."""
    server.finger(name, server.uri(name))
    server.fingers[f"acct:{name}@{server.domain}"]["links"].append({"rel": SUBSCRIBE, "template": template})


def ask(path: str, address: str) -> Any:
    return Client().post(path, {"address": address})


def test_remote_users_are_redirected_to_the_page_that_their_server_names(
    alice: Account, elsewhere: RemoteServer
) -> None:
    status = make_status(alice, "hello")
    names(elsewhere, f"{elsewhere.url}/follow?who={{uri}}&x={{uri}}")
    names(elsewhere, f"{elsewhere.url}/any?uri={{uri}}", elsewhere.domain)
    uri, post = quote(alice.uri, safe=""), quote(f"{alice.uri}/statuses/{status.id}", safe="")
    for typed in (f"zoe@{elsewhere.domain}", f"  @Zoe@{elsewhere.domain.upper()} ".replace("Zoe", "zoe")):
        text = ask("/@alice/follow", typed).content.decode()
        assert f'href="{elsewhere.url}/follow?who={uri}&amp;x={uri}"' in text
        assert f'Continue to <bdi dir="ltr">{elsewhere.domain}</bdi>' in text
    for typed in (elsewhere.domain, f"{elsewhere.url}/home"):
        assert f'href="{elsewhere.url}/any?uri={uri}"' in ask("/@alice/follow", typed).content.decode()
    answer = ask(f"/@alice/{status.id}/interact", f"zoe@{elsewhere.domain}")
    assert f"{elsewhere.url}/follow?who={post}&amp;x={post}" in answer.content.decode()
    assert answer["Cache-Control"] == "private, no-store"


def test_row_30_only_valid_https_templates_of_other_servers_are_used(
    alice: Account, elsewhere: RemoteServer, settings: Any
) -> None:
    for template in (
        "javascript:alert(1)//{uri}",
        "//evil.example/{uri}",
        "http://evil.example/{uri}",
        "https://evil.example/",
        ["https://evil.example/{uri}"],
        "https://evil.example:99999/{uri}",
        "https://evil.example/\nx{uri}",
        None,
    ):
        elsewhere.fingers.clear()
        names(elsewhere, template)
        answer = ask("/@alice/follow", f"zoe@{elsewhere.domain}")
        assert answer.status_code == 422, template
        assert b"evil" not in answer.content


def test_only_other_servers_are_queried_and_only_by_guarded_requests(alice: Account) -> None:
    with serving() as site:
        for typed in (f"zoe@{site.host}", site.host, "zoe@127.0.0.1", "zoe@", "@", "a b", "zoe@nowhere.invalid"):
            assert ask("/@alice/follow", typed).status_code == 422, typed
        assert site.asked == [], "loopback addresses do not count as other servers"
    for typed in ("zoe@social.localhost", "social.localhost", "http://social.localhost/@zoe"):
        answer = ask("/@alice/follow", typed)
        assert answer["Location"] == f"/authorize_interaction?uri={quote(alice.uri, safe='')}"


def test_the_follow_form_requires_a_csrf_token_and_is_rate_limited(
    alice: Account, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    strict = Client(enforce_csrf_checks=True)
    assert strict.post("/@alice/follow", {"address": "zoe@nowhere.invalid"}).status_code == 403
    assert Client().get("/@alice/follow")["Cache-Control"] == "private, no-store"
    settings.RATE_LIMITS = True
    monkeypatch.setattr(admission, "count", lambda rule, **_: Count(rule, rule.limit + 1, 1))
    assert ask("/@alice/follow", "zoe@nowhere.invalid").status_code == 429


def test_accounts_and_posts_that_are_hidden_have_no_page_to_follow_from_elsewhere(alice: Account) -> None:
    private = make_status(alice, "psst", visibility="private")
    for path in ("/@nobody/follow", f"/@alice/{private.id}/interact", "/@alice/1/interact"):
        assert Client().get(path).status_code == 404
        assert Client().post(path, {"address": "zoe@nowhere.invalid"}).status_code == 404
    assert Client().get(f"/@alice/{make_status(alice, 'hello').id}/interact").status_code == 200
