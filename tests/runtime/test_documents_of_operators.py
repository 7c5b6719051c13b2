"""Tests that everything named in docs/operating.md and docs/deploy exists: commands, settings, files, ports, paths, metrics."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml
from django.core.management import get_commands
from django.urls import Resolver404, resolve
from prometheus_client import CollectorRegistry, Histogram

from accounts.transfers.pages.forms import IMPORT_MAX_BODY
from accounts.transfers.past import UPLOAD_LIMIT
from social.queues import LANES, QUEUES
from social.runtime import metrics, serve
from social.settings.declared import SETTINGS
from statuses.viewsets.attachments import UPLOAD_BODY_LIMIT
from tests.runtime.processes import ROOT
from timelines.consumers.connection_request import PREFIX

OPERATING = ROOT / "docs" / "operating.md"
DEPLOY = ROOT / "docs" / "deploy"
#: Words in capitals that are not settings: log levels, ordinary words, variables of containers and of Django.
OTHER_NAMES = {"POSTGRES_PASSWORD", "POSTGRES_USER", "POSTGRES_DB", "PROMETHEUS_MULTIPROC_DIR", "LT_LOAD_ONLY"}
METRICS = {"social_request_seconds", "social_outbox_depth", "social_outbox_dead_letters"} | {
    "social_outbox_oldest_seconds",
    "social_outbox_age_p99_seconds",
    "social_process_last_seen_seconds",
}


def read(name: str) -> str:
    return (DEPLOY / name).read_text()


def files() -> list[Path]:
    return sorted(path for path in DEPLOY.rglob("*") if path.is_file())


def test_every_command_in_the_operators_documents_exists() -> None:
    text = "\n".join(path.read_text() for path in (OPERATING, *files()))
    named = set(re.findall(r"(?:manage\.py\"?,?|social-manage) \"?([a-z_]+)", text))
    assert {"run", "setup", "backup", "restore", "upgrade_database", "doctor"} <= named
    assert named - {*get_commands(), "as", "with", "help"} == set()
    table = re.findall(r"^\| [^|]+ \| `([a-z_]+)[ `]", OPERATING.read_text().split("## Commands")[1], re.MULTILINE)
    assert table
    assert set(table) <= {*get_commands()}


def test_every_setting_is_declared() -> None:
    given = {
        name for path in (OPERATING, *files()) for name in re.findall(r"\b[A-Z]+_[A-Z_]*[A-Z]\b", path.read_text())
    }
    assert given - {*SETTINGS} - OTHER_NAMES == set()


def test_every_file_linked_in_the_operators_documents_exists() -> None:
    for page in (OPERATING, DEPLOY / "README.md"):
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / target).exists(), (page.name, target)
    for name in re.findall(r"`?docs/(deploy/[\w./@-]+\.\w+)", OPERATING.read_text()):
        assert list(DEPLOY.parent.glob(name.replace("*", ""))) or "*" in name or (DEPLOY.parent / name).exists(), name


def test_proxies_and_containers_use_the_ports_and_paths_of_the_server() -> None:
    for name in ("nginx.conf", "Caddyfile", "compose.yaml", "prometheus.yml", "Dockerfile"):
        assert set(re.findall(r"127\.0\.0\.1:(\d+)", read(name))) <= {"8000", "4000"}
    assert SETTINGS["PORT"][0] == "`8000`"
    assert SETTINGS["STREAMING_PORT"][0] == "`4000`"
    assert f"location ^~ {PREFIX} {{" in read("nginx.conf")
    assert f"path {PREFIX} {PREFIX}/*" in read("Caddyfile")
    # The "m" of nginx means 2**20 bytes, which Caddy calls MiB.
    for size in (
        re.search(r"client_max_body_size (\d+)m;", read("nginx.conf")),
        re.search(r"max_size (\d+)MiB", read("Caddyfile")),
    ):
        assert size is not None
        assert int(size[1]) * 2**20 >= max(UPLOAD_BODY_LIMIT, UPLOAD_LIMIT + IMPORT_MAX_BODY)
    for path in ("/health", "/health/ready", "/metrics", "/system/x.png"):
        try:
            resolve(path)
        except Resolver404:
            raise AssertionError(path) from None
    services = yaml.safe_load(read("compose.yaml"))["services"]
    assert set(services) == {"app", "postgres", "valkey"}
    assert set(services["app"]["environment"]) <= {*SETTINGS}


def test_units_start_processes_that_exist() -> None:
    for unit in (DEPLOY / "systemd").glob("*.service"):
        command = re.search(r"^ExecStart=/opt/social/\.venv/bin/python (.+)$", unit.read_text(), re.MULTILINE)
        assert command is not None, unit.name
        words = command[1].split()
        known = serve.PROCESSES if words[0] == "-m" else get_commands()
        assert words[2 if words[0] == "-m" else 1] in known, unit.name
    lanes = set(re.findall(r"social-worker@(\w+)", OPERATING.read_text()))
    assert lanes == {*LANES}


def test_alerts_and_dashboard_ask_for_metrics_that_are_shown() -> None:
    source = Path(metrics.__file__).read_text()
    assert {name for name in METRICS if f'"{name}"' not in source} == set()
    suffixes = {sample.name for family in _histogram() for sample in family.samples}
    shown = METRICS | {f"social_request_seconds{name.removeprefix('x')}" for name in suffixes}
    rules = [rule["expr"] for group in yaml.safe_load(read("alerts.yml"))["groups"] for rule in group["rules"]]
    panels = json.loads(read("grafana-dashboard.json"))["panels"]
    asked = rules + [target["expr"] for panel in panels for target in panel["targets"]]
    assert len(asked) > 10
    assert {name for expression in asked for name in re.findall(r"social_\w+", expression)} <= shown
    queues = {
        name for rule in rules for found in re.findall(r'queue[=!]~?"([^"]+)"', rule) for name in found.split("|")
    }
    assert queues
    assert queues <= {*QUEUES}


@pytest.mark.skipif(shutil.which("promtool") is None, reason="needs prometheus")
def test_prometheus_accepts_its_files_and_the_queries_of_the_dashboard(tmp_path: Path) -> None:
    panels = json.loads(read("grafana-dashboard.json"))["panels"]
    asked = [target["expr"].replace("$__rate_interval", "5m") for panel in panels for target in panel["targets"]]
    rules = [{"record": f"panel:{number}", "expr": expression} for number, expression in enumerate(asked)]
    (tmp_path / "panels.yml").write_text(yaml.safe_dump({"groups": [{"name": "panels", "rules": rules}]}))
    for words in (["config", DEPLOY / "prometheus.yml"], ["rules", DEPLOY / "alerts.yml", tmp_path / "panels.yml"]):
        done = subprocess.run(["promtool", "check", *words], capture_output=True, text=True, timeout=30)
        assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.skipif(shutil.which("caddy") is None, reason="needs caddy")
def test_caddy_accepts_the_deployed_caddyfile(tmp_path: Path) -> None:
    command = ["caddy", "validate", "--adapter", "caddyfile", "--config", str(DEPLOY / "Caddyfile")]
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "XDG_DATA_HOME": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(shutil.which("nginx") is None, reason="needs nginx")
def test_nginx_accepts_the_deployed_configuration(tmp_path: Path) -> None:
    without_tls = re.sub(r"(?m)^\s*ssl_certificate(_key)? .*$", "", read("nginx.conf")).replace(
        " ssl http2;", " http2;"
    )
    (tmp_path / "site").write_text(without_tls)
    (tmp_path / "nginx.conf").write_text(
        f"pid {tmp_path}/pid; error_log stderr; events {{}} http {{ access_log off; include {tmp_path}/site; }}"
    )
    command = ["nginx", "-t", "-p", str(tmp_path), "-c", str(tmp_path / "nginx.conf")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd")
def test_systemd_accepts_our_units(tmp_path: Path) -> None:
    for unit in (DEPLOY / "systemd").iterdir():
        name = unit.name.replace("worker@", "worker@local")
        # systemd-analyze checks that the program exists, and its path differs in tests.
        (tmp_path / name).write_text(unit.read_text().replace("/opt/social/.venv/bin/python", "/usr/bin/env"))
    done = subprocess.run(
        ["systemd-analyze", "verify", *map(str, sorted(tmp_path.iterdir()))],
        env={"PATH": "/usr/bin:/bin", "SYSTEMD_UNIT_PATH": f"{tmp_path}:"},
        capture_output=True,
        text=True,
        timeout=30,
    )
    assert (done.returncode, done.stderr) == (0, "")


def _histogram() -> list:  # type: ignore[type-arg]  # two kinds of them
    registry = CollectorRegistry()
    Histogram("x", "Sample", registry=registry).observe(1)
    return list(registry.collect())
