"""Errors reported to the operator as one line with a remedy."""


class OperatorError(Exception):
    """Error that an operator can correct: the message is one line that names the fault and its remedy."""


class Interrupted(Exception):
    """Signal to stop that was received during the start."""
