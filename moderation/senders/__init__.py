"""Background work that sends requests to other servers."""
