"""Per-server image properties for OpenStack Nova."""
