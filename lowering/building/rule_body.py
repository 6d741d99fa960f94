"""What rules write the statements of one iteration with: see ``body``, which calls them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from fxc.ir.graph import Operand
from fxc.ir.symbols import Dim

from ..nests.buffers import Atom, Element, Idx


class RuleBody(Protocol):
    """The statements that compute elements of values inside one loop nest."""

    def value(self, operand: Operand, index: Idx, dtype: np.dtype | None = None) -> Atom: ...

    def element(self, operand: Operand, index: Idx, dtype: np.dtype | None = None) -> Element: ...

    def cast(self, element: Element, source: np.dtype, dtype: np.dtype | None) -> Element: ...

    def cast_atom(self, atom: Atom, source: np.dtype, dtype: np.dtype) -> Atom: ...

    def compute(
        self, op: str, args: Sequence[Atom], dtypes: Sequence[np.dtype], dtype: np.dtype
    ) -> str: ...

    def index(self, dim: Dim, dtype: np.dtype) -> Atom: ...

    def computed(self, operand: Operand, index: Idx) -> Dim: ...

    def load(self, buffer: str, index: Idx) -> str: ...
