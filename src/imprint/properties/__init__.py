"""Which image properties a server gets, and why: pure functions.

Knows no Nova and no oslo library: the host says which names exist and which
values they take, see :class:`imprint.properties.names.Vocabulary`.
"""
