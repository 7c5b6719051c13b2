"""A separate PostgreSQL, which a test can stop and start."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from social.runtime.embedded import Embedded


@contextmanager
def own_postgres() -> Iterator[Embedded]:
    """Run a PostgreSQL without Valkey during the block."""
    folder = Path(tempfile.mkdtemp(prefix="social-p-"))
    folder.chmod(0o755)
    embedded = Embedded(folder, durable=False, valkey_wanted=False)
    embedded.start()
    try:
        yield embedded
    finally:
        embedded.stop()
        shutil.rmtree(folder, ignore_errors=True)
