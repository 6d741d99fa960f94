"""``python -m tests.scenarios`` writes ``docs/semantics.md``."""

from . import SCENARIOS
from .page import PAGE, page

PAGE.write_text(page(SCENARIOS))
print(f"{PAGE.name}: {len(SCENARIOS)} scenarios")
