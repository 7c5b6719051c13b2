"""Spam rules, by which posts and sign-ups are held, limited or reported."""
