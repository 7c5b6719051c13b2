"""Text that somebody typed into a form which was not taken: because they were signed out meanwhile, or because of an error.

Who was signed out finds it in the form again after signing in. It is kept for who typed it, whom a cookie names: a form that
somebody else has sent is refused before, because signing in changes the token against forgery.
"""

from __future__ import annotations

import json
import re
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from django.conf import settings
from django.core import signing
from django.core.exceptions import SuspiciousOperation
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, QueryDict
from django.http.response import HttpResponseBase
from django.template import loader
from django.template.response import TemplateResponse
from lxml.html import document_fromstring, fragments_fromstring, tostring

from social.kernel import redis
from social.pages.frame import is_local_path

#: Name of the parameter with the key of a kept form.
PARAMETER: Final = "typed"
#: Fields that are never kept or shown again: passwords, codes, and what each form has of its own.
SECRETS: Final = frozenset({"password", "password1", "password2", "oldpassword", "code", "credential"})
_FORM_FIELDS: Final = frozenset({"csrfmiddlewaretoken", "key", PARAMETER})
#: Fields that nobody types into.
_HIDDEN: Final = frozenset({"act", "next"})
_KEPT_SECONDS: Final = 3600
_KEPT_LIMIT: Final = 64 * 1024
_SALT: Final = "who types"
_PURPOSE: Final = "keep a form"
#: Values of choices, numbers and addresses, which nobody has typed.
_CHOSEN: Final = re.compile(r"[a-z0-9_.,:/-]{0,24}\Z")
#: Characters that no document can hold.
_UNWRITABLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
#: Types of inputs into which text is typed.
_TEXTS: Final = frozenset({"", "text", "search", "url", "email", "tel", "number", "date", "datetime-local", "time"})


@dataclass(frozen=True)
class Kept:
    """A form: the path to which it was sent, the page on which it stood, its values, whether it had files, and whether somebody
    was signed out when they sent it.
    """

    key: str
    path: str
    page: str
    values: dict[str, list[str]]
    files: bool
    signed_out: bool


def name_reader(request: HttpRequest, response: HttpResponseBase) -> None:
    """Have the browser remember, until it is closed, who reads a page and may type into it."""
    # Pages at paths of documents for other servers, such as that of an embedded post, have no session.
    user = getattr(request, "user", None)
    if user is not None and user.is_authenticated and _reader(request) != user.pk:
        response.set_cookie(
            settings.READER_COOKIE_NAME,
            signing.dumps(user.pk, salt=_SALT),
            secure=settings.SESSION_COOKIE_SECURE,
            httponly=True,
            samesite="Lax",
        )


def _reader(request: HttpRequest) -> Any:
    try:
        return signing.loads(request.COOKIES.get(settings.READER_COOKIE_NAME, ""), salt=_SALT)
    except signing.BadSignature:
        return None


def keep(request: HttpRequest) -> str:
    """Keep the form of a request for an hour and return its key; empty if there is no text in it, if it is too long, and if
    nobody knows who typed it.
    """
    values = {name: found for name, found in request.POST.lists() if name not in SECRETS | _FORM_FIELDS}
    page = request.headers.get("Referer", "").removeprefix(f"{request.scheme}://{request.get_host()}")
    if not texts_of(values) and not request.FILES:
        return ""
    return keep_values(
        request, request.path, values, page=page if is_local_path(page) else "", files=bool(request.FILES)
    )


def keep_values(
    request: HttpRequest, path: str, values: Mapping[str, Sequence[str]], *, page: str = "", files: bool = False
) -> str:
    """Keep values for the form that is sent to a path, as `keep` does."""
    signed_in = request.user.is_authenticated
    values = {name: [_UNWRITABLE.sub("", text) for text in found] for name, found in values.items()}
    reader, key = request.user.pk if signed_in else _reader(request), secrets.token_urlsafe(24)
    kept = json.dumps([path, page, values, files, not signed_in])
    if reader is None or len(kept) > _KEPT_LIMIT:
        return ""
    with redis.best_effort(_PURPOSE) as attempt:
        redis.client("cache").set(_name(reader, key), kept, ex=_KEPT_SECONDS)
    return "" if attempt.failed else key


