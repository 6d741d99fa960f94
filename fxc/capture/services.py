"""Which functions do what values do by modules above them: see Note [What modules above do]."""

from __future__ import annotations

from fxc.ir.later import import_later

from .values.above import Above

SERVICES = Above(
    array_ufunc=import_later("fxc.capture.numpy_api.ufunc_methods", "array_ufunc"),
    array_function=import_later("fxc.capture.numpy_api.protocol", "array_function"),
    as_function=import_later("fxc.capture.numpy_api.protocol", "as_function"),
    with_class=import_later("fxc.capture.numpy_api.sampled_classes", "with_class"),
    class_relied_on=import_later("fxc.capture.numpy_api.subclasses", "class_relied_on"),
    called_as_is=import_later("fxc.capture.numpy_api.foreign", "call_foreign"),
    chosen=import_later("fxc.capture.statements.choices", "chosen"),
    one_way=import_later("fxc.capture.statements.choices", "one_way"),
    counted=import_later("fxc.capture.regions.counted", "counted"),
    elements_in_order=import_later("fxc.capture.statements.iterators", "elements_in_order"),
    decoded=import_later("fxc.capture.lists.byte_strings", "decoded"),
    character=import_later("fxc.capture.lists.characters", "element_of"),
    mixed=import_later("fxc.capture.forms.mixed_operators", "computed"),
    of_one_dtype=import_later("fxc.capture.forms.one_dtype", "of_one_dtype"),
    bytes_of=import_later("fxc.capture.lists.byte_strings", "Bytes"),
    text_of=import_later("fxc.capture.lists.texts", "Text"),
    repeated=import_later("fxc.capture.lists.sized_lists", "repeated"),
    to_list=import_later("fxc.capture.lists.sized_lists", "to_list"),
    list_of=import_later("fxc.capture.lists.sized_lists", "list_of"),
    tuples_of=import_later("fxc.capture.lists.sized_lists", "tuples_of"),
    arrays_of=import_later("fxc.capture.lists.sized_lists", "arrays_of"),
    rows_of=import_later("fxc.capture.lists.list_pools", "rows_of"),
    list_to_grow=import_later("fxc.capture.lists.traced_lists", "list_to_grow"),
)
