"""The decoding process with the hostile jobs, and little patience: `python -m tests.kernel.media.hostile_decoding NUMBER`."""

from __future__ import annotations

from social.kernel.media.decoding import jobs, server
from social.kernel.media.decoding.confinement import Limits

MEBIBYTE = 1024 * 1024
NAMES = ("crash", "spin", "linger", "hog", "fill", "trespass")
LIMITS = Limits(cpu=1, seconds=2, memory=512 * MEBIBYTE, written=4 * MEBIBYTE)

jobs.LIMITS.update(dict.fromkeys(NAMES, LIMITS))
server.MODULES.update(dict.fromkeys(NAMES, "tests.kernel.media.hostile_jobs"))

if __name__ == "__main__":
    server.IDLE = 0.5
    server.main()
