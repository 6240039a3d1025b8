"""Any value that a JSON body may hold, near to what a part understands."""

from hypothesis import strategies as st


def build(words):
    """Return strategies for strings and for any values; ``words`` are likely.

    Strings hold any character, lone surrogates too, as JSON's do.
    """
    texts = st.sampled_from([*words, "required", "9" * 5000]) | st.text(
        st.characters(codec=None), max_size=8
    )
    scalars = st.none() | st.booleans() | st.integers() | st.floats() | texts
    values = scalars | st.recursive(
        st.lists(scalars, max_size=2),
        lambda inner: st.dictionaries(texts, inner, max_size=2),
        max_leaves=3,
    )
    return texts, values
