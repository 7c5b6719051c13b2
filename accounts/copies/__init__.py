"""Copies of remote files, and the quarantine of files that the scanner has refused."""
