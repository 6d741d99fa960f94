"""Settings of all tests.

Every graph is verified after every pass. Hypothesis: no deadlines (the first call of a function
compiles it), the same examples at every run in CI, and a failing example printed so that it can be
pasted back.
"""

import os

from hypothesis import settings

settings.register_profile("here", deadline=None, print_blob=True)
settings.register_profile("ci", deadline=None, print_blob=True, derandomize=True)
os.environ.setdefault("FXC_VERIFY", "1")  # make fuzz, which runs many, verifies the last alone
settings.load_profile("ci" if os.environ.get("CI") else "here")
