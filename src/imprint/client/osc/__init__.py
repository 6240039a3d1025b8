"""Image property overrides for OpenStackClient.

Its own commands stay its own: hooks read more options and, only where one is
given, change what the command's one call sends. Commands that it has not are
a plugin's.
"""
