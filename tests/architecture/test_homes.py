"""Tests that the rules for hiding accounts, for suspension and for visibility are each written in one module only."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from accounts.models import Visibility

ROOT = Path(__file__).resolve().parent.parent.parent
APPS = ("accounts", "statuses", "timelines", "moderation", "notifications", "federation")

HIDING = re.compile(r"\baccounts_(block|mute|accountdomainblock)\b|(?<![a-z])(blocks|blocked_by|mutes|muted_by)__")
HIDING_MODELS = {"Block", "Mute", "AccountDomainBlock"}
HIDING_HOMES = {
    "accounts/models/__init__.py",
    "accounts/models/relations.py",
    "accounts/policies/relations.py",
    "accounts/queries/relations.py",
    "accounts/services/blocking.py",
}

WORDS = set(Visibility.values)
# These words also have other meanings, so a Python string may equal one of them, but SQL may not contain them in quotes.
AMBIGUOUS = {"public", "limited", "direct"}
WORDS_IN_SQL = re.compile("'({})'".format("|".join(sorted(WORDS))))
WORD_HOMES = {
    "accounts/models/visibility.py",
    "accounts/policies/visibility.py",
    "statuses/models/status.py",
    "statuses/policies/visibility.py",
}


SUSPENSION = re.compile(r"\bsuspended_at\b|__suspended_at|^suspended_at")
SUSPENSION_HOMES = {
    "accounts/policies/audience.py",
    "accounts/models/account.py",
    # These modules load `suspended_at` for a later check.
    "accounts/identity/queries/tokens.py",
    "accounts/queries/relations.py",
    "statuses/queries/authors.py",
    "statuses/queries/posts.py",
    # These modules suspend or unsuspend accounts.
    "accounts/services/erasing.py",
    "accounts/services/remote_accounts.py",
    "accounts/services/sanctions.py",
    "accounts/services/severing.py",
    # These modules show staff which accounts are suspended.
    "accounts/admin/accounts.py",
    "accounts/identity/admin/users.py",
    "moderation/blocklists/queries.py",
    "moderation/queries/admin_accounts.py",
}


def _nodes(path: Path) -> Iterator[ast.AST]:
    """Yield the nodes of a module except its docstrings."""
    tree = ast.parse(path.read_text())
    documentation = {
        id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if id(node) not in documentation:
            yield node


def _hides(node: ast.AST) -> bool:
    if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("accounts.models"):
        return any(alias.name in HIDING_MODELS for alias in node.names)
    if isinstance(node, ast.keyword):
        return bool(HIDING.search(node.arg or ""))
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(HIDING.search(node.value))


def _asks_for_suspension(node: ast.AST) -> bool:
    if isinstance(node, ast.keyword):
        return bool(SUSPENSION.search(node.arg or ""))
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(SUSPENSION.search(node.value))


def _says_a_word(node: ast.AST) -> bool:
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "Visibility":
        return True
    if isinstance(node, ast.Compare) or (isinstance(node, ast.keyword) and (node.arg or "").startswith("visibility")):
        words = {part.value for part in ast.walk(node) if isinstance(part, ast.Constant)}
        return not words.isdisjoint(WORDS) and "visibility" in ast.unparse(node)
    if not isinstance(node, ast.Constant) or not isinstance(node.value, str):
        return False
    return node.value in WORDS - AMBIGUOUS or bool(WORDS_IN_SQL.search(node.value))


RULES = {
    # A module without a match of the pattern cannot break the rule, and searching for a pattern is much faster than parsing.
    "who hides whom": (_hides, HIDING_HOMES, re.compile("block|mute", re.IGNORECASE)),
    "who is suspended": (_asks_for_suspension, SUSPENSION_HOMES, re.compile("suspended_at")),
    "the words of visibility": (
        _says_a_word,
        WORD_HOMES,
        re.compile("|".join(["isibility", *sorted(WORDS - AMBIGUOUS), WORDS_IN_SQL.pattern])),
    ),
}


def _elsewhere(rule: str, root: Path) -> list[str]:
    """Return the places where the rule is written outside its module."""
    breaks, homes, sign = RULES[rule]
    return [
        f"{name}:{getattr(node, 'lineno', 0)}"
        for app in APPS
        for path in sorted((root / app).rglob("*.py"))
        if (name := path.relative_to(root).as_posix()) not in homes and "/migrations/" not in name
        if sign.search(path.read_text())
        for node in _nodes(path)
        if breaks(node)
    ]


@pytest.mark.parametrize("rule", RULES)
def test_a_rule_is_written_only_in_its_own_module(rule: str) -> None:
    found = _elsewhere(rule, ROOT)
    assert not found, f"{found}: call a function or use a condition from one of {sorted(RULES[rule][1])}"


@pytest.mark.parametrize(
    ("rule", "source"),
    [
        ("who hides whom", "from accounts.models import Account, Mute\n"),
        ("who hides whom", 'SQL = "SELECT 1 FROM accounts_block WHERE account_id = 1"\n'),
        ("who hides whom", 'SQL = f"SELECT 1 FROM accounts_accountdomainblock {1}"\n'),
        ("who hides whom", 'def f(q):\n    return q.exclude(**{"account__blocks__target_id": 1})\n'),
        ("who hides whom", "def f(q):\n    return q.exclude(blocked_by__account_id=1)\n"),
        ("who is suspended", "def f(q):\n    return q.filter(account__suspended_at=None)\n"),
        ("who is suspended", 'SQL = "SELECT 1 FROM accounts_account a WHERE a.suspended_at IS NULL"\n'),
        ("the words of visibility", 'def f(q):\n    return q.filter(visibility__in=("public",))\n'),
        ("the words of visibility", 'def f(post):\n    return post.visibility == "public"\n'),
        ("the words of visibility", "def f(post, Visibility):\n    return post.visibility == Visibility.PUBLIC\n"),
        ("the words of visibility", 'def f(post):\n    return post.visibility == "private"\n'),
        ("the words of visibility", "SQL = \"s.visibility IN ('public', 'unlisted')\"\n"),
    ],
)
def test_a_rule_written_again_is_found(tmp_path: Path, rule: str, source: str) -> None:
    planted = tmp_path / "timelines" / "queries" / "planted.py"
    planted.parent.mkdir(parents=True)
    planted.write_text(source)
    assert {found.partition(":")[0] for found in _elsewhere(rule, tmp_path)} == {"timelines/queries/planted.py"}


VERSIONED = {
    "Account": {"accounts/services/changing.py"},
    # In `receiving.py`, the query that writes thread keys needs no new version, because entities do not show these keys; the
    # query that connects a reply to its parent increments the versions itself.
    "Status": {"statuses/services/changing.py", "statuses/services/receiving.py"},
}
_WRITES = {"update", "bulk_update", "update_or_create", "aupdate"}


def _writes(model: str, root: Path) -> list[str]:
    """Return the places that change rows of a versioned table without the function that increments their version."""
    table = "accounts_account" if model == "Account" else "statuses_status"
    statement = re.compile(rf"\bUPDATE\s+{table}\b", re.IGNORECASE)
    queryset = re.compile(rf"\b{model}\.objects\b|QuerySet\[{model}\]")
    found = []
    for app in APPS:
        for path in sorted((root / app).rglob("*.py")):
            name = path.relative_to(root).as_posix()
            if name in VERSIONED[model] or "/migrations/" in name:
                continue
            text = path.read_text()
            if model not in text and table not in text:
                continue
            tree = ast.parse(text)
            # Variables of this module that hold rows or a queryset of the table; imported variables are not recognized.
            held = {
                target.id
                for node in ast.walk(tree)
                if isinstance(node, ast.Assign) and queryset.search(ast.unparse(node.value))
                for target in node.targets
                if isinstance(target, ast.Name)
            }
            held |= {
                node.arg
                for node in ast.walk(tree)
                if isinstance(node, ast.arg) and node.annotation is not None
                if ast.unparse(node.annotation) in (model, f"QuerySet[{model}]")
            }
            for node in ast.walk(tree):
                if isinstance(node, ast.Constant) and isinstance(node.value, str) and statement.search(node.value):
                    found.append(f"{name}:{node.lineno}")
                if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                    continue
                # A new row has no version yet.
                saves = node.func.attr in ("save", "asave") and "force_insert" not in {one.arg for one in node.keywords}
                if not saves and node.func.attr not in _WRITES:
                    continue
                owner = ast.unparse(node.func.value)
                ours = queryset.search(owner) is not None or owner.split(".")[0] in held
                if ours and (node.func.attr in _WRITES or "." not in owner):
                    found.append(f"{name}:{node.lineno}")
    return found


@pytest.mark.parametrize("model", VERSIONED)
def test_versioned_rows_are_changed_only_together_with_their_version(model: str) -> None:
    found = _writes(model, ROOT)
    assert not found, f"{found}: call a function from one of {sorted(VERSIONED[model])}"


@pytest.mark.parametrize(
    ("model", "source"),
    [
        ("Account", "Account.objects.filter(id=1).update(limited_at=None)\n"),
        ("Account", "rows = Account.objects.filter(id=1)\nrows.exclude(id=2).update(limited_at=None)\n"),
        ("Account", "def f(account: Account):\n    account.save(update_fields=['locked'])\n"),
        ("Status", "def f(rows: QuerySet[Status]):\n    rows.update(deleted_at=None)\n"),
        ("Status", 'SQL = "UPDATE statuses_status SET deleted_at = NULL"\n'),
    ],
)
def test_a_change_without_raising_the_version_is_found(tmp_path: Path, model: str, source: str) -> None:
    planted = tmp_path / "moderation" / "services" / "planted.py"
    planted.parent.mkdir(parents=True)
    planted.write_text(source)
    assert {found.partition(":")[0] for found in _writes(model, tmp_path)} == {"moderation/services/planted.py"}


PERMISSION_HOMES = {
    # This module checks the permission that the endpoint declares.
    "moderation/viewsets/admin/base.py",
    # Users without the permission get the public lists instead of an error (contract, endpoints.tsv).
    "moderation/viewsets/admin/trends.py",
}
_ASKS_FOR_PERMISSION = {"Permission", "can", "require", "staff_of"}


def _permissions_in_bodies(root: Path) -> list[str]:
    """Return the viewset methods that check a permission of the role instead of declaring `staff(scope, Permission.X)`."""
    return [
        f"{name}:{node.lineno}"
        for app in APPS
        for path in sorted({*(root / app).rglob("viewsets/**/*.py"), *(root / app).rglob("viewsets.py")})
        if (name := path.relative_to(root).as_posix()) not in PERMISSION_HOMES
        for function in ast.walk(ast.parse(path.read_text()))
        if isinstance(function, ast.FunctionDef)
        for node in ast.walk(function)
        if isinstance(node, ast.Name) and node.id in _ASKS_FOR_PERMISSION
    ]


def test_permissions_of_staff_are_declared_by_endpoints() -> None:
    assert _permissions_in_bodies(ROOT) == []


@pytest.mark.parametrize("path", ["moderation/viewsets/admin/planted.py", "accounts/emojis/viewsets.py"])
def test_a_permission_check_inside_an_endpoint_is_found(tmp_path: Path, path: str) -> None:
    planted = tmp_path / path
    planted.parent.mkdir(parents=True)
    planted.write_text("def approve(self, request):\n    require(self.by, Permission.MANAGE_USERS)\n")
    assert _permissions_in_bodies(tmp_path) == [f"{path}:2"] * 2
