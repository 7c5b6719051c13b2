"""Work that waits for other servers: one runner, one table of terms (docs/adr/0012).

A new kind of work is an entry in TERMS and a function, besides the table that it waits in:

1. TERMS gives it a queue, threads, budget and pace of a host, attempts, pauses and lifetime.
2. A model that extends WaitingRow says what is to be done at which `host`; `queue` names its terms, `due` its event. With a
   foreign key that cascades, waiting rows go with what they are about. WantedRow says who named the host as well.
3. The function gets the jobs of a claim and gives a generator for each (`Work`): what it yields is awaited on the network
   loop. It says in `job.answers` how hosts answered, returns when the work is done or there is nothing left to do,
   deletes what another server calls gone (404, 410), and raises Failed for another attempt, or with `final` for none.
4. `WORK = Work(Model, function)`, and `WORK.subscribe()` in `reactions.py` of the app. `enqueue(*rows)` has rows done.

Claims, leases, retries, hosts that are left alone, and the removal of what was given up are then the runner's.
"""

from social.kernel.runner.rows import Host, WaitingRow, WantedRow, enqueue, is_left_alone
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
    "is_left_alone",
]
