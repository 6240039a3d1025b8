"""A real OpenStack on one machine.

Two halves share this package.  The host half (`shell`, `life`, `root`) needs
only the standard library and may run from any environment; the inside half
(`supervisor` and what it starts) runs in the cloud's private Debian root.
No part of it knows how Imprint works: it runs Nova with it or without it.
"""
