"""Reads archives of a person's own posts, and imports the posts (`accounts.transfers.models.PastImport`)."""
