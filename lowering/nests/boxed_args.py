"""Arguments of boxed calls: buffers, and scalars of the graph."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fxc.ir.records import frozen
from fxc.ir.signature import ViewStep


@frozen
class BufferArg:
    """A buffer as an argument of a boxed call; ``scalar`` if the kernel takes a NumPy scalar.

    With ``steps`` it is a view of the buffer. Their arguments are those of boxed calls.
    """

    buffer: str
    scalar: bool = False
    weak: bool = False
    steps: tuple[ViewStep, ...] = ()


@frozen
class InputArg:
    """A scalar input of the graph, passed on as it is."""

    input: int


def boxed_buffers(args: Sequence[object]) -> Iterator[str]:
    """The buffers among the arguments of a boxed call."""
    return (arg.buffer for arg in buffer_args(args))


def buffer_args(args: Sequence[object]) -> Iterator[BufferArg]:
    """The arrays and scalars in memory among the arguments of a boxed call."""
    for arg in args:
        if isinstance(arg, BufferArg):
            yield arg
            for step in arg.steps:
                yield from buffer_args(step.args)
        elif isinstance(arg, tuple):
            yield from buffer_args(arg)
