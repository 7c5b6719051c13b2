"""A translation service on this machine, with the APIs of LibreTranslate and DeepL, which returns text in capitals."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any

import orjson

from social.kernel.text.markup import Tag, tokenise
from tests.support.site import answering, listening

LANGUAGES = ("de", "en", "ja")
KEY = "a key:fx"


class Translator:
    """The service: `asked` contains the received bodies, keyed by path, and `answer` replaces its response."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Any]] = []
        self.answer: tuple[int, bytes] | None = None
        translator = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                self.respond(None)

            def do_POST(self) -> None:
                self.respond(orjson.loads(self.rfile.read(int(self.headers["Content-Length"]))))

            def respond(self, body: Any) -> None:
                translator.asked.append((self.path, body))
                status, data = translator.answer or translator.find_answer(self.path, body, self.headers)
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_: Any) -> None:
                pass

        self.http = listening(Handler)

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.http.server_port}"

    @property
    def translations(self) -> list[Any]:
        return [body for _path, body in self.asked if body is not None]

    def find_answer(self, path: str, body: Any, headers: Any) -> tuple[int, bytes]:
        answer: Any
        if path.startswith("/v2/") and headers["Authorization"] != f"DeepL-Auth-Key {KEY}":
            return 403, b""
        if path == "/languages":
            answer = [{"code": code, "name": code, "targets": [*LANGUAGES]} for code in LANGUAGES]
        elif path == "/translate":
            answer = {"translatedText": [in_capitals(text) for text in body["q"]]}
            if body["source"] == "auto":
                answer["detectedLanguage"] = [{"language": "ja", "confidence": 90} for _ in body["q"]]
        elif path == "/v2/languages?type=source":
            answer = [{"language": code.upper()} for code in LANGUAGES]
        elif path == "/v2/languages?type=target":
            answer = [{"language": code} for code in ("DE", "EN-GB", "EN-US", "JA", "ZH-HANS")]
        elif path == "/v2/translate":
            source = body.get("source_lang", "JA")
            answer = {
                "translations": [
                    {"detected_source_language": source, "text": in_capitals(text)} for text in body["text"]
                ]
            }
        else:
            return 404, b""
        return 200, orjson.dumps(answer)


def in_capitals(html: str) -> str:
    """Return the HTML with its text in capitals, except in elements with `translate="no"`."""
    written: list[str] = []
    opened: list[bool] = []
    for token in tokenise(html):
        if isinstance(token, Tag):
            if token.closing:
                opened.pop()
            elif token.name != "br":
                opened.append('translate="no"' in token.attributes)
            written.append(f"<{'/' if token.closing else ''}{token.name}{token.attributes}>")
        else:
            written.append(token if any(opened) else token.upper())
    return "".join(written)


@contextmanager
def translating() -> Iterator[Translator]:
    """Run a translation service during the block."""
    translator = Translator()
    with answering(translator.http):
        yield translator
