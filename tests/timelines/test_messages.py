"""Tests of encoding stream messages for Redis, and for each kind of connection."""

import orjson

from timelines.stores.messages import Facts, Message, Withdrawn


def test_decoded_messages_equal_the_encoded_ones() -> None:
    facts = Facts(7, frozenset({8, 9}), "de", has_media=True, domain="remote.example")
    message = Message("update", b'{"text":"a\\nb"}', facts, (1, 2))
    assert Message.decode(message.encode()) == message
    assert Message.decode(Message("filters_changed").encode()) == Message("filters_changed")
    assert message.websocket_text(("hashtag", "x")) == (
        '{"stream":["hashtag","x"],"event":"update","payload":"{\\"text\\":\\"a\\\\nb\\"}"}'
    )
    assert Message("filters_changed").server_sent_text() == "event: filters_changed\ndata: null\n\n"
    assert Message("delete", b"12").server_sent_text() == "event: delete\ndata: 12\n\n"


def test_fields_that_a_newer_release_added_to_messages_are_ignored() -> None:
    for message in (
        Message("update", b"{}", Facts(7, frozenset({8}), "de", has_media=True, domain=None)),
        Message("delete", b"12", withdrawn=Withdrawn(local=True, had_files=False)),
    ):
        head, _, payload = message.encode().partition(b"\n")
        header = orjson.loads(head)
        header["added"] = 1
        for name in header.keys() & {"facts", "withdrawn"}:
            header[name].append("?")
        assert Message.decode(orjson.dumps(header) + b"\n" + payload) == message
