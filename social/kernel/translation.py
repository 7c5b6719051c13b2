"""Asks the operator's translation service (TRANSLATION_SERVICE), which speaks LibreTranslate's or DeepL's API.

Texts are HTML; elements with `translate="no"` are not translated. The service is not trusted: its answer may be unsafe HTML
of any length.
"""

import logging
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, ClassVar, Final
from urllib.parse import unquote, urlsplit

import orjson
from django.conf import settings
from django.utils.translation import gettext as _

from social.kernel import fragments
from social.kernel.errors import Unavailable
from social.kernel.http import client as http

logger = logging.getLogger(__name__)
UNKNOWN: Final = "und"  # code for an unknown language (ISO 639-2)

TRANSLATION_SECONDS: Final = 15.0
"""Time-out of the service, in seconds. A web request has less time (`social.kernel.http.limits`)."""

_ANSWER_BYTES: Final = 512 * 1024
_LANGUAGES_SECONDS: Final = 86_400
#: Seconds after which the languages are requested again if the service did not return them.
_PAUSE_SECONDS: Final = 60
_LANGUAGES_LIMIT: Final = 200
#: DeepL accepts at most 50 texts in one request.
_TEXTS_LIMIT: Final = 50
_CODE: Final = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8}){0,3}", re.ASCII)
#: Codes that a service may use instead of the code of a post's language.
_OTHER_CODES: Final = {"zh-cn": "zh-hans", "zh-hk": "zh-hant", "zh-tw": "zh-hant", "no": "nb", "nb": "no"}


@dataclass(frozen=True)
class Translated:
    """Translated texts, in the order in which they were sent; `source` is the language that the service has detected."""

    texts: list[str]
    source: str
    provider: str


def is_on() -> bool:
    return bool(settings.TRANSLATION_SERVICE)


def load_languages() -> Mapping[str, Sequence[str]]:
    """Return the target languages of the service, keyed by source language (or UNKNOWN).

    They are requested once a day. Raises Unavailable.
    """
    url: str = settings.TRANSLATION_SERVICE
    key = f"translation_languages:{blake2b(url.encode(), digest_size=8).hexdigest()}"
    known: Mapping[str, Sequence[str]] | None = fragments.load([key]).get(key)
    if known is None:
        try:
            known = _read_answer(_service().load_languages)
        except Unavailable:
            fragments.save({key: {}}, seconds=_PAUSE_SECONDS)
            raise
        fragments.save({key: known}, seconds=_LANGUAGES_SECONDS)
    if not known:
        raise Unavailable(_no_answer())
    return known


def find_language(code: str, offered: Sequence[str] | Mapping[str, Any]) -> str | None:
    """Return the code in `offered` for the language `code`: the same code in any case, another code for the same script, or the
    code without its region. Returns None if there is no such code.
    """
    by_code = {each.lower(): each for each in offered}
    wanted = code.replace("_", "-").lower()
    for each in (wanted, _OTHER_CODES.get(wanted, ""), wanted.partition("-")[0]):
        if each in by_code:
            return by_code[each]
    return None


def translate(texts: Sequence[str], source: str, target: str) -> Translated:
    """Translate HTML texts from the language `source` (UNKNOWN: the service detects it) into the language `target`, both as
    returned by `load_languages`. Raises Unavailable.
    """
    service = _service()

    def translate_all() -> tuple[list[str], str]:
        done: list[str] = []
        found = ""
        for start in range(0, len(texts), _TEXTS_LIMIT):
            answers, detected = service.translate(texts[start : start + _TEXTS_LIMIT], source, target)
            if not isinstance(answers, list):
                raise TypeError
            done += answers
            found = found or detected
        return done, found

    done, found = _read_answer(translate_all)
    if len(done) != len(texts) or not all(isinstance(text, str) for text in done):
        raise _failure("its answer has other texts than it was sent")
    return Translated(done, found or ("" if source == UNKNOWN else source), service.provider)


