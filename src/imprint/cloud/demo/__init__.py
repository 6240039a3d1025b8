"""Shows that servers of one image get hardware of their own.

Boots one image many times on the real cloud, each time with other
overrides, and tells what each guest saw and what libvirt runs. Then boots its
disk as several operating systems, and tells why each got what it has. Run as
`python -m imprint.cloud.demo`.
"""
