"""Drawings of graphs: where things stand, what marks them, and how large they get."""

import itertools
import random
import xml.etree.ElementTree as ET

import numpy as np
import pytest

import fxc
from fxc.drawing.bounded import bounded, edges_of, groups_that_hold
from fxc.drawing.json_form import from_json, to_json
from fxc.drawing.layers import _separated, arranged
from fxc.drawing.layout import layout
from fxc.drawing.picture import DrawnOperation, Picture, picture_of
from tests.tracing_programs import relax, relax_arguments

SVG = "{http://www.w3.org/2000/svg}"


def drawn(function, *args):
    return fxc.draw(fxc.compile(function, fullgraph=True).inspect(*args).captured)


def kinds(text):
    return [each.get("class") for each in ET.fromstring(text).iter(f"{SVG}g") if each.get("class")]


def test_views_writes_inputs_and_results_are_told_apart():
    found = kinds(str(drawn(relax, *relax_arguments())))
    assert found.count("view") == 4
    assert found.count("write") == 1
    assert (found.count("input"), found.count("result")) == (2, 2)


def test_what_is_read_behind_a_write_is_joined_to_it():
    graph = fxc.compile(relax, fullgraph=True).inspect(*relax_arguments()).captured
    operations = picture_of(graph).operations
    (write,) = [each for each in operations if each.kind == "write"]
    behind = [each.label for each in operations if write.key in each.after]
    assert behind == ["item"]


def branches(x, n):
    total = 0.0
    for i in range(n):
        if x[i] > 0:
            total += x[i] * 2
        else:
            total -= np.sqrt(-x[i])
    return total


def test_regions_lie_inside_of_their_operation():
    graph = fxc.compile(branches, fullgraph=True).inspect(np.ones(100), 100).captured
    found = layout(picture_of(graph))
    assert [frame.title for frame in found.frames] == ["body", "on_true", "on_false"]
    by_label = {box.operation.label: box for box in found.boxes}
    for inner, outer in (("cond", "fori_loop"), ("sqrt", "cond"), ("negative", "cond")):
        assert is_inside(by_label[inner], by_label[outer])


def is_inside(inner, outer):
    return all(
        outer.corner[a] < inner.corner[a]
        and inner.corner[a] + inner.size[a] < outer.corner[a] + outer.size[a]
        for a in (0, 1)
    )


def random_picture(seed, count=40, groups=4):
    r = random.Random(seed)
    operations = []
    for i in range(count):
        reads = {f"v{r.randrange(max(0, i - 9), i)}" for _ in range(r.randrange(3)) if i}
        group = r.choice(["", *(f"nest {n}" for n in range(groups))])
        operations.append(
            DrawnOperation(str(i), f"op{i}", reads=tuple(reads), gives=(f"v{i}",), group=group)
        )
    return Picture("random", tuple(operations), {})


@pytest.mark.parametrize("seed", range(20))
def test_boxes_lie_apart_and_below_what_they_read(seed):
    picture = random_picture(seed)
    found = layout(picture)
    boxes = {box.operation.key: box for box in found.boxes}
    assert boxes.keys() == {each.key for each in picture.operations}
    for one, other in itertools.combinations(found.boxes, 2):
        assert any(
            one.corner[a] + one.size[a] <= other.corner[a]
            or other.corner[a] + other.size[a] <= one.corner[a]
            for a in (0, 1)
        )
    for source, target in edges_of(picture.operations):
        above, below = boxes[source], boxes[target]
        assert above.corner[1] + above.size[1] < below.corner[1]
    for box in found.boxes:
        for a in (0, 1):
            assert box.corner[a] >= 0
            assert box.corner[a] + box.size[a] <= found.size[a] + 1e-6


