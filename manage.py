#!/usr/bin/env python3
"""Entry point of every command. Outside of a virtual environment, it restarts itself with the Python of `.venv`."""

import os
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
PYTHON = os.path.join(FOLDER, ".venv", "bin", "python")

if __name__ == "__main__":
    remedy = (
        f"Install the libraries: make -C {FOLDER} run, or {PYTHON} -m pip install -r "
        f"{os.path.join(FOLDER, 'requirements', 'runtime.txt')}"
    )
    if sys.prefix == sys.base_prefix and os.path.lexists(PYTHON):
        try:
            os.execv(PYTHON, [PYTHON, os.path.join(FOLDER, "manage.py"), *sys.argv[1:]])  # noqa: S606 (no shell)
        except OSError as error:
            remedy = (
                f"This user cannot run {PYTHON} ({error.strerror}): make .venv again, with a Python that everybody can "
                "run, such as /usr/bin/python3"
            )
    try:
        from social.runtime.manage import main

        sys.exit(main(sys.argv))
    except ModuleNotFoundError as error:
        if os.path.exists(os.path.join(FOLDER, (error.name or "").partition(".")[0])):
            raise  # a module of ours
        sys.exit(f"manage.py: {error}. {remedy}")
