"""Errors reported to the operator as one line with a remedy."""

from __future__ import annotations


class OperatorError(Exception):
    """Something an operator can put right: the message is one line that names the fault and its remedy."""


class Interrupted(Exception):
    """A signal asked to stop while the start was still under way."""
