"""Tests of public posts that are hidden from a viewer of streams, according to relations loaded when the stream was opened."""

from datetime import timedelta

import pytest

from accounts.models import AccountDomainBlock
from accounts.services.blocking import mute_account
from social.kernel import clock
from tests.factories.accounts import make_remote, make_user
from timelines.policies.streams import Stream, is_hidden_from_viewer
from timelines.queries.fan_out import load_viewer
from timelines.stores.messages import Facts

pytestmark = pytest.mark.django_db
PUBLIC = Stream(("public",), (), filtered=True)


def test_a_mute_can_end_while_the_stream_is_open() -> None:
    reader, author = make_user("reader").account, make_user("author").account
    mute_account(account=reader, target=author, duration=600)
    viewer, now = load_viewer(reader.id), clock.now()
    for facts in (Facts(author.id), Facts(make_user().account.id, frozenset({author.id}))):
        assert is_hidden_from_viewer(PUBLIC, facts, viewer, now) is True
        assert is_hidden_from_viewer(PUBLIC, facts, viewer, now + timedelta(seconds=599)) is True
        assert is_hidden_from_viewer(PUBLIC, facts, viewer, now + timedelta(seconds=601)) is False


def test_only_posts_of_a_blocked_server_are_left_out() -> None:
    reader, eve = make_user("reader").account, make_remote("eve", "loud.example")
    AccountDomainBlock.objects.create(account=reader, domain="loud.example")
    viewer, now = load_viewer(reader.id), clock.now()
    assert is_hidden_from_viewer(PUBLIC, Facts(eve.id, domain="loud.example"), viewer, now) is True
    assert is_hidden_from_viewer(PUBLIC, Facts(eve.id + 1, domain="quiet.example"), viewer, now) is False
    assert is_hidden_from_viewer(PUBLIC, Facts(eve.id + 2), viewer, now) is False
