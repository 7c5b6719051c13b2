"""A decoding process in which every conversion crashes: `python -m tests.kernel.media.crashing_decoding NUMBER`."""

from social.kernel.media.decoding import jobs, server
from tests.kernel.media.hostile_jobs import crash

converted = crash

if __name__ == "__main__":
    server.MODULES[jobs.CONVERTED] = "tests.kernel.media.crashing_decoding"
    server.main()
