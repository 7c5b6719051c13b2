"""Knows the one way out: every connection from this server to another machine is made in this package."""