class _Service:
    """API of a kind of translation service. The methods may raise any error that an answer of an unexpected shape causes."""

    provider: ClassVar[str]
    #: HTTP status of an answer when the quota of translations is used up.
    quota_status: ClassVar[int]
    headers: Mapping[str, str] = {}

    def __init__(self, base: str, key: str) -> None:
        self._base, self._key = base, key

    def load_languages(self) -> dict[str, list[str]]:
        raise NotImplementedError  # each subclass has its own

    def translate(self, texts: Sequence[str], source: str, target: str) -> tuple[list[str], str]:
        """Return the translated texts, and the language that was detected for the first one."""
        raise NotImplementedError  # each subclass has its own

    def _ask(self, method: str, path: str, body: Any = None) -> Any:
        answer = http.ask_service(
            f"{self._base}{path}",
            method=method,
            body=None if body is None else orjson.dumps(body),
            headers={"Accept": "application/json", "Content-Type": "application/json", **self.headers},
            max_bytes=_ANSWER_BYTES,
            deadline=TRANSLATION_SECONDS,
            loopback=settings.TRANSLATION_SERVICE_LOOPBACK,
        )
        if answer.status == self.quota_status:
            raise Unavailable(_("This server has used up its translations for now."))
        if answer.status == 429:
            raise Unavailable(_("Too much is being translated at the moment. Try again later."))
        if not 200 <= answer.status < 300:
            raise _failure(f"it answered {answer.status}")
        return orjson.loads(answer.body)


class _LibreTranslate(_Service):
    """LibreTranslate's API (https://docs.libretranslate.com/api/)."""

    provider = "LibreTranslate"
    quota_status = 403

    def load_languages(self) -> dict[str, list[str]]:
        found = {
            each["code"]: [code for code in _codes(each["targets"]) if code != each["code"]]
            for each in self._ask("GET", "/languages")[:_LANGUAGES_LIMIT]
            if _CODE.fullmatch(each["code"])
        }
        return found | {UNKNOWN: sorted({code for targets in found.values() for code in targets})}

    def translate(self, texts: Sequence[str], source: str, target: str) -> tuple[list[str], str]:
        sent = {"q": texts, "source": "auto" if source == UNKNOWN else source, "target": target, "format": "html"}
        answer = self._ask("POST", "/translate", sent | ({"api_key": self._key} if self._key else {}))
        detected = answer.get("detectedLanguage") or [{}]
        return answer["translatedText"], _code(
            (detected if isinstance(detected, list) else [detected])[0].get("language")
        )


class _DeepL(_Service):
    """DeepL's API (https://developers.deepl.com/docs/api-reference/translate)."""

    provider = "DeepL.com"
    quota_status = 456

    def __init__(self, base: str, key: str) -> None:
        super().__init__(base, key)
        self.headers = {"Authorization": f"DeepL-Auth-Key {key}"}

    def load_languages(self) -> dict[str, list[str]]:
        sources, targets = (
            _codes([_code(each["language"]) for each in self._ask("GET", f"/v2/languages?type={kind}")])
            for kind in ("source", "target")
        )
        # DeepL no longer lists these two targets without a region, but still accepts them.
        targets = sorted({"en", "pt", *targets})
        return {source: [code for code in targets if code != source] for source in (UNKNOWN, *sources)}

    def translate(self, texts: Sequence[str], source: str, target: str) -> tuple[list[str], str]:
        sent: dict[str, Any] = {"text": texts, "target_lang": target.upper(), "tag_handling": "html"}
        if source != UNKNOWN:
            sent["source_lang"] = source.upper()
        found = self._ask("POST", "/v2/translate", sent)["translations"]
        return [each["text"] for each in found], _code(found[0].get("detected_source_language"))


_KINDS: Final[dict[str, type[_Service]]] = {"libretranslate": _LibreTranslate, "deepl": _DeepL}


def _code(written: Any) -> str:
    """Return a language code with its language part in lower case; empty for an invalid code."""
    if not isinstance(written, str) or not _CODE.fullmatch(written):
        return ""
    language, _hyphen, region = written.partition("-")
    return f"{language.lower()}-{region}" if region else language.lower()


def _codes(written: Any) -> list[str]:
    return [code for code in written[:_LANGUAGES_LIMIT] if isinstance(code, str) and _CODE.fullmatch(code)]


def _service() -> _Service:
    # The setting has the form `kind+https://KEY@host/path`.
    parts = urlsplit(settings.TRANSLATION_SERVICE)
    kind, _plus, scheme = parts.scheme.partition("+")
    key, _at, host = parts.netloc.rpartition("@")
    return _KINDS[kind](f"{scheme}://{host}{parts.path.rstrip('/')}", unquote(key))


def _read_answer(read: Callable[[], Any]) -> Any:
    """Call `read`, which reads an answer, and return its result. Raises Unavailable, and logs the reason, if there is no
    answer or if it has an unexpected shape.
    """
    try:
        return read()
    except http.FetchError as error:
        raise _failure(str(error)) from None
    except (ValueError, TypeError, KeyError, IndexError, AttributeError):
        raise _failure("its answer cannot be understood") from None


def _failure(reason: str) -> Unavailable:
    logger.warning("the translation service failed: %s", reason)
    return Unavailable(_no_answer())


def _no_answer() -> str:
    return _("The translation service is not working at the moment. Try again later.")
