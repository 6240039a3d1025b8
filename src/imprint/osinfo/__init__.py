"""The libosinfo database, read straight from its XML.

Knows files and their format, and no host: what follows from the facts is
decided in :mod:`imprint.hardware`.
"""
