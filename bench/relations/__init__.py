"""Measure the list of a server's images beside Glance's own filters."""
