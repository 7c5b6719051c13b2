"""Reads blocklists: CSV as Mastodon exports domain blocks, plain lists with one domain per line, JSON of Mastodon and of
GoToSocial (exports of domain permissions), and FIRES (https://fires.fedimod.org).
"""

import io
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Final

from django.utils.translation import gettext as _

from accounts.services.block_files import Entry, UnreadableFile, parse_lines, read_lines
from moderation.models import DomainSeverity
from moderation.policies.domain_rules import DomainRuleDraft, domain_elsewhere
from moderation.services.domain_files import SEVERITIES, RuleFile
from social.kernel import json

BYTES_LIMIT: Final = 4 * 1024 * 1024
"""Maximum size of a list."""

LINES_LIMIT: Final = 20_000
"""Maximum number of lines of a list."""

PROBLEMS_LIMIT: Final = 50

_POLICIES: Final = {
    "drop": DomainSeverity.SUSPEND,
    "reject": DomainSeverity.SUSPEND,
    "filter": DomainSeverity.SILENCE,
}
_COMMENTS: Final = ("public_comment", "comment", "publicComment", "summary")
# A document with one of these keys is a page of a feed of changes, and is refused, because the first page has the oldest
# changes: servers would be blocked although their entries were retracted later.
_PAGE_KEYS: Final = frozenset({"next", "partOf", "first"})
_FLAGS: Final = ("reject_media", "reject_reports", "obfuscate")
_SEPARATOR: Final = re.compile(rb"[,;\t]")
_COMMENT: Final = re.compile(rb"^(?:\xef\xbb\xbf)?[ \t]*#.*$", re.MULTILINE)
# Name for the second column of a file without a header. No name in a header equals it, because headers are read in lower case.
_SECOND: Final = "Second"
_Lines = list[tuple[int, dict[str, str]]]


@dataclass(frozen=True)
class ReadList:
    """Entries of a list, and descriptions of the lines that cannot be used. `unread` are the names and digests in these
    lines; `snapshot` is set if the document contains only the address of the list.
    """

    entries: list[Entry[DomainRuleDraft]] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    problems_count: int = 0
    unread: frozenset[str] = frozenset()
    snapshot: str = ""


def read_list(body: bytes) -> ReadList:
    """Return the entries of a list. Raises UnreadableFile if the body is not a list, is too long, or has no valid line."""
    begin = body.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if begin == b"<":
        raise UnreadableFile(_("This is a web page, not a list."))
    lines: _Lines
    if begin in (b"{", b"["):
        document = _json(body)
        if snapshot := _snapshot_of(document):
            return ReadList(snapshot=snapshot)
        lines = list(islice(_json_lines(document), LINES_LIMIT + 1))
    else:
        lines = _csv_lines(body)
    # The limit is checked before the lines are parsed, because normalising non-Latin domains is slow (security row 78).
    if len(lines) > LINES_LIMIT:
        raise UnreadableFile(_("The list has more than %(most)d lines.") % {"most": LINES_LIMIT})
    entries = parse_lines(RuleFile(), lines)
    good = [entry for entry in entries if not entry.problem]
    bad = [_problem(entry) for entry in entries if entry.problem]
    if bad and not good:
        raise UnreadableFile(_("No line of the list names a server: %(problem)s") % {"problem": bad[0]})
    names = {domain_elsewhere(entry.name) or entry.name.lower() for entry in entries if entry.problem}
    digests = {values["digest"].lower() for _number, values in lines if values.get("digest")}
    return ReadList(good, bad[:PROBLEMS_LIMIT], len(bad), frozenset(names | digests))


def _problem(entry: Entry[DomainRuleDraft]) -> str:
    return _("Line %(line)d, %(name)s: %(reason)s") % {
        "line": entry.line,
        "name": entry.name[:253] or "''",
        "reason": entry.problem,
    }


def _csv_lines(body: bytes) -> _Lines:
    lines = read_lines(RuleFile(), _without_comments(body), most=LINES_LIMIT, others=(_SECOND,))
    return [(number, _columns(values)) for number, values in lines]


