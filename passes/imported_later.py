"""What graphs with views and writes take. See Note [Rooms with one door]."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fxc.ir.later import import_class_later, import_later

if TYPE_CHECKING:
    from .aliases import Affine as Affine
    from .aliases import Other as Other
else:
    Affine = import_class_later("fxc.passes.aliases", "Affine")
    Other = import_class_later("fxc.passes.aliases", "Other")

extended = import_later("fxc.passes.aliases", "extended")
inverse_steps = import_later("fxc.passes.aliases", "inverse_steps")
region_of = import_later("fxc.passes.aliases", "region_of")
steps_of = import_later("fxc.passes.aliases", "steps_of")
