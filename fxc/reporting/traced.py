"""What a report knows of a trace: its processes and their compilations."""

from __future__ import annotations

from fxc.drawing.picture import Picture
from fxc.ir.records import field, frozen, mutable

Place = tuple[str, int]  # a file and a line in it


@frozen
class TracedStep:
    """A step of a compilation. ``size`` says how large what it made is, in words."""

    name: str
    seconds: float
    size: str


@frozen
class TracedText:
    """The text of a stage, by line the places of the program that it is for."""

    lines: tuple[str, ...]
    of: tuple[tuple[Place, ...], ...]


@frozen
class TracedNest:
    """A loop nest: where it comes from, how it runs, how many operators are computed in it."""

    place: Place | None
    how: str
    operators: int
    reads: tuple[str, ...]
    writes: tuple[str, ...]


@frozen
class TracedTemporary:
    """A temporary array: its bytes, and the first and last of the statements that use it."""

    name: str
    size: int
    first: int
    last: int


@frozen
class TracedMemory:
    """What a call allocates."""

    arrays: tuple[tuple[str, str, int], ...]  # name, role, bytes
    temporaries: tuple[TracedTemporary, ...]
    arena: int
    statements: tuple[Place | None, ...]


@frozen
class TracedFailure:
    """Why there is no code: the class of an exception, its message, where in the program it was,
    the step behind which that was, and the lines of fxc that it came through if it is a bug.
    """

    error: str
    message: str
    place: Place | None
    after: str
    frames: tuple[str, ...] = ()


@mutable
class TracedCompilation:
    """One compilation, as far as the trace tells of it."""

    process: int  # the number of the trace
    number: int
    function: str = ""
    place: Place | None = None
    arguments: tuple[str, ...] = ()
    variant: int = 0
    reason: str = ""
    options: dict[str, str] = field(default_factory=dict)
    is_part: bool = False  # of a function that is split
    sources: dict[Place, tuple[str, ...]] = field(default_factory=dict)  # by their first line
    steps: list[TracedStep] = field(default_factory=list)
    stages: dict[str, TracedText] = field(default_factory=dict)
    drawings: dict[str, Picture] = field(default_factory=dict)
    nests: tuple[TracedNest, ...] = ()
    calls: tuple[tuple[str, Place | None], ...] = ()  # of NumPy
    copies: tuple[str, ...] = ()
    checks: tuple[str, ...] = ()
    guards: str = ""
    memory: TracedMemory | None = None
    seconds: float | None = None  # when it is finished
    fallbacks: tuple[str, ...] = ()
    failure: TracedFailure | None = None
    problems: list[str] = field(default_factory=list)

    @property
    def took(self) -> float:
        """Seconds, as far as it went."""
        return self.seconds or sum(step.seconds for step in self.steps)

    @property
    def outcome(self) -> str:
        """``compiled``, ``not compiled``, or ``cut off`` if the trace does not tell the end."""
        if self.failure is not None:
            return "not compiled"
        return "cut off" if self.seconds is None else "compiled"


@mutable
class TraceContent:
    """All that was read: what each process says of itself, compilations, what cannot be read."""

    heads: list[dict[str, str]] = field(default_factory=list)
    compilations: list[TracedCompilation] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
