"""Reads archives of somebody's own posts, and imports them (`accounts.transfers.models.PastImport`)."""
