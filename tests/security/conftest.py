"""The people of the conformance tests, attacking."""

from tests.conformance.conftest import alice, bob, own_media

__all__ = ["alice", "bob", "own_media"]
