#!/usr/bin/env python3
"""Entry point of every command. Outside of a virtual environment, it restarts itself with the Python of `.venv`."""

import os
import sys

FOLDER = os.path.dirname(os.path.abspath(__file__))
PYTHON = os.path.join(FOLDER, ".venv", "bin", "python")

if __name__ == "__main__":
    if sys.prefix == sys.base_prefix and os.path.exists(PYTHON):
        os.execv(PYTHON, [PYTHON, os.path.join(FOLDER, "manage.py"), *sys.argv[1:]])  # noqa: S606 (no shell)
    try:
        from social.runtime.manage import main

        sys.exit(main(sys.argv))
    except ModuleNotFoundError as error:
        if os.path.exists(os.path.join(FOLDER, (error.name or "").partition(".")[0])):
            raise  # a module of ours
        sys.exit(
            f"manage.py: {error}. Install the libraries: make -C {FOLDER} run, or {PYTHON} -m pip install -r "
            f"{os.path.join(FOLDER, 'requirements', 'runtime.txt')}"
        )
