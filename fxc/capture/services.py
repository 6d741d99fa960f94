"""Which functions do what values do by modules above them: see Note [What modules above do]."""

from __future__ import annotations

from .forms import mixed_operators
from .lists import list_pools, sized_lists
from .lists.texts import Text, decoded
from .lists.traced_lists import list_to_grow
from .numpy_api.foreign import call_foreign
from .numpy_api.protocol import FUNCTIONS, array_function
from .numpy_api.ufunc_methods import array_ufunc
from .regions.counted import counted
from .statements import choices, iterators
from .values.above import Above

SERVICES = Above(
    array_ufunc=array_ufunc,
    array_function=array_function,
    functions=FUNCTIONS,
    called_as_is=call_foreign,
    chosen=choices.chosen,
    one_way=choices.one_way,
    counted=counted,
    elements_in_order=iterators.elements_in_order,
    decoded=decoded,
    text_of=Text,
    repeated=sized_lists.repeated,
    to_list=sized_lists.to_list,
    list_of=sized_lists.list_of,
    tuples_of=sized_lists.tuples_of,
    rows_of=list_pools.rows_of,
    room_for_numbers=sized_lists.room_for_numbers,
    list_to_grow=list_to_grow,
)
mixed_operators.give_operators()
