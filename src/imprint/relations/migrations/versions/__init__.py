"""One file per change; none is edited after its release."""
