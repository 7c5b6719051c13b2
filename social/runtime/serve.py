"""Entry point of each kind of process: `python -m social.runtime.serve web|streaming|worker|scheduler`.

The supervisor of `manage.py run` starts these processes; systemd or a container may start them too, with the settings in the
environment.
"""

from __future__ import annotations

import gc
import importlib
import os
import socket
import sys
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from django.core.exceptions import ImproperlyConfigured

from social.kernel import descriptors
from social.queues import WAKE_QUEUES, queues_of
from social.runtime.failures import OperatorError
from social.runtime.processes import SUPERVISED, follow_parent

if TYPE_CHECKING:
    from celery import Celery

try:
    from social.settings import env
except ImproperlyConfigured as error:
    sys.exit(f"social.runtime.serve: The settings are wrong: {error}")

#: Number of database connections of a worker in addition to one for each thread: for the main loop, and for the renewal of
#: leases.
SPARE_CONNECTIONS = 2


def web() -> None:
    """Serve the REST API and the pages on PORT, with WEB_WORKERS processes of WEB_THREADS threads. SIGHUP replaces them
    with processes that run the current program.
    """
    from django.conf import settings
    from django.urls import get_resolver

    from social.api.routing import upload_limits
    from social.runtime.web.adapter import Adapter, Limits
    from social.runtime.web.server import Server

    descriptors.allow_many()
    application = _load_web()
    from social.kernel.refusals import write_last_counts  # a model, which needs the applications
    from social.pages.errors import refused

    limits = Limits(threads=settings.WEB_THREADS, upload_threads=settings.UPLOAD_THREADS)
    upload_limit = upload_limits(get_resolver().url_patterns)
    adapter = Adapter(
        application,
        limits,
        upload_limit=upload_limit,
        folder=str(env.DATA_DIR),
        error_page=refused,
        at_end=write_last_counts,
    )
    # The loaded modules live as long as the process. A garbage collection that visits them would copy every memory page that
    # the processes share.
    gc.collect()
    gc.freeze()
    # A request creates thousands of objects that end with it; a collection after every 700 objects took 5 % of its time.
    gc.set_threshold(5_000, 20, 20)
    Server(adapter, limits, env.BIND, env.PORT, workers=env.WEB_WORKERS).run()


def _load_web() -> Any:
    from django.urls import get_resolver

    application = importlib.import_module("social.wsgi").application
    # Loads the URLs and views of every app, once for all workers instead of in the first request of each.
    assert get_resolver().reverse_dict is not None
    return application


def streaming() -> None:
    """Serve the streaming API on STREAMING_PORT, with one event loop; its options are in `social.asgi`."""
    importlib.import_module("social.asgi").serve()


def _celery() -> Celery[Any]:
    """Return the Celery app, set up as the command `celery` does. The command would also load a shell, which takes 6 MiB."""
    import django
    from celery import signals

    django.setup()
    # System checks are for developers, and would load every view.
    os.environ["CELERY_SKIP_CHECKS"] = "yes"
    warnings.filterwarnings("ignore", message="You're running the worker with superuser privileges")
    # If this signal has a receiver, Celery leaves the logging to settings.LOGGING_CONFIG.
    signals.setup_logging.connect(lambda **_: None, weak=False)
    app: Celery[Any] = importlib.import_module("social.celery").app
    return app


def worker() -> None:
    """Do the background work of the lanes in WORKER_LANES; each queue has its own threads (`social.queues`)."""
    from django.conf import settings

    queues = queues_of(env.WORKER_LANES)
    threads = sum(terms.threads for terms in queues.values())
    settings.DATABASES["default"]["OPTIONS"]["pool"]["max_size"] = threads + SPARE_CONNECTIONS
    controller = _celery().Worker(
        pool_cls="social.runtime.lanes:LanePool",
        concurrency=threads,
        without_gossip=True,
        without_mingle=True,
        queues=[*queues, *(WAKE_QUEUES[lane] for lane in env.WORKER_LANES)],
        loglevel=env.LOG_LEVEL,
        hostname=f"worker@{socket.gethostname()}",
        quiet=True,
    )
    controller.start()
    sys.exit(controller.exitcode)


def scheduler() -> None:
    """Run the scheduler that `social.schedule` names; it writes no schedule file and no pid file."""
    from django.conf import settings

    # The scheduler sends tasks by name. It does not load the apps that define them, and therefore needs 60 MiB instead of 105.
    settings.SCHEDULED_APPS, settings.INSTALLED_APPS = settings.INSTALLED_APPS, ["social"]
    _celery().Beat(loglevel=env.LOG_LEVEL, quiet=True).run()


def _check_installation() -> None:
    """Raise OperatorError if this machine's domains, secrets or tables do not match the database, or if there is none."""
    from django.conf import settings

    from social.runtime import database
    from social.runtime.fingerprints import check_secrets
    from social.runtime.unfinished import refuse_unfinished
    from social.settings.secrets import load_secrets

    refuse_unfinished(env.DATA_DIR)
    secrets = load_secrets(env.DATA_DIR)
    url = os.environ.get("DATABASE_URL")
    if not url:
        raise OperatorError(f"DATABASE_URL is not set. Set it, or start everything with {env.manage_command('run')}")
    with database.connect(url) as connection, connection.cursor() as cursor:
        database.check_domain(cursor, env.LOCAL_DOMAIN)
        database.check_web_domain(cursor, env.WEB_DOMAIN)
        check_secrets(cursor, secrets, env.DATA_DIR)
        database.refuse_older_tables(cursor, settings.INSTALLED_APPS)


PROCESSES: dict[str, Callable[[], None]] = {
    "web": web,
    "streaming": streaming,
    "worker": worker,
    "scheduler": scheduler,
}


def main(arguments: list[str]) -> int:
    """Run one kind of process until a signal stops it, and return the exit code. It is 2 for an unknown name, and 1 for a
    machine that does not match the database. `web --check` only checks whether the program can be loaded.
    """
    checking = arguments == ["web", "--check"]
    if checking:
        arguments = ["web"]
    if len(arguments) != 1 or arguments[0] not in PROCESSES:
        print(f"usage: python -m social.runtime.serve {'|'.join(PROCESSES)}", file=sys.stderr)
        return 2
    follow_parent()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "social.settings.base")
    from social.runtime.observing import check_observing, observe

    try:
        if SUPERVISED not in os.environ:  # a supervisor checks the installation before it starts its processes
            _check_installation()
        check_observing()
    except (OperatorError, ImproperlyConfigured) as error:
        print(f"social.runtime.serve {arguments[0]}: {error}", file=sys.stderr)
        return 1
    observe(arguments[0])
    if checking:
        _load_web()
    else:
        PROCESSES[arguments[0]]()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
