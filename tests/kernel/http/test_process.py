"""Tests of the client with threads, forks and exiting processes, and with certificates."""

import asyncio
import datetime
import os
import ssl
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from ipaddress import ip_address
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from social.kernel.http import network
from social.kernel.http.client import FetchError, GuardedClient, Request, Untrusted, run
from tests.kernel.http.attacker import DOCUMENT, Attacker
from tests.support.patience import SOON


def test_eight_threads_share_one_pool_of_connections(client: GuardedClient, attacker: Attacker) -> None:
    def fetches(_: int) -> list[bytes]:
        return [client.send(Request(attacker.url("/slow/0.002"))).body for _ in range(20)]

    with ThreadPoolExecutor(8) as pool:
        answers = [body for bodies in pool.map(fetches, range(8)) for body in bodies]
    assert answers == [DOCUMENT] * 160
    assert attacker.connections <= 8


def test_a_host_gets_at_most_sixteen_connections(client: GuardedClient, attacker: Attacker) -> None:
    async def many() -> None:
        await asyncio.gather(*(client.send_async(Request(attacker.url("/slow/0.02"))) for _ in range(40)))

    run(many())
    assert attacker.connections == 16
    assert len(attacker.requests) == 40


def test_a_silent_host_does_not_delay_others(client: GuardedClient, attacker: Attacker) -> None:
    async def both() -> list[object]:
        with Attacker() as silent:
            waiting = [
                asyncio.ensure_future(client.send_async(Request(silent.url("/silent"), deadline=100)))
                for _ in range(30)
            ]
            assert (await client.send_async(Request(attacker.url()))).body == DOCUMENT
            assert not any(request.done() for request in waiting)
            for request in waiting:
                request.cancel()
            return await asyncio.gather(*waiting, return_exceptions=True)

    assert all(isinstance(outcome, asyncio.CancelledError) for outcome in asyncio.run(both()))


def test_connections_outlive_a_batch_that_runs_on_the_network_loop(client: GuardedClient, attacker: Attacker) -> None:
    async def batch() -> int:
        return (await client.send_async(Request(attacker.url()))).status

    assert [run(batch()) for _ in range(3)] == [200] * 3
    assert attacker.connections == 1


def test_the_network_loop_waiting_for_itself_is_an_error_not_a_deadlock(client: GuardedClient) -> None:
    async def wrong() -> None:
        client.send(Request("http://127.0.0.1/"))

    with pytest.raises(RuntimeError, match="fetch_async"):
        run(wrong(), timeout=5)


def test_a_cancelled_coroutine_releases_its_connection(client: GuardedClient, attacker: Attacker) -> None:
    async def impatient() -> None:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.04):
                await client.send_async(Request(attacker.url("/silent")))

    for _ in range(10):
        asyncio.run(impatient())
    assert client.send(Request(attacker.url())).status == 200


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_opens_its_own_connections_and_does_not_use_those_of_its_parent(
    client: GuardedClient, attacker: Attacker
) -> None:
    client.send(Request(attacker.url()))
    thread = network.current()
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            for _ in range(2):
                os.write(writer, client.send(Request(attacker.url("/echo"), deadline=5)).body[:1])
        finally:
            os._exit(0)
    os.close(writer)
    os.waitpid(child, 0)
    assert os.read(reader, 10) == b"{{"
    os.close(reader)
    assert client.send(Request(attacker.url(), deadline=5)).body == DOCUMENT
    assert network.current() is thread
    assert [seen.connection for seen in attacker.requests] == [1, 2, 2, 1]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_in_the_middle_of_a_fetch_leaves_no_lock_behind(client: GuardedClient, attacker: Attacker) -> None:
    busy = threading.Thread(target=lambda: client.send(Request(attacker.url("/slow/0.3"))))
    busy.start()
    time.sleep(0.05)
    child = os.fork()
    if child == 0:
        try:
            client.send(Request(attacker.url(), deadline=5))
        except BaseException:
            os._exit(1)
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    busy.join()


# asyncio's development mode warns about every step over a tenth of a second, which is normal on a busy machine.
SETTINGS = """
import logging
from django.conf import settings
logging.getLogger("asyncio").setLevel("ERROR")
settings.configure(FEDERATION_LOOPBACK=True, WEB_DOMAIN="a.localhost", LOCAL_DOMAIN="a.localhost", BASE_URL="http://a",
                   VERSION="1", USE_I18N=False)
from social.kernel.http.client import FetchError, Request, Untrusted, fetch
"""


def script(text: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a script in its own process, in which every warning is an error."""
    inherited = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    return subprocess.run(
        [sys.executable, "-X", "dev", "-W", "error", "-c", SETTINGS + textwrap.dedent(text), *arguments],
        capture_output=True,
        text=True,
        timeout=20,
        check=False,
        cwd=Path(__file__).parents[3],
        env=inherited | environment,
    )


def test_a_process_with_open_connections_ends_immediately_without_warnings(attacker: Attacker) -> None:
    started = time.monotonic()
    result = script(
        """
        import sys, threading
        def stuck():
            try: fetch(Request(sys.argv[1], deadline=60))
            except FetchError: pass
        threading.Thread(target=stuck, daemon=True).start()
        print(fetch(Request(sys.argv[2])).status)
        """,
        *(attacker.url("/silent"), attacker.url()),
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "200\n", "")
    assert time.monotonic() - started < SOON


# --- certificates ----------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A self-signed certificate for 127.0.0.1, with its key in the same file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "remote.example")])
    now = datetime.datetime.now(datetime.UTC)
    built = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    path = tmp_path_factory.mktemp("tls") / "certificate.pem"
    path.write_bytes(
        built.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return path


@pytest.fixture
def secure(certificate: Path) -> Iterator[Attacker]:
    """A server with TLS."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with Attacker(tls=context) as server:
        yield server


def test_a_self_signed_certificate_is_refused(client: GuardedClient, secure: Attacker) -> None:
    with pytest.raises(Untrusted) as caught:
        client.send(Request(secure.url()))
    assert caught.value.message == "Remote SSL certificate could not be verified"
    assert secure.requests == []


def test_authorities_installed_by_the_operator_are_trusted_for_the_names_in_their_certificates(
    secure: Attacker, certificate: Path
) -> None:
    result = script(
        """
        import sys
        print(fetch(Request(sys.argv[1])).status, fetch(Request(sys.argv[1])).status)
        try: fetch(Request(sys.argv[2]))
        except Untrusted: print("untrusted")
        """,
        *(secure.url(), secure.url(host="localhost")),
        SSL_CERT_FILE=str(certificate),
    )
    assert (result.stdout, result.stderr) == ("200 200\nuntrusted\n", "")
    assert len({seen.connection for seen in secure.requests}) == 1


def test_a_server_without_tls_gets_no_https_request(client: GuardedClient, attacker: Attacker) -> None:
    with pytest.raises(FetchError):
        client.send(Request(attacker.url().replace("http:", "https:"), deadline=0.3))
    assert attacker.requests == []
