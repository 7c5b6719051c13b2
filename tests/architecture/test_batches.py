"""Tests that lists of unknown length are queried as arrays or in batches, because a query accepts at most 65,535 parameters."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
APPS = ("social", "accounts", "statuses", "timelines", "moderation", "notifications", "federation")
_SUBQUERIES = frozenset({"values", "values_list"})
# A module without these words has no unbatched use, and searching for words is much faster than parsing.
_SIGN = re.compile("__in|bulk_|in_bulk")

BOUNDED = {
    "accounts/identity/admin/users.py: pk__in": "a subquery",
    "accounts/services/tags.py: tag_id__in": "the hashtags of one post, or a subquery of them",
    "accounts/identity/services/sessions.py: pk__in": "a subquery with a limit",
    "accounts/services/tags.py: id__in": "a subquery with a limit",
    "federation/views/actors.py: visibility__in": "one of two constants",
    "notifications/services/notifying.py: id__in": "a subquery with a limit",
    "statuses/queries/tags.py: tag_id__in": "a subquery",
}
"""Unbatched uses whose lists are known to be short, with the reasons."""


def found_in(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and name of every unbatched use in a module."""
    if not _SIGN.search(source):
        return
    for node in ast.walk(ast.parse(source)):
        if not isinstance(node, ast.Call):
            continue
        for keyword in node.keywords:
            if keyword.arg is not None and keyword.arg.endswith("__in") and not _is_bounded(keyword.value):
                yield node.lineno, keyword.arg
        if isinstance(node.func, ast.Attribute):
            name = node.func.attr
            named = {keyword.arg for keyword in node.keywords}
            listed = bool(node.args) and isinstance(node.args[0], ast.List) and _is_bounded(node.args[0])
            if name in ("bulk_create", "bulk_update") and "batch_size" not in named and not listed:
                yield node.lineno, name
            if name == "in_bulk" and (node.args or node.keywords):
                yield node.lineno, name


def _is_bounded(value: ast.expr) -> bool:
    """Return whether the value is a literal list, a constant or a subquery."""
    if isinstance(value, ast.Tuple | ast.List | ast.Set):
        return not any(isinstance(item, ast.Starred) for item in value.elts)
    if isinstance(value, ast.Name):
        return value.id.isupper()
    if isinstance(value, ast.Attribute):
        return value.attr.isupper()
    if isinstance(value, ast.Subscript):
        return _is_bounded(value.value)
    return isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr in _SUBQUERIES


def test_no_list_of_unknown_length_is_passed_as_single_query_parameters() -> None:
    unbatched = []
    for app in APPS:
        for path in sorted((ROOT / app).rglob("*.py")):
            if "migrations" in path.parts:
                continue
            where = path.relative_to(ROOT).as_posix()
            for line, name in found_in(path.read_text()):
                if f"{where}: {name}" not in BOUNDED:
                    unbatched.append(f"{where}:{line}: {name} (use __one_of, or batch_size)")
    assert unbatched == []


@pytest.mark.parametrize(
    ("source", "refused"),
    [
        ("Status.objects.filter(id__in=ids)", ["id__in"]),
        ("Q(id__in=[*ids])", ["id__in"]),
        ("Q(id__in=[one.id for one in found])", ["id__in"]),
        ("Tag.objects.bulk_create(rows)", ["bulk_create"]),
        ("Tag.objects.in_bulk(ids)", ["in_bulk"]),
        ("Q(visibility__in=OPEN_VISIBILITIES, state__in=[A, B], id__in=found.values('id'), name__one_of=names)", []),
        ("Tag.objects.bulk_create(rows, batch_size=500)", []),
        ("Tag.objects.bulk_create([tag])", []),
    ],
)
def test_unbatched_lists_are_found_and_other_arguments_are_not(source: str, refused: list[str]) -> None:
    assert [name for _line, name in found_in(source)] == refused
