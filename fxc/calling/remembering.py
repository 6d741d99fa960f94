"""Calls by compilations of earlier processes. See docs/cache.md."""

from __future__ import annotations

import types
import weakref
from collections import deque
from typing import TYPE_CHECKING, Any

from fxc.compilations import trials
from fxc.compilations.decisions import Captures, is_of_numpy
from fxc.ir.asynchronous import hand_on
from fxc.ir.forking import compiling
from fxc.ir.later import import_later
from fxc.ir.logs import ROOT
from fxc.ir.settings import cache_folder, config

from .compiling import log_again, log_variant
from .running import P, R, Running
from .splitting import Splitting

if TYPE_CHECKING:
    from fxc.cache.entries import Entries
    from fxc.compilations.variants import Variant

are_of_objects = import_later("fxc.compilations.of_objects", "are_of_objects")
lighten = import_later("fxc.cache.lightened", "lighten")

_WHOLE = 32  # compilations
# The last ones: what was compiled, what it goes by in the cache, and its bytes.
_last: deque[tuple[weakref.ref[Running[Any, Any]], bytes, bytes]] = deque()


class Remembering(Splitting[P, R]):
    """A function whose compilations outlast the process."""

    __slots__ = ()

    def _add(self, variant: Variant) -> None:
        """Let calls be run by one more variant."""
        raise NotImplementedError

    def _remembered(
        self, key: object, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Variant | None:
        """The compilation of an earlier process that is for this call."""
        function, state = self._remembers(), self._state
        if function is None:
            return None
        with state.guard(), compiling():
            try:
                entries = self._entries(key, function)
                found, text = entries.find(function, args, kwargs)
            except Exception as error:  # of what is on disk, or of a function: it is captured then
                self._log_unkept(error)
                return None
            if found is not None:
                log_again(self.__name__, state.variants, args, kwargs)
                state.vary(found.captured.varying)
                self._add(found)
                log_variant(self.__name__, found, len(state.variants), "comes from the disk cache")
                _lighten_others(self, found, text)
            return found

    def _remember(self, variant: Variant) -> None:
        """Keep a compilation for later processes."""
        function = self._remembers()
        if function is not None:
            with self._state.guard(), compiling():
                try:
                    text = self._entries(variant.key, function).add(variant, function)
                    if text is not None:
                        _lighten_others(self, variant, text)
                except Exception as error:
                    self._log_unkept(error)

    def _log_unkept(self, error: Exception) -> None:
        """Say in the log why nothing is kept."""
        hand_on(error)
        ROOT.info("%s: the cache is not used: %r", self.__name__, error)

    def _remembers(self) -> types.FunctionType | None:
        """The function, if its compilations are kept."""
        function: Any = self.__fxc_original__
        options = self._options
        is_plain = isinstance(function, types.FunctionType) and options.backend == "llvm"
        if not is_plain or options.passes or cache_folder() is None:
            return None
        if config.trace is not None:  # which tells how a compilation is made
            return None
        found: types.FunctionType = function
        return found

    def _entries(self, key: object, function: types.FunctionType) -> Entries:
        """Requires: no fork can come between, see ``compiling``. Who forked while a module is being
        imported would wait for it for ever.
        """
        from fxc.cache.codes import keep_codes_on_disk
        from fxc.cache.entries import Entries
        from fxc.cache.keys import key_of_calls, key_of_function

        keep_codes_on_disk()
        captures = self._captures(key)
        if captures.entries is None:
            own = key_of_function(function, self._options)
            captures.entries = Entries(key_of_calls(own, key), key)
        return captures.entries

    def _captures(self, key: object, given: object = ()) -> Captures:
        """What is known of captures of calls of one kind; these arguments may be the first."""
        found = self._state.captures.get(key)
        if found is None:
            may_wait = trials.are_held() and not self._options.fullgraph
            may_be = may_wait and not is_of_numpy(key)
            of_objects = may_be and are_of_objects(key, self.__fxc_original__, given)
            found = self._state.captures.setdefault(key, Captures(may_wait, of_objects))
        return found


def _lighten_others(owner: Running[Any, Any], variant: Variant, text: bytes) -> None:
    """Note that this compilation is the last one, of which the cache has this text; make light the
    one that is too long ago. Requires: ``variant.kept``.
    """
    _last.append((weakref.ref(owner), variant.kept, text))
    if len(_last) <= _WHOLE:
        return
    reference, kept, text = _last.popleft()
    found = reference()
    if found is None or not found._state.guard().acquire(blocking=False):
        return  # another thread is about to use it
    try:
        for each in found._state.variants:
            if each.kept == kept:
                lighten(each, text, found.__fxc_original__)
    finally:
        found._state.guard().release()
