"""Process that decodes files from outside: without Django, secrets, network, or any file except the files it is given.

`social.kernel.media.decoder` starts it and sends it jobs; each job runs in a fork that ends with the job.
"""
