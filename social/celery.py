"""Setup of Celery, which wakes the drains of the outbox and runs scheduled tasks. No work is stored in the broker alone."""

import os

from celery import Celery, Task

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "social.settings.base")


class WakeUp(Task):
    """Base of every task: a wake-up that may be lost, because the work itself is stored elsewhere."""

    # The class is given by name, so that only workers import it.
    Request = "social.runtime.lanes:UnacknowledgedRequest"


app = Celery("social", task_cls=WakeUp)
app.config_from_object("social.schedule:CELERY")
app.autodiscover_tasks()
