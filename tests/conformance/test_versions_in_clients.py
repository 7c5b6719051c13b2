"""Tests that clients understand the versions and names that this server returns (clients.md, E1). The clients' rules are
reimplemented here, except for the rules of Mastodon.py, which the tests call.
"""

import re
from collections.abc import Callable
from typing import Any, Final

import pytest
from mastodon.utility import parse_version_string

from social.kernel.http.addresses import parse_url
from tests.support.client import Api
from tests.support.federation_server import needs_federation

pytestmark = pytest.mark.django_db

# The grammar of a version according to https://semver.org.
_PART: Final = r"(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)"
_SEMVER: Final = re.compile(
    rf"(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(-{_PART}(?:\.{_PART})*)?(?:\+[0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*)?"
)


def _semver(text: str) -> tuple[int, int, int]:
    """Return the numbers of a version; fail if it has a suffix after a hyphen, which would mean a pre-release."""
    found = _SEMVER.fullmatch(text)
    assert found is not None, text
    assert found[4] is None, f"{text} sorts before the release that it names"
    return int(found[1]), int(found[2]), int(found[3])


def _node(number: str = "2.0") -> dict[str, Any]:
    # Clients find the document by this link, from another origin.
    links = Api().get("/.well-known/nodeinfo").json()["links"]
    link = next(link for link in links if link["rel"].endswith(f"/{number}"))
    answer = Api().get(re.sub(r"^https?://[^/]+", "", link["href"]), headers={"Origin": "https://client.example"})
    assert answer["Access-Control-Allow-Origin"] == "*"
    body: dict[str, Any] = answer.json()
    return body


def _phanpy(instance: dict[str, Any]) -> None:
    assert _semver(instance["version"]) >= (4, 6, 0)
    assert instance["api_versions"]["mastodon"] >= 10


def _ice_cubes(instance: dict[str, Any]) -> None:
    assert float(instance["version"][:3]) >= 4.3
    assert instance["api_versions"]["mastodon"] >= 7
    assert all(isinstance(instance[name], str) for name in ("title", "domain", "version"))
    assert isinstance(instance["registrations"]["enabled"], bool)
    assert isinstance(instance["thumbnail"], dict)
    assert isinstance(instance["contact"]["email"], str)
    statuses, polls = instance["configuration"]["statuses"], instance["configuration"]["polls"]
    assert all(isinstance(statuses[name], int) for name in ("max_characters", "max_media_attachments"))
    assert all(isinstance(number, int) for number in polls.values())
    assert len(polls) == 4


def _mastodon_android_and_ios(instance: dict[str, Any]) -> None:
    assert instance["domain"]
    assert instance["registrations"]
    assert instance["configuration"]["vapid"]["public_key"]
    assert instance["api_versions"]["mastodon"] >= 10


def _tusky(instance: dict[str, Any]) -> None:
    assert instance["domain"]
    assert instance["version"]
    assert instance["configuration"]["statuses"]["max_characters"] > 0


def _elk(instance: dict[str, Any]) -> None:
    # Elk and others offer Markdown and sixteen profile fields for a version with "+glitch".
    assert "+glitch" not in instance["version"]
    assert instance["configuration"]["urls"]["streaming"].startswith("ws")


def _mastodon_py(instance: dict[str, Any]) -> None:
    assert tuple(parse_version_string(instance["version"])) == (4, 6, 5)


def _names_the_software_first(instance: dict[str, Any]) -> None:
    """Toot, tut and other clients cut the version at the first space, hyphen or plus."""
    assert re.split(r"[ +-]", instance["version"])[0] == "4.6.5"


@pytest.mark.parametrize(
    "rule",
    [_phanpy, _ice_cubes, _mastodon_android_and_ios, _tusky, _elk, _mastodon_py, _names_the_software_first],
)
def test_clients_find_the_values_they_read_in_the_instance_document(rule: Callable[[dict[str, Any]], None]) -> None:
    rule(Api().get("/api/v2/instance").json())


def test_older_clients_find_the_same_version_a_bare_domain_and_the_address_of_streams() -> None:
    new, old = Api().get("/api/v2/instance").json(), Api().get("/api/v1/instance").json()
    assert old["version"] == new["version"]
    assert parse_url(f"https://{old['uri']}/") is not None
    assert "/" not in old["uri"]
    assert old["urls"]["streaming_api"].startswith("ws")
    assert old["max_toot_chars"] == new["configuration"]["statuses"]["max_characters"]


@needs_federation
@pytest.mark.parametrize("number", ["2.0", "2.1"])
def test_pachli_and_megalodon_find_comparable_versions_of_the_software_and_its_upstream(number: str) -> None:
    node = _node(number)
    assert node["software"]["name"] == "social"
    _semver(node["software"]["version"])
    # Pachli and Megalodon fail if they know neither the name of the software nor that of its upstream.
    assert node["metadata"]["upstream"]["name"] == "mastodon"
    assert _semver(node["metadata"]["upstream"]["version"]) == (4, 6, 5)


@needs_federation
@pytest.mark.parametrize("number", ["2.0", "2.1"])
def test_an_operator_can_set_the_software_name_that_some_clients_require(number: str, settings: Any) -> None:
    """Phanpy compares `software.name`, and then the version in the instance document."""
    settings.NODEINFO_NAME = "mastodon"
    node = _node(number)
    assert node["software"]["name"] == "mastodon"
    assert _semver(node["software"]["version"]) == (4, 6, 5)
    assert node["software"]["version"] == Api().get("/api/v2/instance").json()["version"]
