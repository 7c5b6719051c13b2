"""`python -m social.kernel.media.decoding DESCRIPTOR`: takes jobs from the socket of that number."""

from social.kernel.media.decoding.server import main

main()
