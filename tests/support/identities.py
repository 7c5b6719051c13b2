"""Helper that sets the identity of this server for tests."""

from social.kernel.identity import Identity, current_identity, forget_identity, source


def show_identity(identity: Identity) -> None:
    """Cache an identity as if it had just been read from the database."""
    with source.replaced(lambda: identity):
        forget_identity()
        current_identity()
