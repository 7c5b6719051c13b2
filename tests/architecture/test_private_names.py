"""Tests that all private names that the code uses from libraries are listed in one table, with reasons (docs/adr/0027)."""

import ast
import importlib
import inspect
import pkgutil
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.test_comments import PACKAGES, ROOT

TABLE = ROOT / "docs" / "adr" / "0027-shorter-ways.md"
_PRIVATE = re.compile(r"_[A-Za-z0-9]\w*(?<!_)")
#: Names that are documented by their libraries, exist for the type checker only, or are set by metaclasses.
_ALLOWED = {"_meta", "_default_manager", "_base_manager", "_exit", "_request", "_open", "_save", "_StrPromise"} | {
    "_abc_impl",
    "_declared_fields",
    "_is_protocol",
}


def read(source: str) -> tuple[set[str], list[tuple[int, str]]]:
    """Return the names that a source defines, and the private attributes and modules that it uses, with their lines."""
    defined, used = set(), []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            defined.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            defined.add(node.id)
        elif isinstance(node, ast.Attribute):
            used.append((node.lineno, node.attr))
            if isinstance(node.ctx, ast.Store) and isinstance(node.value, ast.Name) and node.value.id == "self":
                defined.add(node.attr)
        elif isinstance(node, ast.ImportFrom | ast.Import):
            used += [(node.lineno, alias.name.rpartition(".")[2]) for alias in node.names]
    return defined, [(line, name) for line, name in used if _PRIVATE.fullmatch(name)]


def overridden() -> Iterator[str]:
    """Yield private names of library classes that classes of this project override."""
    for package in PACKAGES:
        for found in pkgutil.walk_packages([str(ROOT / package)], f"{package}."):
            # Settings and programs cannot be imported in the test process.
            if not re.search(r"\.(migrations|settings|__main__|asgi|wsgi)\b", found.name):
                importlib.import_module(found.name)
    for name, module in [*sys.modules.items()]:
        if name.split(".")[0] in PACKAGES:
            for kind in vars(module).values():
                if inspect.isclass(kind) and kind.__module__ == name:
                    foreign = {
                        attribute
                        for base in kind.__mro__[1:]
                        if base.__module__.split(".")[0] not in PACKAGES
                        for attribute in vars(base)
                    }
                    yield from (each for each in vars(kind).keys() & foreign if _PRIVATE.fullmatch(each))


def test_private_names_of_libraries_are_listed_in_the_table() -> None:
    paths = [path for package in PACKAGES for path in (ROOT / package).rglob("*.py") if "migrations" not in path.parts]
    sources = {path: read(path.read_text()) for path in paths}
    own = {name for defined, _used in sources.values() for name in defined}
    table = set(_PRIVATE.findall(TABLE.read_text())) | _ALLOWED
    known = table | own
    found = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path, (_defined, used) in sources.items()
        for line, name in used
        if name not in known
    ]
    assert found == [], "\n".join(found)
    assert sorted(set(overridden()) - table) == []


def test_a_private_name_is_found(tmp_path: Path) -> None:
    source = "from library import _part\n\nclass Own:\n    def _made(self):\n        self._kept = self._made() + other._state\n"
    defined, used = read(source)
    assert [(line, name) for line, name in used if name not in defined] == [(1, "_part"), (5, "_state")]
