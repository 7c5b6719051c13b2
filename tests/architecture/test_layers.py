"""Tests that the code has the structure described in docs/architecture.md, and that violations are found."""

import ast
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from django.apps import apps

ROOT = Path(__file__).resolve().parent.parent.parent
APPS = ("social", "accounts", "statuses", "timelines", "moderation", "notifications", "federation")
PLANTED = [
    ("accounts/services/planted.py", "from statuses.models import Status\n"),
    ("statuses/queries/planted.py", "def f():\n    from timelines.queries import home\n    return home\n"),
    ("accounts/models/planted.py", "from accounts.services.following import follow_account\n"),
    ("statuses/serializers/planted.py", "from statuses.viewsets import statuses\n"),
    ("accounts/emojis/services/planted.py", "from accounts.emojis.viewsets import CustomEmojisViewSet\n"),
    ("accounts/emojis/services/planted_drf.py", "from rest_framework.response import Response\n"),
    ("accounts/copies/services/planted.py", "from accounts.emojis.models import CustomEmoji\n"),
    ("moderation/services/planted_feature.py", "from moderation.blocklists.queries import list_waiting\n"),
    ("accounts/services/planted_feature.py", "from accounts.transfers.queries import find_import\n"),
    ("accounts/services/planted_drf.py", "from rest_framework.response import Response\n"),
    ("accounts/services/planted_entity.py", "from accounts.serializers.account import AccountSerializer\n"),
    ("statuses/queries/planted_out.py", "import aiohttp\n"),
    ("timelines/services/planted_redis.py", "import redis\n"),
    ("social/kernel/planted.py", "from social.api import viewsets\n"),
]


def _lint(folder: Path) -> subprocess.CompletedProcess[str]:
    code = "import sys; from importlinter.cli import lint_imports_command as c; sys.exit(c())"
    environment = {**os.environ, "PYTHONPATH": str(folder), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, "-c", code, "--no-cache"]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=110)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the sources, in which a test can break rules."""
    for app in APPS:
        shutil.copytree(ROOT / app, tmp_path / app, ignore=shutil.ignore_patterns("*.po", "*.mo", "__pycache__"))
    shutil.copy(ROOT / "pyproject.toml", tmp_path / "pyproject.toml")
    return tmp_path


def test_import_contracts_hold_and_every_planted_violation_is_caught(project: Path) -> None:
    clean = _lint(project)
    assert clean.returncode == 0, clean.stdout + clean.stderr
    for path, source in PLANTED:
        (project / path).write_text(f'"""Planted."""\n\n{source}')
    broken = _lint(project)
    assert broken.returncode != 0
    for path, _source in PLANTED:
        module = path.removesuffix(".py").replace("/", ".")
        assert module in broken.stdout, f"{module} was not caught"


#: The packages of an app from bottom to top, as in the import contract "Packages", which checks each feature separately.
ORDER = (
    *({"events"}, {"models", "stores"}, {"policies"}, {"ports"}, {"queries"}, {"services"}, {"serializers"}, {"tasks"}),
    *({"viewsets", "pages", "reactions", "admin", "management"}, {"urls"}, {"apps"}),
)
RANKS = {name: rank for rank, names in enumerate(ORDER) for name in names}


def _package(module: str) -> str:
    """Return the package of a module of `accounts`, in any feature; an empty string if it is in none."""
    return next((part for part in module.split(".")[1:3] if part in RANKS), "")


def _upward(root: Path) -> Iterator[str]:
    """Yield the imports within `accounts`, in any feature, of another package that has the same or a higher level."""
    for path in sorted((root / "accounts").rglob("*.py")):
        own = _package(".".join(path.relative_to(root).with_suffix("").parts))
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
            if isinstance(node, ast.ImportFrom):
                # In "from accounts.emojis import queries" the imported name is the package.
                names = [f"{node.module}.{name}" for name in names]
            for package in {_package(name) for name in names if name.startswith("accounts.")} - {own, ""}:
                if own and RANKS[package] >= RANKS[own]:
                    yield f"{path.relative_to(root)}:{node.lineno}: {package}"


def test_no_package_of_accounts_imports_a_higher_package_in_any_feature() -> None:
    assert list(_upward(ROOT)) == []


@pytest.mark.parametrize(
    "source",
    [
        "from accounts.serializers.account import AccountSerializer",
        "from accounts.emojis import viewsets",
        "import accounts.emojis.admin",
    ],
)
def test_an_import_of_a_higher_package_between_features_is_found(tmp_path: Path, source: str) -> None:
    planted = tmp_path / "accounts" / "transfers" / "services" / "planted.py"
    planted.parent.mkdir(parents=True)
    planted.write_text(source)
    assert [line.partition(":")[0] for line in _upward(tmp_path)] == ["accounts/transfers/services/planted.py"]


def test_models_refer_only_to_models_of_the_same_or_lower_apps() -> None:
    order = {name: number for number, name in enumerate(APPS)}
    wrong = []
    for model in apps.get_models():
        app = order.get(model._meta.app_label)
        for field in model._meta.get_fields():
            target = getattr(field, "remote_field", None) and field.related_model
            if app is None or not target or field.auto_created or isinstance(target, str):
                continue
            if order.get(target._meta.app_label, -1) > app:
                wrong.append(f"{model._meta.label}.{field.name} -> {target._meta.label}")
    assert wrong == []


def test_nobody_overrides_save_or_connects_to_model_signals() -> None:
    wrong = []
    for app in APPS:
        for path in (ROOT / app).rglob("*.py"):
            text = path.read_text()
            if "def save(self" in text or "post_save" in text or "pre_save.connect" in text:
                wrong.append(str(path.relative_to(ROOT)))
    assert wrong == []


def test_no_package_is_a_catch_all() -> None:
    names = {"utils", "helpers", "common", "managers", "signals", "misc"}
    found = [p for app in APPS for p in (ROOT / app).rglob("*") if p.stem in names and "templates" not in p.parts]
    assert found == []


def test_no_app_opens_sockets_with_the_standard_library_either() -> None:
    """The import contracts cover whole external packages only, so `urllib.request` and `http.client` are searched for here."""
    forbidden = ("urllib.request", "http.client")
    wrong = []
    for app in ("social/api", *APPS[1:]):
        for path in (ROOT / app).rglob("*.py"):
            text = path.read_text()
            for node in ast.walk(ast.parse(text)) if "urllib" in text or "http" in text else ():
                names = [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
                if isinstance(node, ast.ImportFrom):
                    names = [node.module or "", *(f"{node.module}.{name}" for name in names)]
                wrong += [f"{path.relative_to(ROOT)}: {name}" for name in names if name.startswith(forbidden)]
    assert wrong == []
