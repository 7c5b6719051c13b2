"""Delivery of notifications outside of this server's pages and API."""
