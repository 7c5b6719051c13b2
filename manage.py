#!/usr/bin/env python
"""The operators' door: every command of the server."""

import sys

from social.runtime.manage import main

if __name__ == "__main__":
    sys.exit(main(sys.argv))
