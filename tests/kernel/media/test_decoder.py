"""Tests of the decoding process: no file can affect other files or processes (security rows 1, 41, 56)."""

import io
import os
import re
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from social.kernel.media.decoder import Decoder, DecodingFailed
from social.kernel.media.decoding import jobs
from tests.factories.recordings import moving_gif, noise
from tests.factories.statuses import picture
from tests.kernel.media import hostile_decoding


@pytest.fixture
def decoder() -> Iterator[Decoder]:
    """A decoding process with hostile jobs."""
    made = Decoder(hostile_decoding.__name__)
    yield made
    made.close()


def _draw(decoder: Decoder) -> dict[str, Any]:
    with decoder.decode(jobs.PICTURE, io.BytesIO(picture()), {}) as found:
        return found.facts


def test_a_job_does_not_move_the_position_in_the_file(tmp_path: Path, decoder: Decoder) -> None:
    data, path = noise(600_000), tmp_path / "a.wav"
    path.write_bytes(data)
    with path.open("rb") as file:
        file.read(64)
        with decoder.decode(jobs.EXAMINED, file, {"format": "wav"}):
            assert file.tell() == 64
        file.seek(0)
        assert b"".join(iter(lambda: file.read(65_536), b"")) == data


@pytest.mark.parametrize("job", ["crash", "spin", "linger"])
@pytest.mark.verify
def test_a_crash_affects_only_its_own_job(decoder: Decoder, job: str) -> None:
    """If no limit ended the job, it would exceed the test's own timeout."""
    with pytest.raises(DecodingFailed), decoder.decode(job, io.BytesIO(b"x"), {}):
        pass
    assert _draw(decoder)["original"]["width"] == 40


def test_a_job_that_needs_too_much_memory_is_refused(decoder: Decoder) -> None:
    with pytest.raises(jobs.Refused, match="memory"), decoder.decode("hog", io.BytesIO(b"x"), {}):
        pass
    assert _draw(decoder)["original"]["width"] == 40


def test_a_job_that_writes_too_much_is_refused(decoder: Decoder) -> None:
    with pytest.raises(jobs.Refused) as refused, decoder.decode("fill", io.BytesIO(b"x"), {}):
        pass
    assert "too large" in refused.value.values["detail"]


def test_security_1_a_job_cannot_reach_files_the_network_or_other_processes(decoder: Decoder, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(0.01)
        port = listener.getsockname()[1]
        parameters = {"path": str(tmp_path / "x"), "port": port}
        with decoder.decode("trespass", io.BytesIO(b"x"), parameters) as found:
            facts = dict(found.facts)
        with pytest.raises(TimeoutError):
            listener.accept()
    assert facts
    assert set(facts.values()) == {"PermissionError"}, facts
    assert not list(tmp_path.iterdir())


def test_security_1_the_decoding_process_has_no_secrets(decoder: Decoder, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_OURS", "x")
    _draw(decoder)
    environment = Path(f"/proc/{decoder.process_id}/environ").read_bytes()
    assert b"SECRET_OF_OURS" not in environment
    assert b"DATABASE_URL" not in environment
    assert {name.split(b"=")[0] for name in environment.split(b"\0") if name} == {b"PATH", b"LANG", b"MALLOC_ARENA_MAX"}


def test_a_killed_process_is_replaced(decoder: Decoder) -> None:
    _draw(decoder)
    killed = decoder.process_id
    assert killed is not None
    os.kill(killed, 9)
    assert _draw(decoder)["original"]["width"] == 40
    assert decoder.process_id != killed


def test_an_idle_decoding_process_ends_and_is_started_again(decoder: Decoder) -> None:
    _draw(decoder)
    idle = decoder.process_id
    assert decoder._process is not None
    decoder._process.wait()
    assert _draw(decoder)["original"]["width"] == 40
    assert decoder.process_id != idle


def test_the_settings_limit_how_many_files_are_decoded_at_a_time(
    monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.IMAGE_WORKERS = 2
    running, most = 0, 0
    guard = threading.Lock()
    both = threading.Barrier(2)

    def ask(self: Decoder, job: str, parameters: dict[str, Any], files: list[int]) -> dict[str, Any]:
        nonlocal running, most
        with guard:
            running += 1
            most = max(most, running)
        both.wait()
        with guard:
            running -= 1
        return {jobs.CONFINED: True}

    monkeypatch.setattr(Decoder, "_ask", ask)
    decoder = Decoder()
    threads = [threading.Thread(target=_draw, args=(decoder,)) for _number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == 2


def test_each_process_has_its_own_decoder(request: pytest.FixtureRequest) -> None:
    decoder = Decoder()  # the process only ends when its child has finished
    request.addfinalizer(decoder.close)
    _draw(decoder)
    ours = decoder.process_id
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        answer = b"failed"
        try:
            _draw(decoder)
            answer = b"other" if decoder.process_id != ours else b"same"
            decoder.close()
        finally:
            os.write(write, answer)
            os._exit(0)
    os.close(write)
    with os.fdopen(read, "rb") as file:
        assert file.read() == b"other"
    os.waitpid(child, 0)
    assert _draw(decoder)["original"]["width"] == 40
    assert decoder.process_id == ours


def test_the_log_explains_why_a_file_is_refused(decoder: Decoder, caplog: pytest.LogCaptureFixture) -> None:
    folder = Path(jobs.__file__).parent
    used = {code for path in folder.glob("*.py") for code in re.findall(r'Refused\("(\w+)"', path.read_text())}
    assert used <= jobs.MEANINGS.keys()
    caplog.set_level("INFO", "social.media")
    with pytest.raises(jobs.Refused), decoder.decode(jobs.PICTURE, io.BytesIO(moving_gif()), {}):
        pass
    assert [record.getMessage() for record in caplog.records] == ["a GIF moves: it becomes a video"]
