"""Keeps typed text when a form is not accepted, because the person has been signed out or because of an error.

A person who was signed out finds the text in the form again after signing in. The text is stored for the person who typed it,
whom a cookie identifies. If another person has signed in and sends the form, it is refused earlier, because signing in changes
the CSRF token.
"""

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
from django.http.response import HttpResponseBase, HttpResponseRedirectBase
from django.template import loader
from django.template.response import TemplateResponse
from lxml.html import document_fromstring, fragments_fromstring, tostring

from social.api import admission
from social.api.limits import STORED_FORMS
from social.kernel import redis
from social.pages.frame import is_local_path

#: Name of the query parameter with the key of a stored form.
PARAMETER: Final = "typed"
#: Fields that are never stored or shown again: passwords and codes.
SECRETS: Final = frozenset({"password", "password1", "password2", "oldpassword", "code", "credential"})
_FORM_FIELDS: Final = frozenset({"csrfmiddlewaretoken", "key", PARAMETER})
#: Hidden fields, which contain no typed text.
_HIDDEN: Final = frozenset({"act", "next"})
_KEPT_SECONDS: Final = 3600
_KEPT_LIMIT: Final = 64 * 1024
_SALT: Final = "who types"
_PURPOSE: Final = "keep a form"
#: Values of choices, numbers and addresses, which do not count as typed text.
_CHOSEN: Final = re.compile(r"[a-z0-9_.,:/-]{0,24}\Z")
#: Characters that HTML documents cannot contain.
_UNWRITABLE: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")
#: Types of inputs for text.
_TEXTS: Final = frozenset({"", "text", "search", "url", "email", "tel", "number", "date", "datetime-local", "time"})


@dataclass(frozen=True)
class StoredForm:
    """Stored form: the path to which it was sent, the page that contained it, its values, whether it had files, and whether its
    sender was signed out.
    """

    key: str
    path: str
    page: str
    values: dict[str, list[str]]
    files: bool
    signed_out: bool


def name_reader(request: HttpRequest, response: HttpResponseBase) -> None:
    """Set a cookie that identifies the reader until the browser is closed, so that text they type can be stored for them."""
    # Requests for ActivityPub paths, such as the path of an embedded post, have no session and no user.
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


def store_form(request: HttpRequest) -> str:
    """Store the form of a request for an hour and return its key; empty if nothing is stored.

    A form is not stored if it has no typed text or is too long, or if its sender is unknown or has stored too many forms.
    """
    values = {name: found for name, found in request.POST.lists() if name not in SECRETS | _FORM_FIELDS}
    page = request.headers.get("Referer", "").removeprefix(f"{request.scheme}://{request.get_host()}")
    if not texts_of(values) and not request.FILES:
        return ""
    return store_values(
        request, request.path, values, page=page if is_local_path(page) else "", files=bool(request.FILES)
    )


def store_values(
    request: HttpRequest, path: str, values: Mapping[str, Sequence[str]], *, page: str = "", files: bool = False
) -> str:
    """Store values of a form that is sent to `path`, as `store_form` does, and return the key."""
    signed_in = request.user.is_authenticated
    values = {name: [_UNWRITABLE.sub("", text) for text in found] for name, found in values.items()}
    reader, key = request.user.pk if signed_in else _reader(request), secrets.token_urlsafe(24)
    stored = json.dumps([path, page, values, files, not signed_in])
    if reader is None or len(stored) > _KEPT_LIMIT:
        return ""
    count = admission.count(STORED_FORMS, subject=str(reader))
    if count is not None and count.exceeded:
        return ""
    with redis.best_effort(_PURPOSE) as attempt:
        redis.client("cache").set(_name(reader, key), stored, ex=_KEPT_SECONDS)
    return "" if attempt.failed else key


def find(request: HttpRequest) -> StoredForm | None:
    """Return the form that is stored for the reader of a page under the key in the query, and remove the key from the query."""
    query, found = request.GET.copy(), None
    key = str(query.pop(PARAMETER)[-1])
    request.GET = query  # type: ignore[assignment]  # not immutable, as a copy
    request.META["QUERY_STRING"] = query.urlencode()
    user = getattr(request, "user", None)
    if request.method in ("GET", "HEAD") and user is not None and user.is_authenticated:
        with redis.best_effort(_PURPOSE):
            found = redis.client("cache").get(_name(user.pk, key))
    stored = StoredForm(key, *json.loads(found)) if found else None
    request.stored_form = stored  # type: ignore[attr-defined]  # read below
    return stored


