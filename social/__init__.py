"""Social: a federated social networking server."""

__version__ = "0.1.0"
