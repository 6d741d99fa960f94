"""An extension of Griffe: the examples in docstrings are blocks of code."""

import re
from typing import Any

import griffe

_EXAMPLE = re.compile(r"(?:^>>> .*\n(?:^(?!>>> ).+\n)*)+", re.MULTILINE)


class Doctests(griffe.Extension):
    """Puts fences around lines that begin with ``>>>``, and what they print."""

    def on_object(self, *, obj: Any, **given: object) -> None:
        if obj.docstring is not None:
            text = obj.docstring.value + "\n"
            obj.docstring.value = _EXAMPLE.sub(r"\n```pycon\n\g<0>```\n", text)