def find(request: HttpRequest) -> Kept | None:
    """Return the form that was kept for the reader of a page, and take its key out of the request's address."""
    query, found = request.GET.copy(), None
    key = str(query.pop(PARAMETER)[-1])
    request.GET = query  # type: ignore[assignment]  # not immutable, as a copy
    request.META["QUERY_STRING"] = query.urlencode()
    user = getattr(request, "user", None)
    if request.method in ("GET", "HEAD") and user is not None and user.is_authenticated:
        with redis.best_effort(_PURPOSE):
            found = redis.client("cache").get(_name(user.pk, key))
    kept = Kept(key, *json.loads(found)) if found else None
    request.kept = kept  # type: ignore[attr-defined]  # read below
    return kept


def _name(reader: object, key: str) -> str:
    return redis.key("cache", "typed", reader, key)


def values_of(request: HttpRequest) -> QueryDict:
    """Return the parameters of a page, and the values of the form that was kept for its reader."""
    values, kept = request.GET.copy(), getattr(request, "kept", None)
    for name, found in (kept.values if kept is not None and kept.path == request.path else {}).items():
        values.setlist(name, found)
    return values


def texts_of(values: Mapping[str, Sequence[str]]) -> list[str]:
    """Return what a person has typed, of the values of a form."""
    return [
        text
        for name, found in values.items()
        if name not in SECRETS | _FORM_FIELDS | _HIDDEN
        for text in found
        if not _CHOSEN.match(text.strip())
    ]


def sent_texts(request: HttpRequest) -> list[str]:
    """Return what was typed into the form of this request, if the form was on a page of this server."""
    if request.method != "POST":
        return []
    try:
        own = request.headers.get("Origin") == f"{request.scheme}://{request.get_host()}"
        return texts_of(dict(request.POST.lists())) if own else []
    except SuspiciousOperation:
        return []


def with_key(path: str, key: str) -> str:
    """Return the path of a page with the key of a kept form; the path itself without one."""
    return f"{path}{'&' if '?' in path else '?'}{PARAMETER}={key}" if key else path


def put_back(request: HttpRequest, response: HttpResponseBase, kept: Kept) -> HttpResponseBase:
    """Return the answer with what was kept in its form, or with the text itself where there is no such form; the page on which
    the form stood if this one shows none.
    """
    if response.status_code >= 400 and urlsplit(kept.page).path not in ("", request.path):
        return HttpResponseRedirect(with_key(kept.page, kept.key))

    def fill(rendered: Any) -> None:
        rendered.content = filled(rendered.content.decode(), request.path, kept)

    if isinstance(response, TemplateResponse):
        response.add_post_render_callback(fill)
    elif isinstance(response, HttpResponse):
        fill(response)
    return response


def filled(html: str, path: str, kept: Kept) -> str:
    """Return a page with the kept values in the form that has most of their fields and is sent to the same path."""
    page, names = document_fromstring(html), kept.values.keys() - _HIDDEN
    posted = [form for form in page.forms if form.method == "POST"]
    forms = [form for form in posted if (urlsplit(form.action or "").path or path) == kept.path]
    form = max(forms, key=lambda form: len(names.intersection(form.inputs.keys())), default=None)
    known = set(form.inputs.keys()) if form is not None else set()
    for field in form.xpath(".//input|.//textarea|.//select") if form is not None and known & names else ():
        _fill(field, kept.values.get(field.get("name"), []))
    lost = texts_of({name: found for name, found in kept.values.items() if name not in known})
    context = {"explained": known and kept.signed_out, "typed": lost, "files": kept.files}
    (main,) = page.xpath("//main")
    main[:0] = fragments_fromstring(loader.render_to_string("pages/typed.html", context))
    return str(tostring(page, encoding="unicode", doctype="<!doctype html>"))


def _fill(field: Any, values: list[str]) -> None:
    """Give a field the first of its values, which is taken off them; one that is chosen may have several."""
    kind = field.get("type", "") if field.tag == "input" else field.tag
    if kind == "select" and values:
        for option in field.iter("option"):
            _mark(option, "selected", option.get("value") in values)
    elif kind == "checkbox" or (kind == "radio" and values):
        _mark(field, "checked", field.get("value", "on") in values)
    elif kind == "textarea" and values:
        # Parsers drop the first line break of a text area.
        field.text = "\n" + values.pop(0).replace("\r\n", "\n")
    elif kind in _TEXTS and values:
        field.set("value", values.pop(0))
    else:
        return
    for around in field.iterancestors("details"):
        around.set("open", "")


def _mark(field: Any, name: str, wanted: bool) -> None:
    field.attrib.pop(name, None)
    if wanted:
        field.set(name, "")
