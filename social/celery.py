"""Knows how Celery is set up: it wakes drains and runs batches; nothing is kept only in the broker."""

from __future__ import annotations

import os

from celery import Celery

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "social.settings.base")

app = Celery("social")
app.config_from_object("social.schedule:CELERY")
app.autodiscover_tasks()
