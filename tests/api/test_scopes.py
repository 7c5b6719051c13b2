"""Tests of the scopes of endpoints (contract, behaviours section 5)."""

from social.api import scopes


def test_the_tree_of_scopes_equals_the_contract() -> None:
    assert len(scopes.CHILDREN["read"]) == 12
    assert len(scopes.CHILDREN["write"]) == 14
    assert len(scopes.CHILDREN["follow"]) == 6
    assert len(scopes.CHILDREN["admin:read"]) == len(scopes.CHILDREN["admin:write"]) == 7
    assert scopes.SCOPES[:2] == ("read", "read:accounts")
    assert len(scopes.SCOPES) == len(set(scopes.SCOPES)) == 8 + 12 + 14 + 14


def test_sufficient_scopes_are_the_scope_and_its_parents() -> None:
    assert scopes.sufficient_scopes("write:blocks") == {"write:blocks", "write", "follow"}
    assert scopes.sufficient_scopes("read:statuses") == {"read:statuses", "read"}
    assert scopes.sufficient_scopes("admin:read:reports") == {"admin:read:reports", "admin:read"}
    for alone in ("crypto", "profile", "push", "read", "admin:write"):
        assert scopes.sufficient_scopes(alone) == {alone}


def test_the_old_scope_follow_gives_access_only_to_endpoints_that_name_it() -> None:
    assert "follow" in scopes.sufficient_for_any(("read:follows", "follow"))
    assert scopes.sufficient_for_any(("read:follows",)) == {"read:follows", "read"}


def test_scopes_are_read_from_spaces_and_plus_signs() -> None:
    assert scopes.parse("read  write:statuses+push read") == ("read", "write:statuses", "push")
    assert scopes.parse("") == ()
    assert scopes.unknown(["read", "read:everything"]) == ["read:everything"]


def test_an_authorization_may_request_fewer_scopes_than_the_application_has() -> None:
    assert scopes.covers(["read", "follow"], ["read:statuses", "write:mutes"])
    assert not scopes.covers(["read:statuses"], ["read"])
    assert not scopes.covers(["read", "write"], ["crypto"])
