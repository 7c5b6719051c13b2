"""Redis cache of the parts of entities that are the same for every viewer; entries expire after ten minutes by default.

The key of a fragment names kind, id and version (`status:12:3`): a change of the object increments its version, and the old
fragment is no longer read. A fragment is any JSON value. Fragments may vanish at any time; without Redis, no function here
raises an error.
"""

from collections.abc import Iterable, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any, Final, cast

import orjson
from django.conf import settings

from social.kernel import redis

RETENTION_SECONDS: Final = 600


def format_of(root: Path) -> str:
    """Return a digest of the code of all serializers and policies, which determine the content of entities. A process never
    reads fragments that another version of the code has encoded.
    """
    names = [f"*/{folder}{part}" for folder in ("", "*/") for part in ("policies", "serializers")]
    patterns = [pattern for name in names for pattern in (f"{name}.py", f"{name}/**/*.py")]
    sources = sorted(path for pattern in patterns for path in root.glob(pattern))
    return blake2b(b"".join(path.read_bytes() for path in sources), digest_size=6).hexdigest()


FORMAT: Final = format_of(settings.BASE_DIR)


def _prefix() -> str:
    return redis.key("cache", "fragment", FORMAT, "")


def load(keys: Iterable[str]) -> dict[str, Any]:
    """Load the cached fragments by key, in one round trip; missing fragments are left out."""
    wanted = list(dict.fromkeys(keys))
    if not wanted:
        return {}
    values: list[bytes | None] = []
    prefix = _prefix()
    with redis.best_effort("read cached answers"):
        values = cast("list[bytes | None]", redis.ask("cache", "MGET", *[prefix + key for key in wanted]))
    # If Redis does not answer, there are no values.
    return {key: orjson.loads(value) for key, value in zip(wanted, values, strict=False) if value is not None}


def save(fragments: Mapping[str, Any], *, seconds: int = RETENTION_SECONDS) -> None:
    """Cache fragments for `seconds`, in one round trip."""
    if not fragments:
        return
    prefix = _prefix()
    with redis.best_effort("keep answers in the cache"):
        if len(fragments) == 1:
            # A single fragment, as for a new post, is stored without a pipeline, which would take several times as long.
            ((key, fragment),) = fragments.items()
            redis.ask("cache", "SET", prefix + key, orjson.dumps(fragment), "EX", seconds)
            return
        pipeline = redis.client("cache").pipeline(transaction=False)
        for key, fragment in fragments.items():
            pipeline.set(prefix + key, orjson.dumps(fragment), ex=seconds)
        pipeline.execute()
