"""Tests of accepted formats of parameters (contract, parameters section 0; clients.md, traps 1, 14, 15; security row 34)."""

import io
import json
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from hypothesis import given
from hypothesis import strategies as st

from social.api import parameters
from social.kernel import errors
from tests.api.conftest import Tokens

pytestmark = pytest.mark.usefixtures("callers")
ECHO = "/api/v1/echo/echo"
FORM = "application/x-www-form-urlencoded"
JSON = "application/json"


def echo(method: str, body: Any = b"", content_type: str = JSON, query: str = "") -> Any:
    data = body if isinstance(body, bytes | str) else json.dumps(body)
    response = Client().generic(method, ECHO + (f"?{query}" if query else ""), data, content_type)
    assert response.status_code == 200, response.content
    return response.json()


@pytest.mark.parametrize("method", ["GET", "POST", "PUT", "PATCH", "DELETE"])
def test_every_method_reads_query_form_multipart_and_json(method: str) -> None:
    """clients.md, trap 1; GET and DELETE requests may also have a body."""
    expected = {"a": "1", "b": {"c": ["x", "y"]}}
    assert echo(method, query="a=1&b[c][]=x&b[c][]=y") == expected
    assert echo(method, query="a=1&b%5Bc%5D%5B%5D=x&b%5Bc%5D%5B%5D=y") == expected
    assert echo(method, "a=1&b[c][]=x&b[c][]=y", FORM) == expected
    assert echo(method, {"a": "1", "b": {"c": ["x", "y"]}}) == expected
    boundary = "----x"
    parts = [("a", "1"), ("b[c][]", "x"), ("b[c][]", "y")]
    body = "".join(
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n' for name, value in parts
    )
    assert echo(method, body + f"--{boundary}--\r\n", f"multipart/form-data; boundary={boundary}") == expected


def test_query_and_body_are_merged_and_the_query_wins() -> None:
    assert echo("POST", {"a": 1, "b": 2}, query="b=3&c=4") == {"a": 1, "b": "3", "c": "4"}


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("id[]=1&id[]=2", {"id": ["1", "2"]}),
        ("id[0]=1&id[1]=2", {"id": {"0": "1", "1": "2"}}),
        ("poll[options][]=a&poll[options][]=b&poll[e]=300", {"poll": {"options": ["a", "b"], "e": "300"}}),
        ("source[privacy]=private", {"source": {"privacy": "private"}}),
        (
            "keys[k][auth]=x&data[alerts][mention]=true",
            {"keys": {"k": {"auth": "x"}}, "data": {"alerts": {"mention": "true"}}},
        ),
        ("fields[0][name]=n&fields[0][value]=v", {"fields": {"0": {"name": "n", "value": "v"}}}),
        ("m[][id]=1&m[][text]=a&m[][id]=2", {"m": [{"id": "1", "text": "a"}, {"id": "2"}]}),
        ("m[][id]=1&m[][id]=2&m[][text]=b", {"m": [{"id": "1"}, {"id": "2", "text": "b"}]}),
        ("m[][k][a]=1&m[][k][b]=2&m[][k][a]=3", {"m": [{"k": {"a": "1", "b": "2"}}, {"k": {"a": "3"}}]}),
        ("m[][l][]=1&m[][l][]=2", {"m": [{"l": ["1", "2"]}]}),
        ("a=1&a=2", {"a": "2"}),
        ("a=", {"a": ""}),
        ("a", {"a": ""}),
        ("a+b=c+d%20e", {"a b": "c d e"}),
        ("a[b=1&]x=2&[c]=3", {"a[b": "1", "]x": "2", "[c]": "3"}),
        ("n=%EF%BF%BD", {"n": "\ufffd"}),
        ("n=a%00b", {"n": "ab"}),
    ],
)
def test_names_in_brackets_describe_structures(query: str, expected: dict[str, Any]) -> None:
    assert echo("GET", query=query) == expected
    assert echo("POST", query, FORM) == expected


def test_unescaped_utf8_in_a_query_is_decoded() -> None:
    response = Client().get(ECHO, QUERY_STRING="q=\u65e5\u672c".encode().decode("latin-1"))
    assert response.json() == {"q": "\u65e5\u672c"}


@pytest.mark.parametrize("broken", ["n=%ff%fe", "n=%ED%A0%80", "n%ff=1", "n[%c3]=1", "n=\udcc3"])
def test_invalid_utf8_is_refused_and_not_replaced(broken: str) -> None:
    sent = broken.encode("utf-8", "surrogateescape")
    query = Client().get(ECHO, QUERY_STRING=sent.decode("latin-1"))
    form = Client().generic("POST", ECHO, sent, FORM)
    assert [answer.status_code for answer in (query, form)] == [400, 400]
    assert "error" in form.json()


