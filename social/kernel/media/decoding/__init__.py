"""The process that looks into files from outside: without Django, secrets, network, or a file beyond those it is given.

`social.kernel.media.decoder` starts it and gives it jobs; each job is done by a fork of it that ends with the job.
"""
