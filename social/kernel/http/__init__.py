"""Outgoing HTTP: every connection from this server to another machine is made in this package."""
