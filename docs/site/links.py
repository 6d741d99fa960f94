"""A hook of MkDocs: links to files outside of ``docs``, which the site has not, become texts."""

import re
from typing import Any


def on_page_markdown(markdown: str, *, page: Any, **given: object) -> str:
    """The text of a page. What is above a page in a folder of ``docs`` is in the site."""
    is_inside = "/" in page.file.src_uri
    return markdown if is_inside else re.sub(r"\[([^\]]+)\]\(\.\./[^)]*\)", r"\1", markdown)
