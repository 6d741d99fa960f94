"""What the door asks of values that few programs have. See Note [Rooms with one door]."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fxc.ir.later import import_class_later

if TYPE_CHECKING:
    from ..forms.differing import Differing as Differing
    from ..lists.list_room import WithLength as WithLength
    from ..lists.records import Record as Record
    from ..outside.dicts import ExternalDict as ExternalDict
    from ..outside.dicts import Namespace as Namespace
    from ..outside.lists import ExternalList as ExternalList
    from ..outside.sets import ExternalSet as ExternalSet
    from ..values.late import Late as Late
else:
    Differing = import_class_later("fxc.capture.forms.differing", "Differing")
    WithLength = import_class_later("fxc.capture.lists.list_room", "WithLength")
    Record = import_class_later("fxc.capture.lists.records", "Record")
    ExternalDict = import_class_later("fxc.capture.outside.dicts", "ExternalDict")
    Namespace = import_class_later("fxc.capture.outside.dicts", "Namespace")
    ExternalList = import_class_later("fxc.capture.outside.lists", "ExternalList")
    ExternalSet = import_class_later("fxc.capture.outside.sets", "ExternalSet")
    Late = import_class_later("fxc.capture.values.late", "Late")
