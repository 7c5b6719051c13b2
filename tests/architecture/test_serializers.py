"""Tests that inputs and entities are defined in `serializers/`, each in one way.

Entities are subclasses of `EntitySerializer`, and inputs are subclasses of `Form` or `Input`; viewsets only call them.
"""

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
APPS = ("accounts", "statuses", "timelines", "moderation", "notifications", "federation")


def _is_no_viewset(node: ast.AST) -> bool:
    return isinstance(node, ast.ClassDef) and not node.name.endswith("ViewSet")


def _reads_parameters(node: ast.AST) -> bool:
    """Return whether a module imports anything for reading parameters other than the type `Reading`."""
    return (
        isinstance(node, ast.ImportFrom)
        and node.module in ("social.api.inputs", "social.api.fields")
        and any(alias.name != "Reading" for alias in node.names)
    )


def _acts(node: ast.AST) -> bool:
    """Return whether the node imports anything but classes and constants from services."""
    if isinstance(node, ast.Import):
        return any(".services" in alias.name for alias in node.names)
    if not isinstance(node, ast.ImportFrom) or not node.module:
        return False
    from_services = ".services" in f".{node.module}."
    names = [alias.name for alias in node.names]
    return "services" in names or (from_services and any(name.lstrip("_")[:1].islower() for name in names))


def _is_another_form(node: ast.AST) -> bool:
    """Return whether the node is a function that seems to build entities: its name says so, or it returns dicts."""
    if not isinstance(node, ast.FunctionDef) or node.name == "to_representation" or node.name.startswith("_"):
        return False
    answer = ast.unparse(node.returns) if node.returns is not None else ""
    return answer.startswith(("dict[str", "list[dict")) or node.name.endswith(("_entity", "_entities"))


def _writes_an_entity(node: ast.AST) -> bool:
    """Return whether the node returns a response written as a dict; errors, template context and headers do not count."""
    if isinstance(node, ast.Return) and node.value is not None:
        shown = [node.value]
    elif isinstance(node, ast.Call) and ast.unparse(node.func).endswith(("reply", ".respond")):
        shown = list(node.args)
    else:
        return False
    while shown:
        part = shown.pop()
        if isinstance(part, ast.Dict) and part.keys and ast.unparse(part.keys[0] or part) != "'error'":
            return True
        shown += [child for child in ast.iter_child_nodes(part) if not isinstance(child, ast.keyword)]
    return False


RULES: dict[str, tuple[str, Callable[[ast.AST], bool]]] = {
    "viewsets define viewsets only": ("viewsets", _is_no_viewset),
    "viewsets read inputs": ("viewsets", _reads_parameters),
    "serializers call no services": ("serializers", _acts),
    "entities have one form": ("serializers", _is_another_form),
    "viewsets write no entities": ("viewsets", _writes_an_entity),
}


#: Modules that build the cached parts of entities, and combine them with their counters.
JOINING = {
    "accounts/serializers/account.py",
    "accounts/serializers/own_account.py",
    "moderation/serializers/announcement.py",
    "notifications/serializers/notification.py",
    "statuses/serializers/presenting.py",
    "statuses/serializers/status.py",
}


def _files_of(package: str, app: Path) -> set[Path]:
    """Return the modules of this package in an app and in the app's features; the package may be a single file."""
    patterns = [f"{folder}{package}{rest}" for folder in ("", "*/") for rest in (".py", "/**/*.py")]
    return {path for pattern in patterns for path in app.glob(pattern)}


def _nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a module except methods named `context`, which pass loaded rows to serializers."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not (isinstance(child, ast.FunctionDef) and child.name == "context"):
            yield from _nodes(child)


def _breaks(rule: str, root: Path) -> Iterator[str]:
    package, breaks = RULES[rule]
    for app in APPS:
        for path in sorted(_files_of(package, root / app)):
            name = path.relative_to(root).as_posix()
            if rule == "entities have one form" and name in JOINING:
                continue
            for node in _nodes(ast.parse(path.read_text())):
                if breaks(node):
                    yield f"{name}:{getattr(node, 'lineno', 0)}"


@pytest.mark.parametrize("rule", RULES)
def test_inputs_and_entities_are_defined_in_serializers_only(rule: str) -> None:
    assert list(_breaks(rule, ROOT)) == []


@pytest.mark.parametrize(
    ("rule", "path", "source"),
    [
        ("viewsets define viewsets only", "viewsets/planted.py", "class PostInput(Input[Draft]):\n    draft = Draft\n"),
        ("viewsets define viewsets only", "viewsets/planted.py", "@dataclass\nclass Form:\n    name: str\n"),
        ("viewsets read inputs", "viewsets/planted.py", "from social.api.inputs import parameters\n"),
        ("viewsets read inputs", "feature/viewsets.py", "from social.api.inputs import parameters\n"),
        ("viewsets read inputs", "feature/viewsets/planted.py", "from social.api.inputs import parameters\n"),
        ("serializers call no services", "serializers/planted.py", "from accounts.services.following import follow\n"),
        ("serializers call no services", "serializers/inputs/planted.py", "from accounts.services import following\n"),
        ("serializers call no services", "serializers/planted.py", "from accounts import services\n"),
        ("serializers call no services", "serializers/planted.py", "import accounts.services.following\n"),
        ("entities have one form", "serializers/planted.py", "def tag_entity(tag: Tag) -> Any: ...\n"),
        ("entities have one form", "serializers/planted.py", "def show(tag: Tag) -> dict[str, Any]: ...\n"),
        ("viewsets write no entities", "viewsets/planted.py", 'def f(): return {"id": "1"}\n'),
        ("viewsets write no entities", "viewsets/planted.py", 'page.respond([{"id": row.id} for row in rows])\n'),
        (
            "viewsets write no entities",
            "viewsets/planted.py",
            'reply({"tags": TagSerializer(tags).data}, status=202)\n',
        ),
    ],
)
def test_a_broken_rule_is_found(tmp_path: Path, rule: str, path: str, source: str) -> None:
    planted = tmp_path / "statuses" / path
    planted.parent.mkdir(parents=True)
    planted.write_text(source)
    assert list(_breaks(rule, tmp_path)) == [f"statuses/{path}:{2 if 'dataclass' in source else 1}"]