def _columns(values: dict[str, str]) -> dict[str, str]:
    """Return the values of a line by column, without comments after the name of the server and after the severity."""
    columns = values | {"domain": _without_tail(values.get("domain", ""))}
    if (second := columns.pop(_SECOND, None)) is not None:
        # In files without a header line, the second column may be the severity or the reason.
        severity = _without_tail(second)
        columns["severity"] = severity if severity.lower() in SEVERITIES else ""
    return columns


def _without_tail(text: str) -> str:
    return re.split(r"\s#", text, maxsplit=1)[0].strip()


def _without_comments(body: bytes) -> bytes:
    """Return the list with comment lines, which begin with `#`, replaced by empty lines, so that line numbers stay the
    same. Lines below a header line are kept, because a line that begins with `#` may be part of a reason there.
    """
    count, begin = 0, 0
    for line in io.BytesIO(body):
        text = line.removeprefix(b"\xef\xbb\xbf").strip().lower()
        if b"domain" in [name.strip().strip(b'"').removeprefix(b"#") for name in _SEPARATOR.split(text)]:
            return b"\n" * count + body[begin:]
        if text and not text.startswith(b"#"):
            break
        count, begin = count + 1, begin + len(line)
    return _COMMENT.sub(b"", body)


def _json(body: bytes) -> Any:
    if rb"\u0000" in body:
        raise UnreadableFile(_("The file contains NUL bytes, so it is not a text file."))
    try:
        return json.loads(body)
    except json.JSONDecodeError as error:
        raise UnreadableFile(_("This is not a valid JSON document.")) from error


def _snapshot_of(document: Any) -> str:
    """Return the address of the snapshot that a FIRES dataset names; empty for all other documents."""
    if not isinstance(document, dict):
        return ""
    for name in ("endpoints", "endpoint"):
        endpoints = document.get(name)
        if isinstance(endpoints, dict) and isinstance(endpoints.get("snapshot"), str):
            return str(endpoints["snapshot"])
    return ""


def _json_lines(document: Any) -> Iterator[tuple[int, dict[str, str]]]:
    items = document
    if isinstance(document, dict):
        items = next((document[name] for name in ("orderedItems", "items") if name in document), None)
    if not isinstance(items, list):
        raise UnreadableFile(_("The JSON document is not a list of servers."))
    if isinstance(document, dict) and not document.keys().isdisjoint(_PAGE_KEYS):
        raise UnreadableFile(_("This is only one page of a list. For FIRES, enter the address of the dataset."))
    for number, item in enumerate(items, start=1):
        values = _values(item)
        if values is not None:
            yield number, values


def _values(item: Any) -> dict[str, str] | None:
    """Return the values of a JSON item, keyed by CSV column; None for an item that does not request a block."""
    if isinstance(item, str):
        return {"domain": item}
    if not isinstance(item, dict):
        return {"domain": str(item)[:100]}
    if "domain" not in item and ("type" in item or "entityKey" in item or "entity" in item):
        return _recommended(item)
    # GoToSocial's lists have no severity; they have `silenced_at` for limited servers.
    severity = item.get("severity") or ("silence" if item.get("silenced_at") else "suspend")
    values = {"domain": str(item.get("domain") or ""), "severity": str(severity), "public_comment": _comment(item)}
    if "*" in values["domain"] and isinstance(item.get("digest"), str):
        values["digest"] = item["digest"]
    return values | {name: str(item[name]) for name in _FLAGS if isinstance(item.get(name), bool)}


def _recommended(item: dict[str, Any]) -> dict[str, str] | None:
    """Return the values of a FIRES item; None for an item that does not recommend blocking or limiting a server."""
    sent = item.get("entity")
    entity: dict[str, Any] = sent if isinstance(sent, dict) else {}
    kind = str(item.get("entityKind") or entity.get("type") or "domain").lower()
    policy = str(item.get("recommendedPolicy") or item.get("recommended_policy") or "").lower()
    is_meant = re.split("[:#]", str(item.get("type", "")))[-1] == "Recommendation"
    if not is_meant or kind != "domain" or policy in ("", "accept"):
        return None
    return {
        "domain": str(item.get("entityKey") or entity.get("value") or ""),
        "severity": _POLICIES.get(policy, policy),
        "public_comment": _comment(item),
    }


def _comment(item: dict[str, Any]) -> str:
    return next((item[name] for name in _COMMENTS if isinstance(item.get(name), str)), "")
