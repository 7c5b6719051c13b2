"""Backups of a whole server: a folder with the database, the secrets, the files, and a manifest that proves them whole."""
