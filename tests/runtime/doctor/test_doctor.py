"""Tests of `manage.py doctor`: it names faults with their remedies, and exits with 1 if there are any."""

import errno
import io
import ipaddress
import json
import os
import resource
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.core.checks import run_checks
from django.core.management import call_command
from django.db import connection

from accounts.identity.services.sign_up_blocks import block_network
from accounts.models import Account, Severity, SiteSetting
from accounts.policies.staff import OPERATOR
from moderation.models import DomainAllow
from social.kernel import redis
from social.kernel.media.decoder import Decoder
from social.runtime import doctor, machine_checks
from social.runtime.datadir import sole_supervisor
from social.settings import env
from tests.runtime.doctor.conftest import Examine

pytestmark = pytest.mark.django_db


def test_a_healthy_installation_passes(examine: Examine) -> None:
    found = examine()
    assert {check.state for check in found.values()} == {"ok"}, found
    assert set(found) == {
        *(
            "secrets",
            "storage",
            "disk",
            "decoding",
            "open files",
            "database",
            "migrations",
            "tables",
            "domain",
            "ids",
            "fingerprints",
            "clock",
            "web",
            "streaming",
            "worker",
        ),
        *("streaming", "worker", "redis cache", "redis broker", "redis streams", "redis feeds", "scheduler", "outbox"),
        *("proxies", "blocks", "federation", "mail", "web push"),
    }
    assert found["database"].detail.startswith("PostgreSQL 18")


