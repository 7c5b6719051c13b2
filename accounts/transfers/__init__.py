"""Transfers: imports and exports of lists and archives, and moves and merges of accounts."""
