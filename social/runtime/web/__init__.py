"""The server of HTTP requests: one event loop per process talks to all clients, a few threads run the application.

A thread is only taken when a request has arrived whole, and is free again as soon as the answer is made: slow senders
and slow readers cost a connection and nothing else (security rows 49 to 52). HTTP/1.1 and 1.0 only.
"""
