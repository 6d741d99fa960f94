"""Which arrays of a capture show the memory of others.

Arrays that loops and branches may have made one, and views of one array (``memory``): what a write
to one of them makes wrong is refused.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from itertools import combinations, product
from typing import Any

from fxc.ir.error_kinds import (
    COUNTED_LIST,
    EITHER_ARRAY,
    IDENTITY,
    NO_RESULT,
    OVERLAPPING_WRITE,
    WARNS,
    Kind,
)
from fxc.ir.errors import CaptureError
from fxc.ir.graph import Value
from fxc.ir.later import import_later
from fxc.ir.size_functions import hint
from fxc.ir.size_guards import guard
from fxc.ir.types import ArrayType
from fxc.ops.metas.layout import overlaps_itself

from .memory import ShownMemory
from .recorder import Alternative, OpenRegion, Recorder, options_of
from .refusing import (
    BEHIND_LOOPS,
    VIEWS_BY_PYTHON,
    VIEWS_BY_SIZES,
    How,
    Request,
    Respecialise,
    refusal,
    refuse,
)

# See Note [Rooms with one door].
may_be_same = import_later("fxc.capture.session.alternatives", "may_be_same")

_REPLACED = (
    "a write to an array that a loop or a branch may have replaced by another one, which is used "
    "behind it, cannot be captured; write to a copy of it"
)
_ONE_OR_TWO = (
    "a result that is one array in one case and another, or a new one, in the other cannot be "
    "captured; return a copy"
)


class Aliases(ShownMemory):
    """Which arrays of a capture may be one, and what a write to one says of the others."""

    def __init__(self, session: Recorder) -> None:
        super().__init__(session)
        # The region that made an array, but for those of the outermost level.
        self.homes: dict[Value, int] = {}
        self.given_up: set[Value] = set()  # see ``_give_up``
        self.twins: dict[Value, dict[Value, None]] = {}  # may be one: ``may_be_one``
        self.has_doubtful_views = False  # see ``may_be_view``
        # Arrays behind loops that may have had no iteration, where the caller can tell which it is.
        self.replaced: dict[Value, Alternative] = {}
        self._has_replaced = False
        self.told: set[Value] = set()  # those of them that the epilogue tells apart
        # Windows that may be the whole array, the same object: Note [Windows that loops carry].
        self.wholes: dict[Value, Value] = {}
        # Arrays by the list that has taken them over, and the lists that are returned: given.py.
        self.given: dict[Value, Any] = {}
        # Of those that were new when they were appended the regions in which that was.
        self.appended: dict[Value, list[Sequence[OpenRegion]]] = {}
        # Those of them that have not been read of a list: they are the arrays that Python has.
        self.own: set[Value] = set()
        self.joined: set[Value] = set()  # results of branches that are new arrays in either arm
        self.kept: list[Any] = []  # lists of whose arrays variables have some
        self.returned: list[Any] = []
        # Arrays that lists show, by their roots, and these lists.
        self.lent: set[Value] = set()
        self.with_gaps: set[Value] = set()  # what foreign calls have given: nobody writes to them
        self.grown: set[Value] = set()  # what loops have made longer: nobody writes to them
        self.borrowers: list[Any] = []
        self.of_callers: list[Any] = []  # with copies of any of the caller's arrays
        self.has_lent_views = False  # some of these hold views
        # When an array was last written, by its root: on the session's clock.
        self.written: dict[Value, int] = {}
        self.changed: dict[Value, int] = {}  # likewise, also by writes to inputs that overlap it
        self.warned: set[Value] = set()  # see ``check_warned``
        self._relied_on: dict[Value, list[tuple[int, int]]] = {}  # see ``rely_on``

    def before_write(
        self,
        index_of: dict[str, int],
        places: tuple[int, ...],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> None:
        for name, place in index_of.items():
            if place not in places:
                continue
            target = args[place] if place < len(args) else kwargs[name]
            self.check_warned(target, "a write")
            self._check_distinct(target)
            root = self.root(target)
            memory = [root, *self.overlapping(root)]
            for each in memory:
                self._check_region_write(each)
            twins = [twin for each in memory for twin in self.twins.get(each, ())]
            self._give_up(root, twins)
            if root in self.replaced and not self.given_up.isdisjoint(twins):
                del self.replaced[root]  # what it is without an iteration nobody uses so far
                self._has_replaced = True
            if any(each in self.given or each in self.lent for each in (*memory, *twins)):
                raise refuse(
                    COUNTED_LIST,
                    "a write to an array that is in a list whose length depends on data",
                    "append a copy, or write to one",
                )
            if root in self.with_gaps:
                raise refuse(
                    OVERLAPPING_WRITE,
                    "a write to an array with gaps in memory, which a function that fxc does not "
                    "know has given,",
                    "write to a copy",
                )
            if root in self.grown:
                raise refuse(
                    EITHER_ARRAY,
                    "a write to an array that a loop has made longer",
                    "write to a copy of it",
                )
            self.written[root] = self._session.now
            self.changed.update(dict.fromkeys(memory, self._session.now))

    def _give_up(self, root: Value, twins: Sequence[Value]) -> None:
        """Note that an array is written which these may be, by loops or branches that made them:
        they may be right no longer, and nobody may read them from now on.
        """
        if not (twins := list(filter(self._session.is_alive, twins))):
            return
        seen = self.bases.keys() | self._session.door.outside.arrays.keys()  # also by others
        if any(twin in seen or self._may_be_read_again(root, twin) for twin in twins):
            raise self.refuse_replaced()
        self.given_up.update(twins)

    def _may_be_read_again(self, root: Value, twin: Value) -> bool:
        """Whether a loop may read again what ``root``, which it writes, is at its beginning."""
        loop = self._session.outermost_loop(self._session.made_in(twin))
        if loop is None or self._session.made_in(root) != loop.number:
            return loop is not None
        reads = self._session.read.items()
        return any(at >= loop.began and twin in self.roots(value) for value, at in reads)

    def check_given_up(self, value: Value) -> None:
        """Refuse to read what ``_give_up`` has taken note of."""
        if self.given_up and not self.roots(value).isdisjoint(self.given_up):
            raise self.refuse_replaced()

    def refuse_replaced(self) -> CaptureError | Respecialise:
        """The refusal of a write to what may be another array; those behind loops that may have had
        no iteration can be one of two.
        """
        is_behind = bool(self.replaced) or self._has_replaced
        if is_behind and BEHIND_LOOPS not in self._session.requests:
            return Respecialise(BEHIND_LOOPS, error=refusal(OVERLAPPING_WRITE, _REPLACED))
        return self._refuse_twins(OVERLAPPING_WRITE, _REPLACED)

    def may_rely_on(self, root: Value) -> bool:
        """Whether nothing is known yet of a write in a loop that makes it wrong."""
        return How.WRITTEN not in self._session.asked(root.name)

    def rely_on(self, root: Value, at: int) -> None:
        """Note that an array is taken to hold now what it held at that time."""
        self._relied_on.setdefault(root, []).append((at, self._session.now))

    def _check_region_write(self, root: Value) -> None:
        """Refuse a write to an array from outside of a loop on whose elements the loop relies
        before: what is known of them (history.py) is known for one iteration.
        """
        home = self.homes.get(root, 0)
        for region in self._session.regions:
            if region.number <= home:
                return  # regions inside are of higher numbers
            if region.kind != "loop":
                continue
            if any(at <= region.began <= later for at, later in self._relied_on.get(root, ())):
                error = refuse(
                    OVERLAPPING_WRITE,
                    "a write, inside a loop, to an array from outside of it on whose elements the "
                    "loop relies before",
                    "use a copy of it there",
                )
                if self.may_rely_on(root):
                    raise Respecialise(Request(root.name, How.WRITTEN), error=error)
                raise error

    def may_be_one(self, left: Value, right: Value) -> None:
        """Note that two arrays may be one at run time, and what ``right`` may be one with, too."""
        mine, others = self.roots(left), self.roots(right)
        also = [twin for each in others for twin in self.twins.get(each, ())]
        for one, other in product(mine, dict.fromkeys((*others, *also))):
            if other not in mine:
                self.twins.setdefault(one, {})[other] = None
                self.twins.setdefault(other, {})[one] = None

    def hand_on(self, found: Value, values: Iterable[Value]) -> None:
        """Note that a result of a region may be what these values of the region may be."""
        for root in [root for value in values for root in self.roots(value)]:
            for each in (root, *self.twins.get(root, ())):
                if self._session.is_alive(each):
                    self.may_be_one(found, each)
            if self.is_lent(root):
                self.lent.update(self.roots(found))

    def is_lent(self, root: Value) -> bool:
        """Whether a list may show this memory, which nobody writes to from there on."""
        return any(each in self.lent for each in (root, *self.twins.get(root, ())))

    def check_results(
        self,
        leaves: Mapping[int, Value],
        inputs: Iterable[Value],
        apart: Container[tuple[int, int]] = frozenset(),
    ) -> None:
        """Refuse results of which the caller could see whether they are one array or two; of two
        leaves that are ``apart`` there is one.
        """
        given = set(leaves.values())
        for value in given:
            self.check_given_up(value)
        self._check_items(given)
        if any(may_be_same(self._session, *pair) for pair in combinations(given, 2)):
            raise self._refuse_twins(NO_RESULT, _ONE_OR_TWO)
        if not (self.wholes.keys() & given).issubset(self.told):
            raise refuse(
                NO_RESULT,
                "a result that is an array in one case, and a part of it in the other, by the "
                "iterations of a loop,",
                "return a copy",
            )
        views = frozenset[Value]().union(*(self.roots(x) for x in given if self.root(x) is not x))
        told = {(x, self.replaced[x].right) for x in self.told - views}
        told |= {(right, left) for left, right in told}
        others = {None: frozenset(inputs)} | {
            place: self.roots(each) for place, each in leaves.items()
        }
        if self.twins and any(
            other in seen and (root, other) not in told
            for place, each in leaves.items()
            for root in self.roots(each)
            for other in self.twins.get(root, ())
            for beside, seen in others.items()
            if (place, beside) not in apart and (beside, place) not in apart
        ):
            raise self._refuse_twins(NO_RESULT, _ONE_OR_TWO)

    def _check_items(self, results: Iterable[Value]) -> None:
        """Refuse results that are items of lists if the caller could see it."""
        lists = [keeper for value in results for keeper in self._keepers(value)]
        kept = {id(each.keeper) for each in self.kept}
        roots = {root for value in results for root in self.roots(value) if root in self.given}
        keeper_of = {root: id(self.given[root].keeper) for root in roots}
        shown = {place for x, place in keeper_of.items() if x not in self.own or place in kept}
        if any(id(borrower.keeper) in shown for borrower in self.borrowers):
            raise self.refuse_borrowed(
                "an item of a list that holds an array of the caller's, or a part of another "
                "array, as a result, cannot be captured; return a copy"
            )
        lists += [x.keeper for x in self.returned]
        if len(set(map(id, lists))) < len(lists):
            raise refuse(
                NO_RESULT,
                "an array that is in a list whose length depends on data, beside the list or "
                "another of its items, as results,",
                "return a copy",
            )

    def _keepers(self, value: Value) -> list[Any]:
        """The lists that have taken over what an array may be, each once."""
        found = [self.given[root].keeper for root in self.roots(value) if root in self.given]
        return list({id(keeper): keeper for keeper in found}.values())

    def may_be_view(self, copied: Value, value: Value) -> None:
        """Note that a copy may be a view, by counted sizes. See Note [Views or copies]."""
        self.has_doubtful_views = True
        self.may_be_one(copied, value)

    def _refuse_twins(self, kind: Kind, what: str) -> CaptureError | Respecialise:
        """The refusal of what shows whether arrays are one; views by sizes can be told."""
        error = refusal(kind, what)
        if self.has_doubtful_views:
            return Respecialise(VIEWS_BY_SIZES, error=error)
        return error

    def refuse_borrowed(self, what: str) -> CaptureError | Respecialise:
        """The refusal of a result; of a list with views, which Python can make, if that is new."""
        error = refusal(EITHER_ARRAY, what)
        if self.has_lent_views and VIEWS_BY_PYTHON not in self._session.requests:
            return Respecialise(VIEWS_BY_PYTHON, error=error)
        return error

    def check_distinct(self, left: Value, right: Value) -> None:
        """Refuse to say that two arrays are not one object if they may be, by a condition."""
        mine, others = (frozenset(options_of(self._session, value)) for value in (left, right))
        # Loops carry arrays of one size or another as views of flat ones, which are the twins.
        twins = {twin for each in self.roots(left) for twin in self.twins.get(each, ())}
        kept = [self._keepers(value) for value in (left, right)]
        may_be_whole = self.root(left) is self.root(right) and not (
            self.wholes.keys().isdisjoint((left, right))
        )
        is_given = any(one is other for one, other in product(*kept)) or (
            any(kept) and any(map(self.is_lent, (*self.roots(left), *self.roots(right))))
        )
        is_given |= bool(self.of_callers) and all(map(self._may_be_callers, (left, right)))
        may_be_one = not (mine.isdisjoint(others) and twins.isdisjoint(self.roots(right)))
        if may_be_one or may_be_same(self._session, left, right) or is_given or may_be_whole:
            raise self._refuse_twins(
                IDENTITY,
                "'is' of arrays that are one or two by an 'if' on elements, or by the iterations "
                "of a loop, cannot be captured",
            )

    def _may_be_callers(self, value: Value) -> bool:
        """Whether this may be an array of the caller's, or an item of a list of copies of them."""
        return bool(self._keepers(value)) or not self.roots(value).isdisjoint(self.input_arrays)

    def no_longer_one(self, value: Value) -> None:
        """Forget what ``may_be_one`` has noted of an array, which is gone."""
        for other in self.twins.pop(value, ()):
            del self.twins[other][value]
            if not self.twins[other]:
                del self.twins[other]

    def _check_distinct(self, target: Value) -> None:
        """Refuse a write to, or through, a view in which one element stands at several places, or
        bytes stand for bools.

        Arrays from outside that are so are found by their guards, see ``overlaps``.
        """
        for value in self._views(target):
            kind = value.type
            if kind.dtype.kind != "b" and self.bases[value].type.dtype.kind == "b":
                raise refuse(
                    OVERLAPPING_WRITE, "a write to the bytes of an array of bools", "write bools"
                )
            if isinstance(kind, ArrayType) and self._session.made[value].name == "as_strided":
                for dim in kind.shape:  # whether elements are apart depends on the sizes
                    guard(dim, "==", hint(dim))
            if isinstance(kind, ArrayType) and kind.writeable and overlaps_itself(kind):
                raise refuse(
                    OVERLAPPING_WRITE,
                    "a write to an array in which several elements share memory",
                    "write to a copy of it",
                )

    def check_warned(self, value: Value, what: str) -> None:
        """Refuse ``what`` of a view by ``np.broadcast_arrays``: NumPy warns of it."""
        if not self.warned.isdisjoint(self._views(value)):
            raise refuse(
                WARNS,
                f"{what} of a view that np.broadcast_arrays or np.meshgrid made, of which "
                "NumPy warns,",
                "use a copy",
            )
