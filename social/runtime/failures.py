"""Errors reported to the operator as one line with a remedy."""

from __future__ import annotations


class OperatorError(Exception):
    """A fault that an operator can put right: the message is one line that names it and its remedy."""


class Interrupted(Exception):
    """A signal asked to stop while the start was still under way."""
