"""Imprint inside Nova: the only part that imports ``nova``."""
