"""Django's backend for PostgreSQL with a pool of our own (settings: `ENGINE`); Django loads `base` by its name."""
