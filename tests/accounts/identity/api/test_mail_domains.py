"""Tests of the setting that requires the domain of an e-mail address to accept mail before a sign-up.

Contract, parameters section 2 "POST /api/v1/accounts", `ERR_UNREACHABLE`.
"""

from collections.abc import Iterator
from typing import Any

import pytest
from allauth.account.models import EmailAddress

from accounts.identity.services.sign_up_blocks import block_email_domain
from accounts.models import User
from accounts.policies.staff import OPERATOR
from social.kernel.http import mail_domains
from social.kernel.http.limits import web_request_budget
from tests.factories.accounts import make_application, make_token
from tests.support.client import Api
from tests.support.name_server import NameServer, name_server

pytestmark = pytest.mark.django_db
ZONE = {
    ("mailed.example", "MX"): ["10 mx1.provider.example.", "20 mx2.provider.example."],
    ("plain.example", "A"): ["192.0.2.1"],
    ("six.example", "AAAA"): ["2001:db8::1"],
    ("null.example", "MX"): ["0 ."],
    ("null.example", "A"): ["192.0.2.1"],
    ("texts.example", "TXT"): ['"nothing else"'],
    ("xn--bcher-kva.example", "MX"): ["10 mx.books.example."],
}


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch, settings: Any) -> Iterator[NameServer]:
    settings.CHECK_EMAIL_DOMAINS = True
    monkeypatch.setattr(mail_domains, "LOOKUP_SECONDS", 60.0)
    with name_server(ZONE, silent=["silent.example"]) as server:
        monkeypatch.setattr(mail_domains, "make_resolver", server.resolver)
        yield server


def sign_up(email: str) -> Any:
    form = {"username": "nell", "email": email, "password": "correct horse", "agreement": True}
    return Api(make_token(None, "read write", make_application("read write"))).post("/api/v1/accounts", form)


@pytest.mark.parametrize(
    "domain", ["mailed.example", "Mailed.Example", "plain.example", "six.example", "bücher.example"]
)
def test_a_domain_with_a_mail_server_or_an_ip_address_is_accepted(names: NameServer, domain: str) -> None:
    answer = sign_up(f"nell@{domain}")
    assert answer.status_code == 200, answer.content


@pytest.mark.parametrize("domain", ["unknown.example", "null.example", "texts.example"])
def test_a_domain_that_accepts_no_mail_is_refused(names: NameServer, domain: str) -> None:
    answer = sign_up(f"nell@{domain}")
    assert answer.status_code == 422
    assert answer.json()["error"] == "Validation failed: E-mail address does not seem to exist"
    assert answer.json()["details"] == {
        "email": [{"error": "ERR_UNREACHABLE", "description": "does not seem to exist"}]
    }
    assert not User.objects.exists()


def test_a_domain_whose_name_server_does_not_answer_in_time_is_refused(
    names: NameServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mail_domains, "LOOKUP_SECONDS", 0.1)
    assert sign_up("nell@silent.example").json()["details"]["email"][0]["error"] == "ERR_UNREACHABLE"


@pytest.mark.parametrize("blocked", ["mx2.provider.example", "provider.example", "mailed.example"])
def test_blocking_a_mail_provider_blocks_the_domains_that_it_serves(names: NameServer, blocked: str) -> None:
    block_email_domain(by=OPERATOR, domain=blocked)
    answer = sign_up("nell@mailed.example")
    assert answer.status_code == 422
    assert answer.json()["details"]["email"][0]["error"] == "ERR_BLOCKED"
    assert sign_up("nell@plain.example").status_code == 200


def test_a_blocked_mail_provider_may_be_allowed_with_approval(names: NameServer) -> None:
    block_email_domain(by=OPERATOR, domain="provider.example", allow_with_approval=True)
    assert sign_up("nell@mailed.example").status_code == 200
    assert User.objects.get().approved is False


def test_the_dns_is_not_queried_by_default(names: NameServer, settings: Any) -> None:
    settings.CHECK_EMAIL_DOMAINS = False
    assert sign_up("nell@unknown.example").status_code == 200
    assert names.asked == []


def test_the_dns_is_not_queried_for_an_invalid_address(names: NameServer) -> None:
    assert sign_up("nell@").status_code == 422
    assert sign_up("nell@-.example").status_code == 422
    assert names.asked == []


def test_a_corrected_address_is_checked_too(names: NameServer, settings: Any) -> None:
    settings.CONFIRM_EMAIL = True
    newcomer = Api(sign_up("nell@mailed.example").json()["access_token"])
    answer = newcomer.post("/api/v1/emails/confirmations", {"email": "nell@unknown.example"})
    assert (answer.status_code, answer.json()["error"]) == (
        422,
        "Validation failed: E-mail address does not seem to exist",
    )
    assert newcomer.post("/api/v1/emails/confirmations", {"email": " nell@plain.example"}).status_code == 200
    assert EmailAddress.objects.get().email == "nell@plain.example"


def test_a_web_request_whose_time_for_lookups_is_used_up_gets_503_with_retry_after(names: NameServer) -> None:
    with web_request_budget(0.0):
        answer = sign_up("nell@mailed.example")
    assert answer.status_code == 503
    assert names.asked == []
