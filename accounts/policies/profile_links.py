"""Rules for verified links in profile fields: the linked page links back (contract, entities "Field"; security row 3)."""

import html
from collections.abc import Collection, Mapping
from typing import Any, Final

from social.kernel.errors import Unavailable
from social.kernel.http.addresses import parse_url
from social.kernel.text.markup import plain, tokenise

# Elements whose content is text, even if it looks like tags (HTML Standard, section 13.2.5).
_TEXTS: Final = frozenset({"textarea", "title", "xmp", "noscript"})


def link_to_verify(value: str) -> str | None:
    """Return the canonical URL if the value of a field is a URL in its canonical spelling and nothing else; otherwise None."""
    try:
        canonical = parse_url(value).url
    except Unavailable:
        return None
    return canonical if canonical in (value, f"{value}/") else None


def link_of_field(field: Mapping[str, Any], *, local: bool) -> str | None:
    """Return the address in a field that can be verified. A field of a remote account must contain only a link, whose
    text and target are both this address.
    """
    if local:
        return link_to_verify(field["value"])
    tags = [token for token in tokenise(field["html"]) if not isinstance(token, str)]
    links = [tag for tag in tags if tag.name == "a" and not tag.closing]
    address = html.unescape(links[0].read_attributes().get("href", "")) if len(links) == 1 else ""
    return link_to_verify(address) if address and plain(field["html"]) == address else None


def links_back(page: str, addresses: Collection[str]) -> bool:
    """Tell whether an HTML page has a link with `rel="me"` to one of the addresses, ignoring case.

    Links in comments, scripts, templates and text fields, which others may have written, do not count.
    """
    expected = {address.lower() for address in addresses}
    inside = ""
    for token in tokenise(page):
        if isinstance(token, str):
            continue
        if inside:
            inside = "" if token.closing and token.name == inside else inside
        elif token.name in _TEXTS and not token.closing:
            inside = token.name
        elif token.name in ("a", "link") and not token.closing:
            attributes = token.read_attributes()
            relations = html.unescape(attributes.get("rel", "")).lower().split()
            if "me" in relations and html.unescape(attributes.get("href", "")).strip().lower() in expected:
                return True
    return False
