"""Backups of a whole server: folders with the database, the secrets, the files, and a manifest to verify them."""
