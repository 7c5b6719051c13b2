"""A decoding process with hostile jobs: `python -m tests.kernel.media.hostile_decoding NUMBER`."""

from dataclasses import replace

from social.kernel.media.decoding import jobs, server
from social.kernel.media.decoding.confinement import Limits

MEBIBYTE = 1024 * 1024
NAMES = ("crash", "spin", "linger", "hog", "fill", "trespass")
#: Only the tested limit is low: on a slow machine a job might otherwise reach another limit first.
LIMITS = Limits(cpu=600, seconds=600, memory=512 * MEBIBYTE, written=4 * MEBIBYTE)

jobs.LIMITS.update(dict.fromkeys(NAMES, LIMITS))
jobs.LIMITS["spin"] = replace(LIMITS, cpu=1)
jobs.LIMITS["linger"] = replace(LIMITS, seconds=1)
server.MODULES.update(dict.fromkeys(NAMES, "tests.kernel.media.hostile_jobs"))

if __name__ == "__main__":
    server.IDLE_SECONDS = 0.5
    server.main()
