"""Which image belongs to which server of which Nova: the records."""
