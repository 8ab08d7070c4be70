"""The values that a type accepts, in plain English: for messages and for reference pages.

    >>> from typing import Annotated
    >>> from annotated_types import Gt, MinLen
    >>> words(Annotated[float, Gt(0)])
    'a number above 0'
    >>> words(Annotated[list[int], MinLen(2)])
    'a list of at least 2 items, each a whole number'

The constraints are those of `annotated_types`. The library imports no other library and is independent of budgetbench.
"""

from bench_limits.words import item_type, limit_of, type_text, words

__all__ = ["item_type", "limit_of", "type_text", "words"]
