"""Runs work in threads, outside of the event loop, if the work has to wait for PostgreSQL or Redis."""

import asyncio
import logging
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, ParamSpec, TypeVar

from django.db import InterfaceError, OperationalError, close_old_connections

from timelines.policies.streams import UNAVAILABLE, StreamError

logger = logging.getLogger(__name__)
P = ParamSpec("P")
T = TypeVar("T")

# The number is lower than the number of connections in the database pool, which is the number of web threads plus two.
_THREADS: Final = 4
_pool: Final = ThreadPoolExecutor(_THREADS, thread_name_prefix="streaming")


async def in_thread(work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Run `work` in one of four threads. Raises StreamError (503) when the database does not respond."""

    def run() -> T:
        close_old_connections()
        try:
            return work(*args, **kwargs)
        except (OperationalError, InterfaceError) as error:
            logger.warning("the database did not answer: %s", error)
            raise StreamError(503, UNAVAILABLE) from error
        finally:
            close_old_connections()

    return await asyncio.get_running_loop().run_in_executor(_pool, run)
