"""Settings of hypothesis: no deadlines (the first call of a function compiles it), the same
examples at every run in CI, and a failing example printed so that it can be pasted back.
"""

import os

from hypothesis import settings

settings.register_profile("here", deadline=None, print_blob=True)
settings.register_profile("ci", deadline=None, print_blob=True, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")