def _name(reader: object, key: str) -> str:
    return redis.key("cache", "typed", reader, key)


def values_of(request: HttpRequest) -> QueryDict:
    """Return the parameters of a page, together with the values of the form that was stored for its reader."""
    values, stored = request.GET.copy(), getattr(request, "stored_form", None)
    for name, found in (stored.values if stored is not None and stored.path == request.path else {}).items():
        values.setlist(name, found)
    return values


def texts_of(values: Mapping[str, Sequence[str]]) -> list[str]:
    """Return the texts that a person has typed, given the values of a form."""
    return [
        text
        for name, found in values.items()
        if name not in SECRETS | _FORM_FIELDS | _HIDDEN
        for text in found
        if not _CHOSEN.match(text.strip())
    ]


def sent_texts(request: HttpRequest) -> list[str]:
    """Return the texts that were typed into the form of this request, if it was sent from a page of this server."""
    if request.method != "POST":
        return []
    try:
        own = request.headers.get("Origin") == f"{request.scheme}://{request.get_host()}"
        return texts_of(dict(request.POST.lists())) if own else []
    except SuspiciousOperation:
        return []


def with_key(path: str, key: str) -> str:
    """Return the path of a page with the key of a stored form in its query; the path unchanged if `key` is empty."""
    place, hash_sign, anchor = path.partition("#")
    return f"{place}{'&' if '?' in place else '?'}{PARAMETER}={key}{hash_sign}{anchor}" if key else path


def restore_form(request: HttpRequest, response: HttpResponseBase, stored: StoredForm) -> HttpResponseBase:
    """Return the response with the stored values in its form, or, if the response has no such form, with the typed text above
    its content. An error response becomes a redirect to the page that contained the form; a redirect within this server takes
    the key with it.
    """
    if response.status_code >= 400 and urlsplit(stored.page).path not in ("", request.path):
        return HttpResponseRedirect(with_key(stored.page, stored.key))
    if isinstance(response, HttpResponseRedirectBase):
        if is_local_path(response.url):
            response.headers["Location"] = with_key(response.url, stored.key)
        return response

    def fill(rendered: Any) -> None:
        rendered.content = fill_page(rendered.content.decode(), request.path, stored)

    if isinstance(response, TemplateResponse):
        response.add_post_render_callback(fill)
    elif isinstance(response, HttpResponse):
        fill(response)
    return response


def fill_page(html: str, path: str, stored: StoredForm) -> str:
    """Return the page with the stored values in the form that has the same target path and the most fields in common with the
    stored form. Typed text without a field is shown above the content.
    """
    page, names = document_fromstring(html), stored.values.keys() - _HIDDEN
    posted = [form for form in page.forms if form.method == "POST"]
    forms = [form for form in posted if (urlsplit(form.action or "").path or path) == stored.path]
    form = max(forms, key=lambda form: len(names.intersection(form.inputs.keys())), default=None)
    known = set(form.inputs.keys()) if form is not None else set()
    for field in form.xpath(".//input|.//textarea|.//select") if form is not None and known & names else ():
        _fill(field, stored.values.get(field.get("name"), []))
    lost = texts_of({name: found for name, found in stored.values.items() if name not in known})
    context = {"explained": known and stored.signed_out, "typed": lost, "files": stored.files}
    (main,) = page.xpath("//main")
    main[:0] = fragments_fromstring(loader.render_to_string("pages/typed.html", context))
    return str(tostring(page, encoding="unicode", doctype="<!doctype html>"))


def _fill(field: Any, values: list[str]) -> None:
    """Fill a field with the first of its values, which is removed from `values`; mark all chosen options of a choice."""
    kind = field.get("type", "") if field.tag == "input" else field.tag
    if kind == "select" and values:
        for option in field.iter("option"):
            _mark(option, "selected", option.get("value") in values)
    elif kind == "checkbox" or (kind == "radio" and values):
        _mark(field, "checked", field.get("value", "on") in values)
    elif kind == "textarea" and values:
        # HTML parsers drop the first line break in a text area.
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
