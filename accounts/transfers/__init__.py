"""Transfers: lists and archives that people take along, imports, moves and merges of accounts."""
