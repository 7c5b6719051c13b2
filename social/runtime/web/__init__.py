"""The HTTP server: Granian receives requests and sends responses, and threads run the application.

A thread is taken when the whole request has arrived, and is free again as soon as the response is made. Slow senders and slow
readers occupy only a connection (security rows 49 to 52). HTTP/1.1 and 1.0 only.
"""
