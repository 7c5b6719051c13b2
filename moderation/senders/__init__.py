"""Work that waits for other servers."""