@pytest.mark.parametrize(("name", "value", "status"), [(b"n", b"\xff", 400), (b"n", "ü\ufffd".encode(), 200)])
def test_a_multipart_text_that_is_no_utf8_is_refused_too(name: bytes, value: bytes, status: int) -> None:
    part = b'--b\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s\r\n--b--\r\n' % (name, value)
    answer = Client().generic("POST", ECHO, part, "multipart/form-data; boundary=b")
    assert answer.status_code == status
    assert status == 400 or answer.json() == {"n": value.decode()}


def test_a_file_may_hold_any_bytes_and_keeps_its_name() -> None:
    part = (
        '--b\r\nContent-Disposition: form-data; name="f"; filename="Größe.txt"\r\n\r\n'.encode() + b"\xff\r\n--b--\r\n"
    )
    answer = Client().generic("POST", ECHO, part, "multipart/form-data; boundary=b")
    assert (answer.status_code, answer.json()["f"]["file"]) == (200, "Größe.txt")


def test_the_order_of_multipart_parts_groups_them_even_with_files_between() -> None:
    boundary = "b"

    def part(name: str, value: str, filename: str = "") -> str:
        named = f'; filename="{filename}"' if filename else ""
        return f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"{named}\r\n\r\n{value}\r\n'

    body = (
        part("m[][id]", "1")
        + part("m[][text]", "one")
        + part("m[][id]", "2")
        + part("m[][file]", "contents", "f.txt")
        + part("m[][id]", "3")
        + part("m[][text]", "three")
        + f"--{boundary}--\r\n"
    )
    answer = echo("PUT", body, f"multipart/form-data; boundary={boundary}")["m"]
    assert [item["id"] for item in answer] == ["1", "2", "3"]
    assert answer[1]["file"]["head"] == "contents"
    assert [item.get("text") for item in answer] == ["one", None, "three"]


def test_files_can_be_sent_together_with_other_values() -> None:
    upload = SimpleUploadedFile("a.png", b"png bytes", "image/png")
    answer = Client().post(ECHO, {"description": "d", "file": upload}).json()
    assert answer["description"] == "d"
    assert answer["file"] == {"file": "a.png", "type": "image/png", "size": 9, "head": "png bytes"}


@pytest.mark.parametrize("body", [[1, 2], "text", 5, None, True])
def test_json_that_is_no_object_is_read_without_an_error(body: Any) -> None:
    assert echo("POST", json.dumps(body)) == {"_json": body}


@pytest.mark.parametrize("content_type", [JSON, "application/json; charset=utf-8", "Application/JSON"])
def test_json_is_recognised_however_its_type_is_written(content_type: str) -> None:
    assert echo("POST", {"a": [1, {"b": None}]}, content_type) == {"a": [1, {"b": None}]}


@pytest.mark.parametrize("content_type", ["text/plain", "application/vnd.api+json", "application/activity+json"])
def test_a_body_of_an_unsupported_type_has_no_parameters(content_type: str) -> None:
    assert echo("POST", {"a": 1}, content_type) == {}


@pytest.mark.parametrize("body", ["{", "{'a': 1}", '{"a": NaN}', '{"a": "\\ud800"', b"\xff\xfe"])
def test_malformed_json_is_400(body: Any) -> None:
    response = Client().post(ECHO, body, JSON)
    assert response.status_code == 400
    assert response.json() == {"status": 400, "error": "Bad Request"}


@pytest.mark.parametrize(
    ("body", "text"),
    [(rb'{"a": "cut \ud83d"}', "cut \ufffd"), (rb'{"a": "\\ud83d"}', "\\ud83d"), (b'\xef\xbb\xbf{"a": "b"}', "b")],
)
def test_an_unpaired_surrogate_and_a_byte_order_mark_change_nothing_else(body: bytes, text: str) -> None:
    """Neither a text column nor a response can contain half a surrogate pair."""
    assert echo("POST", body, JSON) == {"a": text}


def test_an_empty_body_is_no_parameters() -> None:
    assert echo("POST", b"", JSON) == {}
    assert echo("POST", b" ", JSON) == {}


def test_a_body_of_an_unknown_type_is_ignored_and_one_without_a_type_is_read_as_a_form() -> None:
    assert echo("POST", "a=1", "text/plain") == {}
    response = Client().generic("POST", ECHO, "a=1", content_type="")
    assert response.json() == {"a": "1"}


def test_nul_characters_do_not_reach_the_database() -> None:
    assert echo("POST", {"a": "x\0y", "b": ["\0"], "c\0": {"d": "\0z"}}) == {"a": "xy", "b": [""], "c": {"d": "z"}}


