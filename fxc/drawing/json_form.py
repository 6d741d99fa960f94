"""Pictures as JSON has them, in traces, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

from .picture import DrawnOperation, DrawnRegion, Kind, Picture

_KINDS = get_args(Kind)


def to_json(picture: Picture) -> dict[str, object]:
    """The picture in dicts and lists; what is empty is left out."""
    shown = [_of_operation(each) for each in picture.operations]
    return {"title": picture.title, "operations": shown, "groups": dict(picture.groups)}


def _of_operation(each: DrawnOperation) -> dict[str, object]:
    made = {name: getattr(each, name) for name in each.__match_args__}
    made["kind"] = "" if each.kind == "plain" else each.kind
    made["parts"] = [
        {"name": part.name, "operations": [_of_operation(x) for x in part.operations]}
        for part in each.parts
    ]
    return {name: value for name, value in made.items() if value}


def from_json(content: object) -> Picture:
    """The picture that ``to_json`` gave. Raises ``ValueError`` for what is none."""
    try:
        return _picture(content)
    except (TypeError, KeyError, AttributeError, RecursionError) as error:
        raise ValueError(f"it is no picture: {error!r}") from None


def _picture(content: Any) -> Picture:
    groups: Mapping[str, str] = {str(k): str(v) for k, v in content["groups"].items()}
    return Picture(str(content["title"]), tuple(map(_operation, content["operations"])), groups)


def _operation(content: Any) -> DrawnOperation:
    place = content.get("place")
    kind = content.get("kind", "plain")
    return DrawnOperation(
        str(content["key"]),
        str(content["label"]),
        str(content.get("below", "")),
        tuple(map(str, content.get("reads", ()))),
        tuple(map(str, content.get("gives", ()))),
        tuple(map(str, content.get("after", ()))),
        kind if kind in _KINDS else "plain",
        None if place is None else (str(place[0]), int(place[1])),
        str(content.get("group", "")),
        tuple(
            DrawnRegion(str(part["name"]), tuple(map(_operation, part["operations"])))
            for part in content.get("parts", ())
        ),
    )
