"""Tests of the WSGI application in its own process (`social.wsgi`)."""

import json
import os
import subprocess
import sys

import pytest
from django.db import connection

PROGRAM = """if True:
    import gc, io, json, sys, weakref
    from social.wsgi import application
    from django.db import connection

    def ask(path, **more):
        environ = {
            "REQUEST_METHOD": "GET", "PATH_INFO": path, "QUERY_STRING": "", "SERVER_NAME": "localhost", "SERVER_PORT": "80",
            "SERVER_PROTOCOL": "HTTP/1.1", "HTTP_HOST": "localhost", "wsgi.url_scheme": "http", "wsgi.input": io.BytesIO(),
            "REMOTE_ADDR": "127.0.0.1", **more,
        }
        started = []
        response = application(environ, lambda status, headers: started.extend((status, dict(headers))))
        body = b"".join(response)
        held = [weakref.ref(response), weakref.ref(environ["wsgi.input"])]
        before = connection.connection is not None
        response.close()
        after = connection.connection is not None
        del response, environ
        left = sum(one() is not None for one in held)
        return [started[0], started[1].get("Content-Type"), before, after, body.decode(), left]

    gc.disable()
    asked = [("/api/v1/custom_emojis", {}), ("/api/v1/timelines/home", {"HTTP_ACCEPT_LANGUAGE": "de"})]
    asked += [("/api/v1/timelines/home", {}), ("/about", {}), ("/api/v1/custom_emojis", {"REQUEST_METHOD": "HEAD"})]
    print(json.dumps([ask(path, **more) for path, more in asked]))
"""


@pytest.mark.django_db
def test_a_request_leaves_no_connection_language_or_garbage_behind() -> None:
    url = os.environ["DATABASE_URL"].rpartition("/")[0] + "/" + connection.settings_dict["NAME"]
    environment = os.environ | {"DATABASE_URL": url, "DJANGO_SETTINGS_MODULE": "social.settings.base"}
    ran = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    emojis, german, english, page, head = found = json.loads(ran.stdout)
    assert emojis[:2] == ["200 OK", "application/json; charset=utf-8"]
    assert json.loads(emojis[4]) == []
    assert emojis[2], "a connection was used"
    assert not any(after for _status, _type, _before, after, _body, _left in found)
    assert [left for *_, left in (emojis, german, english, head)] == [0, 0, 0, 0], (
        "objects are freed without a garbage collection"
    )
    assert german[0] == english[0] == "401 Unauthorized"
    assert json.loads(english[4]) == {"error": "The access token is invalid"} != json.loads(german[4])
    assert (page[0], page[1]) == ("200 OK", "text/html; charset=utf-8")
    assert head[0] == "200 OK"
