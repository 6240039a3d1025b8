"""Clients: what a user of the API runs; no server part is imported."""
