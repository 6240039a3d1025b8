"""What hardware fits an operating system on a host: facts in, choices out.

Pure: reads no database, no libvirt and no clock, and logs nothing.  Every
choice carries its reason; who asked for it logs that.
"""
