"""Collections: lists of accounts that their owner recommends to others."""
