"""Tests of the settings for requests to other servers, and of the user agent."""

import socket
from ipaddress import ip_address, ip_network

import pytest
from pytest_django import Settings

from social.kernel.http import resolver
from social.kernel.http.client import (
    ACTIVITY_TYPES,
    Refused,
    Request,
    TimedOut,
    fetch,
    fetch_async,
    policy_from_settings,
)
from social.kernel.http.resolver import system_lookup
from tests.kernel.http.attacker import DOCUMENT, Attacker
from tests.support.altered import altered


@pytest.fixture
def trial(settings: Settings) -> Settings:
    """Settings for a trial between servers on one machine."""
    settings.FEDERATION_LOOPBACK = True
    settings.LOCAL_DOMAIN = settings.WEB_DOMAIN = "localhost:1"
    settings.BASE_URL = "http://localhost:1"
    settings.VERSION = "9.8"
    return settings


def test_the_settings_decide_whether_loopback_addresses_are_allowed(attacker: Attacker, settings: Settings) -> None:
    settings.FEDERATION_LOOPBACK = False
    with pytest.raises(Refused):
        fetch(Request(attacker.url(), schemes=("http", "https")))
    settings.FEDERATION_LOOPBACK = True
    assert fetch(Request(attacker.url())).body == DOCUMENT


def test_the_user_agent_contains_the_version_and_address_of_this_server(attacker: Attacker, trial: Settings) -> None:
    fetch(Request(attacker.url(host="localhost")))
    assert attacker.requests[0].headers["user-agent"] == "Social/9.8 (+http://localhost:1)"


def test_in_a_trial_other_ports_of_this_machine_are_other_servers(attacker: Attacker, trial: Settings) -> None:
    trial.WEB_DOMAIN = f"localhost:{attacker.port}"
    with pytest.raises(Refused, match="ask itself"):
        fetch(Request(attacker.url(host="localhost")))
    trial.WEB_DOMAIN = "localhost:1"
    assert fetch(Request(attacker.url(host="localhost"))).status == 200


def test_the_operator_can_allow_a_private_network(settings: Settings) -> None:
    settings.FEDERATION_LOOPBACK = False
    settings.ALLOWED_PRIVATE_ADDRESSES = (ip_network("10.8.0.0/16"),)
    permits = policy_from_settings().permits
    assert [permits(ip_address(text)) for text in ("10.8.1.1", "10.9.1.1", "127.0.0.1")] == [True, False, False]


def test_names_under_localhost_resolve_to_this_machine_without_a_query(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resolver, "socket", altered(socket, getaddrinfo=None))
    assert system_lookup("localhost", 80) == system_lookup("one.localhost", 80) == ("127.0.0.1", "::1")


async def test_coroutines_fetch_on_their_own_loop(attacker: Attacker, trial: Settings) -> None:
    response = await fetch_async(Request(attacker.url(), accept=ACTIVITY_TYPES))
    assert response.body == DOCUMENT
    with pytest.raises(TimedOut):
        await fetch_async(Request(attacker.url("/silent"), deadline=0.2))
