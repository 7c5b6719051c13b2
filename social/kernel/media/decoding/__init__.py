"""Process that decodes files from outside. It has no Django, no secrets, no network, and no file except the files it is given.

`social.kernel.media.decoder` starts it and sends it jobs; each job runs in a fork that ends with the job.
"""
