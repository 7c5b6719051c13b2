"""Tests of the author shown for a linked page (security row 37)."""

import idna
import pytest

from accounts.models import Account
from accounts.policies.domains import is_attributed_from
from federation.models import Lookup
from social.kernel import clock
from tests.factories.accounts import make_remote
from tests.statuses.conftest import api_of
from tests.statuses.services.cards import card_of, fetch_now, link_to
from tests.support.site import Site

pytestmark = pytest.mark.usefixtures("media_root")


def test_row_37_only_an_account_that_lists_the_domain_is_shown_as_the_author_of_a_page(
    alice: Account, bob: Account, site: Site
) -> None:
    stranger = make_remote("eve", domain="eve.example")
    link = site.show("/a", '<meta name="fediverse:creator" content="@alice@social.localhost"><title>x</title>')
    status = link_to(stranger, link)
    fetch_now()
    assert card_of(status)["authors"] == []
    assert [card_of(status, api_of(account))["missing_attribution"] for account in (alice, bob)] == [True, False]
    Account.objects.filter(id=alice.id).update(attribution_domains=["evil.example", f"evil{site.host}", site.host[1:]])
    assert card_of(status)["authors"] == []
    Account.objects.filter(id=alice.id).update(attribution_domains=[site.host])
    card = card_of(status, api_of(alice))
    assert [author["account"]["acct"] for author in card["authors"]] == ["alice"]
    assert card["missing_attribution"] is False
    Account.objects.filter(id=alice.id).update(suspended_at=clock.now())
    assert card_of(status)["authors"] == []


def test_row_37_a_listed_domain_includes_its_subdomains() -> None:
    for host, domains, agreed in (
        ("example.com", ["example.com"], True),
        ("www.Example.com", ["other.example", "EXAMPLE.com."], True),
        ("evilexample.com", ["example.com"], False),
        ("example.com.evil.org", ["example.com"], False),
        ("example.com", ["www.example.com", "xample.com", "", " "], False),
        ("xn--bcher-kva.example", ["bücher.example"], True),
        ("user@example.com", ["example.com"], False),
        ("", ["example.com", ""], False),
    ):
        assert is_attributed_from(host, domains) is agreed, (host, domains)


def test_row_78_the_domains_that_an_account_lists_are_compared_without_normalising_each(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    normalised: list[str] = []
    encode = idna.encode
    monkeypatch.setattr(idna, "encode", lambda host, **options: normalised.append(host) or encode(host, **options))
    listed = [f"bücher{number}.example" for number in range(256)]
    assert is_attributed_from("blog.bücher255.example", listed)
    assert not is_attributed_from("bücher256.example", listed)
    assert normalised == ["blog.bücher255.example", "bücher256.example"]


def test_an_author_who_is_unknown_here_is_looked_for_in_the_background(stranger: Account, site: Site) -> None:
    names = ("@new@There.Example", "@alice@social.localhost", "nobody", "a b@x.example", f"@{stranger.acct}", "@a@b/c")
    for number, name in enumerate(names):
        page = f'<meta name="fediverse:creator" content="{name}"><title>x</title>'
        status = link_to(stranger, site.show(f"/{number}", page))
    fetch_now()
    assert card_of(status)["authors"] == []
    assert list(Lookup.objects.values_list("address", flat=True)) == ["new@there.example"]