@pytest.mark.parametrize("seed", range(20))
def test_a_group_is_a_frame_unless_a_way_leads_out_and_back(seed):
    picture = random_picture(seed)
    whole = groups_that_hold(picture.operations)
    found = layout(picture)
    assert {frame.title for frame in found.frames} == whole
    for frame in found.frames:
        for box in found.boxes:
            assert is_inside(box, frame) is (box.operation.group == frame.title)


def test_a_group_with_a_way_out_and_back_is_no_frame():
    a = DrawnOperation("a", "a", gives=("a",), group="nest 1")
    b = DrawnOperation("b", "b", reads=("a",), gives=("b",))
    c = DrawnOperation("c", "c", reads=("b",), group="nest 1")
    assert groups_that_hold((a, b, c)) == set()
    assert groups_that_hold((a, b)) == {"nest 1"}


def test_places_are_as_near_as_they_can_be_and_apart():
    assert _separated([0, 10, 20], [5, 5]) == [0, 10, 20]
    assert _separated([0, 0], [10]) == [-5, 5]
    assert _separated([9, 1, 30], [4, 4]) == [3, 7, 30]
    assert arranged({}, []).size == (0, 0)


@pytest.mark.parametrize("count", [10, 300, 1200])
def test_a_picture_is_bounded_and_nothing_of_it_is_lost(count):
    picture = random_picture(1, count)
    small = bounded(picture, 100)
    assert len(small.operations) <= 101
    assert {name for each in small.operations for name in each.gives} == {
        name for each in picture.operations for name in each.gives
    }
    layout(small)  # no circle: a box is below those that it reads
    assert bounded(small, 100) == small


def test_regions_of_a_large_picture_are_closed_first():
    graph = fxc.compile(branches, fullgraph=True).inspect(np.ones(100), 100).captured
    small = bounded(picture_of(graph), 8)
    loop = next(each for each in small.operations if each.label == "fori_loop")
    assert loop.parts == ()
    assert "boxes inside" in loop.below


@pytest.mark.parametrize(
    "function, args", [(relax, relax_arguments()), (branches, (np.ones(9), 9))]
)
def test_json_is_read_back(function, args):
    picture = picture_of(fxc.compile(function, fullgraph=True).inspect(*args).captured)
    assert from_json(to_json(picture)) == picture


@pytest.mark.parametrize("junk", [None, 3, [], {}, {"title": "", "operations": [3], "groups": {}}])
def test_junk_is_no_picture(junk):
    with pytest.raises(ValueError, match="it is no picture"):
        from_json(junk)


def test_text_is_escaped_and_the_drawing_needs_no_other_file(tmp_path):
    text = str(drawn(relax, *relax_arguments()))
    picture = Picture("<&>", (DrawnOperation("1", "</text><script>", "ü ≤ 3", ()),), {})
    from fxc.drawing.svg import svg

    root = ET.fromstring(svg(picture, layout(picture)))
    assert "</text><script>" in [each.text for each in root.iter(f"{SVG}text")]
    assert "http" not in text.replace("http://www.w3.org/2000/svg", "")
    drawing = drawn(relax, *relax_arguments())
    assert drawing._repr_svg_() == text
    drawing.save(tmp_path / "a.svg")
    assert (tmp_path / "a.svg").read_text(encoding="utf-8") == text


def test_the_stages_are_drawn_with_what_is_fused():
    stages = fxc.compile(relax, fullgraph=True).inspect(*relax_arguments())
    text = str(fxc.draw(stages))
    titles = [t.text for t in ET.fromstring(text).iter(f"{SVG}text") if t.get("class") == "title"]
    assert titles == ["nest 1", "nest 2"]
    assert "lanes 8" in text
    by_numpy = fxc.compile(relax, backend="numpy").inspect(*relax_arguments())
    assert 'class="frame group"' not in str(fxc.draw(by_numpy))


def test_what_is_no_graph_is_refused():
    with pytest.raises(TypeError, match=r"fxc.draw takes what inspect.*, not int"):
        fxc.draw(3)
