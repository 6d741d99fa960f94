"""What exported programs are for other runtimes: one method a target."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from fxc.ir.graph import Graph
from fxc.ir.records import computed_once
from fxc.ir.signature import Signature
from fxc.ir.tracebacks import folded
from fxc.ir.tree import TreeSpec

from .arguments import leaf_names, names_below
from .file import Fixed, GivenInput, SavedProgram, write_file

if TYPE_CHECKING:
    from .ahead_of_time import Texts


class Exports:
    """A program, its names, and its ways out of fxc."""

    def __init__(self, program: SavedProgram) -> None:
        self._program = program

    @property
    def graph(self) -> Graph:
        """The functional graph: pure operators alone."""
        return self._program.graph

    @property
    def signature(self) -> Signature:
        """Which inputs are updated with what, and what the caller's result is made of."""
        assert self.graph.signature is not None
        return self.graph.signature

    @property
    def in_spec(self) -> TreeSpec:
        """The pytree of the arguments, ``(args, kwargs)``."""
        return self._program.in_spec

    @property
    def out_spec(self) -> TreeSpec:
        """The pytree of the result."""
        return self._program.out_spec

    @computed_once
    def _leaf_names(self) -> list[str]:
        return leaf_names(self.in_spec, self._program.parameters)

    @computed_once
    def _input_names(self) -> dict[int, str]:
        """The argument that each input of the graph is first given by."""
        found: dict[int, str] = {}
        for leaf, name in zip(self._program.leaves, self._leaf_names, strict=True):
            if isinstance(leaf, GivenInput):
                found.setdefault(leaf.input, name)
        return found

    def _texts(self) -> Texts:
        """How the program speaks of sizes."""
        raise NotImplementedError

    @property
    def _at_least(self) -> dict[int, int]:
        """What inputs that are ints are not less than."""
        return {
            leaf.input: leaf.at_least
            for leaf in self._program.leaves
            if isinstance(leaf, GivenInput) and leaf.at_least is not None
        }

    # -- targets

    @folded
    def to_onnx(self, path: str | os.PathLike[str]) -> None:
        """Write the program as a model of ONNX, which onnx has checked.

        Arrays that the function writes are results of the model, called ``…_after``; the metadata
        of the model says what its results are. `docs/export.md` has all of it. The file is replaced
        as a whole.

        Raises ``ExportError``, which names all that ONNX has no operators for, and ``ImportError``
        if the package onnx is not installed (``pip install "fxc[onnx]"``).
        """
        from fxc.exporters.onnx.export import Names, onnx_model

        leaves = list(zip(self._program.leaves, self._leaf_names, strict=True))
        names = Names(
            tuple(self._input_names[place] for place in range(len(self.graph.inputs))),
            tuple(names_below(self.out_spec, "result")),
            tuple((name, repr(leaf.value)) for leaf, name in leaves if isinstance(leaf, Fixed)),
        )
        write_file(onnx_model(self.graph, names, self._at_least), path)

    def to(self, exporter: str, /, *args: object, **options: object) -> Any:
        """What an exporter of an installed package makes of the program.

        ``exporter`` is a name among its entry points ``fxc.exporters``; that function is given the
        program, then these arguments. Raises ``ValueError`` if no package offers one of that name.
        """
        from fxc.dispatch.extensions import exporter_of

        return exporter_of(exporter)(self, *args, **options)

    @folded
    def to_stablehlo(self, *, sizes: Mapping[str, int] | None = None) -> str:
        """The program as the text of an MLIR module of the StableHLO dialect; see docs/export.md.

        ``sizes`` are symbols that the text is for one number of: of an int argument by its name, of
        a size as the graph calls it. Raises ``ExportError``, which names each operator that has no
        words in StableHLO, with its line, ``ValueError`` for a symbol that the program has not, or
        a number that it is not for, and ``TypeError`` for what is no int.
        """
        from fxc.exporters.stablehlo.module import stablehlo_module

        low = {self.graph.inputs[place].name: least for place, least in self._at_least.items()}
        return stablehlo_module(self.graph, {} if sizes is None else sizes, low)

    @folded
    def to_object(
        self, folder: str | os.PathLike[str], levels: Sequence[str] | None = None
    ) -> None:
        """Write a package of object code, which runs with NumPy alone, and from C.

        The folder, which is made, has an object file for each of the ``levels`` (by default all:
        ``x86-64``, ``x86-64-v3``, ``x86-64-v4``, ``aarch64``), a manifest, a C header and a module
        for Python: its ``load()`` gives what is called as this program is. What is there of such a
        package before is replaced. docs/export.md says what cannot be exported so; that raises
        ``ExportError``, which names it, before anything is written.

        >>> import sys, tempfile, numpy as np, fxc
        >>> program = fxc.export(lambda x, k: x * k, np.ones(3), 2.0)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     program.to_object(f"{folder}/scaled")
        ...     sys.path.insert(0, folder)
        ...     from scaled import load
        ...     print(load()(np.arange(3.0), 0.5))
        [0.  0.5 1. ]
        """
        from .ahead_of_time import write_objects

        write_objects(self._program, self._texts(), folder, levels)

    @folded
    def to_numpy_source(self) -> str:
        """The program as a module of Python that needs NumPy alone, to be read and kept.

        It has one function, of the same name and parameters, which does what a call of the program
        does: to the last bit, arrays that it writes and views that it returns included. Arguments
        that it is not for are refused as here, with ``TypeError`` or ``ValueError``.

        Raises ``ExportError`` for a program that calls what is no part of NumPy.

        >>> import numpy as np, fxc
        >>> def smooth(u):
        ...     u[1:-1] += 0.5 * (u[:-2] - u[2:])
        >>> text = fxc.export(smooth, np.zeros(8)).to_numpy_source()
        >>> print(text[text.index("def smooth") :])
        def smooth(u):
            _check_array("u", u, np.float64, (8,))
            _check_written("u", u)
            u[1:-1] += 0.5 * (u[:-2] - u[2:])
        <BLANKLINE>
        """
        from fxc.exporters.numpy_source.arguments import Argument
        from fxc.exporters.numpy_source.module import numpy_source

        keywords = self.in_spec.children[1].keys
        plain = [name for name in self._program.parameters if name.isidentifier()]
        rest = {name.split("[")[0] for name in self._program.parameters} - set(plain)
        parameters = [*plain, *(f"*{name}" for name in rest)]
        parameters += ["*"] * bool(keywords and not rest) + [str(key) for key in keywords]
        arguments = []
        for leaf, name in zip(self._program.leaves, self._leaf_names, strict=True):
            match leaf:
                case GivenInput(place, at_least):
                    arguments.append(Argument(name, place, at_least))
                case Fixed(value):
                    arguments.append(Argument(name, is_fixed=True, fixed=value))
                case _:
                    arguments.append(Argument(name))
        texts = self._texts()
        return numpy_source(self.graph, parameters, arguments, self.out_spec, texts.guard)
