"""Spam rules, which hold posts and sign-ups for review, limit accounts or report them."""
