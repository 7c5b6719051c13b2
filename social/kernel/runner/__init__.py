"""Runner of work that depends on other servers, with one table of terms (docs/adr/0012).

A new kind of work needs an entry in TERMS, a table of its rows and a function:

1. TERMS gives it a queue, threads, the budget and pace of a host, attempts, pauses and a lifetime.
2. A model that extends WaitingRow says what is to be done at which `host`. `queue` names its terms, and `due` is its event.
   With a foreign key that cascades, waiting rows are deleted with the object they refer to. WantedRow also says who named the
   host.
3. The function gets the jobs of a claim and returns a generator for each (`Work`), whose awaitables are awaited on the
   network loop. The generator records in `job.answers` how hosts answered, and deletes objects that another server reports
   gone (404, 410). The generator returns when nothing is left to do, raises Failed to be retried, and raises Failed with
   `final` to give up.
4. `WORK = Work(Model, function)`, and `WORK.subscribe()` in `reactions.py` of the app. `enqueue(*rows)` adds rows.

The runner handles claims, leases, retries, pauses of failing hosts, and the removal of rows that were given up.
"""

from social.kernel.runner.rows import Host, WaitingRow, WantedRow, enqueue, is_paused
from social.kernel.runner.running import Failed, Job, Run, Steps, Work, forget_given_up
from social.kernel.terms import TERMS, Terms

__all__ = [
    "TERMS",
    "Failed",
    "Host",
    "Job",
    "Run",
    "Steps",
    "Terms",
    "WaitingRow",
    "WantedRow",
    "Work",
    "enqueue",
    "forget_given_up",
    "is_paused",
]
