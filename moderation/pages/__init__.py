"""Pages about this server."""