def nested_json(depth: int) -> str:
    return '{"a":' * depth + "1" + "}" * depth


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        (nested_json(40), JSON),
        ("[" * 100_000, JSON),
        ("[" * 500 + "]" * 500, JSON),
        (json.dumps({"a": list(range(20_000))}), JSON),
        (json.dumps({str(number): 1 for number in range(20_000)}), JSON),
        ("&".join(f"a{number}=1" for number in range(2100)), FORM),
        ("a" + "[b]" * 40 + "=1", FORM),
        ("a=1&a[b]=2", FORM),
        ("a[]=1&a[b]=2", FORM),
        ("a[b]=1&a[]=2", FORM),
        ("a[][]=1", FORM),
    ],
)
def test_bodies_made_to_exhaust_the_server_are_refused_with_400(body: str, content_type: str) -> None:
    assert Client().post(ECHO, body, content_type).status_code == 400


def test_parameters_at_the_limits_of_depth_and_number_are_read() -> None:
    assert echo("POST", nested_json(31))["a"]
    assert len(echo("POST", "&".join(f"a{number}=1" for number in range(1990)), FORM)) == 1990


def test_a_body_above_one_mebibyte_is_413_unless_the_action_accepts_more() -> None:
    body = json.dumps({"a": "x" * 1_100_000})
    response = Client().post(ECHO, body, JSON)
    assert response.status_code == 413
    assert response.json() == {"error": "Payload too large"}
    assert Client().post("/api/v1/echo/big", body, JSON).status_code == 200
    assert Client().post(ECHO, f"a={'x' * 1_100_000}", FORM).status_code == 413
    upload = {"file": SimpleUploadedFile("a.bin", b"x" * 3_000_000)}
    assert Client().post(ECHO, upload).status_code == 413
    upload = {"file": SimpleUploadedFile("a.bin", b"x" * 3_000_000)}
    assert Client().post("/api/v1/echo/big", upload).json()["file"]["size"] == 3_000_000


def in_chunks(body: bytes, content_type: str) -> Any:
    """Send a body without Content-Length, as a WSGI server that decodes chunks passes it to the application."""
    environ: dict[str, Any] = {
        "wsgi.input": io.BytesIO(body),
        "CONTENT_TYPE": content_type,
        "CONTENT_LENGTH": "",
        "HTTP_TRANSFER_ENCODING": "chunked",
    }
    return Client().generic("POST", ECHO, **environ)


def test_a_body_sent_in_chunks_is_read_up_to_the_limit() -> None:
    assert in_chunks(b'{"a": 1}', JSON).json() == {"a": 1}
    assert in_chunks(b"a=1", FORM).status_code == 411, (
        "the end of such a form cannot be distinguished from a broken connection"
    )
    part = b'--b\r\nContent-Disposition: form-data; name="f"; filename="n"\r\n\r\n%s\r\n--b--\r\n'
    assert in_chunks(part % b"small", "multipart/form-data; boundary=b").json()["f"]["size"] == 5
    for body, content_type in (
        (b'"%s"' % (b"x" * 1_100_000), JSON),
        (part % (b"x" * 1_100_000), "multipart/form-data; boundary=b"),
    ):
        assert in_chunks(body, content_type).status_code == 413


def test_broken_multipart_is_400() -> None:
    for body, content_type in ((b"nonsense", "multipart/form-data; boundary=b"), (b"x", "multipart/form-data")):
        assert Client().generic("POST", ECHO, body, content_type).status_code in (200, 400)
    assert Client().generic("POST", ECHO, b"x", "multipart/form-data").status_code == 400


@given(st.lists(st.tuples(st.text("ab[]01", max_size=12), st.text(max_size=3)), max_size=8))
def test_no_combination_of_parameter_names_causes_an_error(pairs: list[tuple[str, str]]) -> None:
    try:
        nested = parameters.nest(pairs)
    except errors.BadRequest:
        return
    assert all(isinstance(key, str) for key in nested)


def test_unknown_parameters_are_ignored(callers: Tokens) -> None:
    answer = Client().post("/api/v1/echo/draft", {"name": "x", "unheard": "of", "a[b]": "c"}).json()
    assert answer["name"] == "x"


@pytest.mark.parametrize("kind", [FORM, "application/json", "multipart/form-data; boundary=mark"])
def test_an_incomplete_body_is_refused_and_nothing_is_done(kind: str) -> None:
    body = {
        FORM: b"status=hello&visib",
        "application/json": b'{"status": "hello"}',
        "multipart/form-data; boundary=mark": (
            b'--mark\r\nContent-Disposition: form-data; name="status"\r\n\r\nhello\r\n--mark--\r\n'
        ),
    }[kind]
    environ: dict[str, Any] = {"wsgi.input": io.BytesIO(body), "CONTENT_TYPE": kind, "CONTENT_LENGTH": "500"}
    assert Client().generic("POST", ECHO, **environ).status_code == 400


def test_a_multipart_body_without_its_last_boundary_is_refused() -> None:
    body = b'--mark\r\nContent-Disposition: form-data; name="status"\r\n\r\nhello\r\n'
    kind = "multipart/form-data; boundary=mark"
    assert Client(raise_request_exception=False).generic("POST", ECHO, body, kind).status_code == 400