def test_the_doctor_reports_a_limit_of_open_files_that_is_too_low_for_the_connections(  # security row 52
    examine: Examine, monkeypatch: pytest.MonkeyPatch
) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    detail = examine()["open files"].detail
    assert f"at most {hard} " in detail
    assert f"soft limit {soft}," in detail
    # The limits of the server's processes differ from those of the process that runs the doctor.
    with subprocess.Popen(["sh", "-c", "ulimit -n 4096; echo; exec sleep 600"], stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        server.stdout.readline()
        monkeypatch.setattr(machine_checks, "running_supervisor", lambda folder: str(server.pid))
        found = examine()["open files"]
        server.kill()
    assert found.state == "failed"
    assert "at most 4096 " in found.detail
    assert str(machine_checks.LEAST_OPEN_FILES) in found.detail
    assert "LimitNOFILE" in found.remedy


def test_the_doctor_prints_json_and_exits_with_1_for_a_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    output = io.StringIO()
    call_command("doctor", json=True, stdout=output)
    assert json.loads(output.getvalue())["ok"] is True
    monkeypatch.setattr("social.runtime.launch.answers", lambda name: name == "web")
    output = io.StringIO()
    with pytest.raises(SystemExit) as end:
        call_command("doctor", json=True, stdout=output)
    assert end.value.code == 1
    (failed,) = [check for check in json.loads(output.getvalue())["checks"] if check["state"] == "failed"]
    assert failed["name"] == "streaming"
    assert env.manage_command("run") in failed["remedy"]


def test_the_doctor_prints_each_remedy_under_its_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("social.runtime.launch.answers", lambda name: False)
    output = io.StringIO()
    with pytest.raises(SystemExit):
        call_command("doctor", stdout=output, no_color=True)
    text = output.getvalue()
    assert f"FAIL  web             {env.BIND}:{env.PORT}/health does not answer" in text
    assert f"-> Start everything with {env.manage_command('run')}" in text
    assert "checks, 2 failed." in text


def test_the_doctor_names_the_process_that_is_starting_the_server(
    examine: Examine, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("social.runtime.launch.answers", lambda name: False)
    monkeypatch.setattr(env, "DATA_DIR", tmp_path)
    for name in ("media", "mail", "run"):
        (tmp_path / name).mkdir()
    with sole_supervisor(tmp_path):
        assert f"Process {os.getpid()} starts it" in examine()["web"].remedy
    assert "Start everything with" in examine()["web"].remedy


def test_the_doctor_reports_that_uploaded_files_cannot_be_decoded(
    examine: Examine, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = Decoder("no.such.program")
    monkeypatch.setattr(machine_checks, "decoder", broken)
    assert examine()["decoding"].state == "failed"
    broken.close()


def test_the_doctor_says_when_decoding_fails_for_lack_of_disk_space(
    examine: Examine, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = OSError(errno.ENOSPC, "No space left on device")
    monkeypatch.setattr(Decoder, "decode", lambda *_: (_ for _ in ()).throw(full))
    remedy = examine()["decoding"].remedy
    assert ("for want of room" in remedy, "requirements" in remedy) == (True, False)


def test_the_doctor_reports_a_missing_migration(examine: Examine) -> None:
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM django_migrations WHERE app = 'social' ")
    check = examine()["migrations"]
    assert (check.state, check.remedy) == ("failed", f"Run {env.manage_command('setup')}")
    assert "social.0001_initial" in check.detail


def test_the_doctor_reports_another_domain_than_the_stored_one(examine: Examine, settings: Any) -> None:
    stored = settings.LOCAL_DOMAIN
    settings.LOCAL_DOMAIN = "other.example"
    check = examine()["domain"]
    assert check.state == "failed"
    assert f"LOCAL_DOMAIN={stored}" in check.remedy


def test_the_doctor_says_to_run_setup_where_no_domain_is_stored(examine: Examine) -> None:
    with connection.cursor() as cursor:
        cursor.execute("DELETE FROM social_installation")
    assert examine()["domain"].remedy == f"Run {env.manage_command('setup')}"


def test_the_doctor_reports_local_accounts_whose_ids_have_another_address(
    examine: Examine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Such ids come from commands that ran with another environment, or from a server whose pages were moved."""
    assert examine()["ids"].state == "ok"
    Account.objects.create(username="alice", uri="http://elsewhere.localhost:8000/users/alice")
    Account.objects.create(username="far", domain="far.example", uri="https://far.example/users/far")
    assert examine()["ids"].state == "warning"
    monkeypatch.setattr(env, "LOOPBACK", False)
    check = examine()["ids"]
    assert (check.state, check.detail.partition(" ")[0]) == ("failed", "1")
    assert "http://elsewhere.localhost:8000/users/alice" in check.detail


def test_the_doctor_reports_a_clock_that_is_off(examine: Examine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "CLOCK_SKEW_LIMIT", -1.0)
    check = examine()["clock"]
    assert check.state == "failed"
    assert "NTP" in check.remedy


def test_the_doctor_reports_a_database_that_does_not_answer_without_waiting(
    examine: Examine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgres://x:geheim@127.0.0.1:1/x")
    found = examine()
    assert found["database"].state == "failed"
    assert "geheim" not in found["database"].detail
    assert found["migrations"].remedy == "Repair the database first."
    assert found["redis cache"].state == "ok"


def test_the_doctor_names_the_redis_role_that_does_not_answer(examine: Examine, settings: Any) -> None:
    urls = settings.REDIS_URLS | {"streams": "redis://:geheim@127.0.0.1:1/0"}
    settings.REDIS_URLS = urls
    found = examine()
    assert found["redis streams"].state == "failed"
    assert "REDIS_STREAMS_URL" in found["redis streams"].remedy
    assert "geheim" not in found["redis streams"].detail
    assert found["redis cache"].state == "ok"


@pytest.mark.parametrize("role", ["worker", "scheduler"])
def test_the_doctor_reports_a_process_without_a_heartbeat(examine: Examine, role: str) -> None:
    redis.client("cache").delete(redis.key("cache", "heartbeat", role))
    check = examine()[role]
    assert check.state == "failed"
    assert check.remedy.endswith(f"social.runtime.serve {role}")


def test_the_doctor_reports_how_long_ago_the_last_heartbeat_of_a_process_was(examine: Examine) -> None:
    written = int(time.time()) - 40
    redis.client("cache").set(redis.key("cache", "heartbeat", "worker"), written)
    assert examine()["worker"].detail.startswith("no sign of life for 4")


def test_the_doctor_reports_an_outbox_that_nobody_empties(examine: Examine) -> None:
    with connection.cursor() as cursor:
        cursor.execute(
            "INSERT INTO social_outbox (queue, key, subscriber, event, payload, due_at, attempts, last_error, dead_at) "
            "SELECT 'default', '', 's', 'e', '{}', now() - interval '5 minutes', 0, '', dead FROM "
            "(VALUES (NULL::timestamptz), (now())) AS d (dead)"
        )
    found = examine()
    assert found["outbox"].state == "failed"
    assert "the oldest of 1 rows waits for 30" in found["outbox"].detail
    assert found["dead letters"].state == "failed"


def test_the_doctor_reports_a_public_domain_without_a_trusted_proxy_or_mail(
    examine: Examine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(env, "SCHEME", "https")
    monkeypatch.setattr(env, "LOOPBACK", False)
    found = examine()
    assert "TRUSTED_PROXIES" in found["proxies"].remedy
    assert "EMAIL_URL" in found["mail"].remedy


def test_manage_py_check_warns_of_the_same_settings_and_stops_no_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(env, "SCHEME", "https")
    monkeypatch.setattr(env, "LOOPBACK", False)
    found = {str(fault.id): fault for fault in run_checks() if str(fault.id).startswith("social.")}
    assert {"social.proxies", "social.mail"} <= set(found)
    assert "EMAIL_URL" in str(found["social.mail"].hint)
    assert not any(fault.is_serious() for fault in found.values())


def test_a_proxy_setting_that_trusts_everybody_is_reported(examine: Examine, settings: Any) -> None:
    settings.TRUSTED_PROXIES = (ipaddress.ip_network("0.0.0.0/0"),)
    check = examine()["proxies"]
    assert check.state == "failed"
    assert "any address" in check.remedy


def test_the_doctor_reports_a_blocked_network_that_includes_everybody(examine: Examine) -> None:  # security row 79
    for network in ("192.0.2.0/24", "0.0.0.0/0"):
        block_network(by=OPERATOR, network=network, severity=Severity.NO_ACCESS)
    check = examine()["blocks"]
    assert (check.state, "0.0.0.0/0" in check.detail, "192.0.2" in check.detail) == ("failed", True, False)
    assert "block_sign_ups network 0.0.0.0/0 --remove" in check.remedy
    assert examine()["web"].state == "ok"


def test_loopback_federation_is_reported(examine: Examine, settings: Any) -> None:
    settings.FEDERATION_LOOPBACK = True
    assert examine()["federation"].state == "warning"


def test_the_doctor_reports_other_secrets_than_the_stored_ones(examine: Examine, settings: Any) -> None:
    settings.SECRETS = replace(settings.SECRETS, secret_key="x" * 40)
    check = examine()["fingerprints"]
    assert (check.state, check.detail) == ("failed", "SECRET_KEY is not what this installation began with")
    assert "Restore" in check.remedy
    assert "everybody is signed out" in check.remedy


def test_the_doctor_reports_a_mail_server_that_does_not_answer(
    examine: Examine, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    monkeypatch.setattr(env, "EMAIL_URL", "smtp://me:geheim@127.0.0.1:1")
    settings.EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
    settings.EMAIL_HOST = "127.0.0.1"
    settings.EMAIL_PORT = 1
    check = examine()["mail"]
    assert (check.state, check.remedy) == ("failed", "Check EMAIL_URL.")
    assert "geheim" not in check.detail


def test_keys_that_do_not_belong_together_are_reported(examine: Examine, settings: Any) -> None:
    settings.SECRETS = replace(settings.SECRETS, vapid_public_key="BA" + "A" * 85)
    found = examine()["web push"]
    assert (found.state, found.detail) == ("failed", "VAPID_PUBLIC_KEY does not belong to VAPID_PRIVATE_KEY")
    assert "backup" in found.remedy


def test_the_doctor_warns_without_a_contact_address_for_push_services(
    examine: Examine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(env, "LOOPBACK", False)
    assert examine()["web push"].state == "warning"
    SiteSetting.objects.create(key="site_contact_email", value="staff@example.org")
    assert examine()["web push"] == machine_checks.Check(
        "web push", "ok", "push services are given the address staff@example.org"
    )


def test_limited_federation_without_an_allowed_server_is_noticed(examine: Examine, settings: Any) -> None:
    settings.LIMITED_FEDERATION = True
    assert examine()["federation"].state == "warning"
    DomainAllow.objects.create(domain="there.example")
    assert examine()["federation"].state == "ok"
