"""Functions of a module that are equal: one of them is compiled."""

import numpy as np

import fxc
from fxc.lowering.emission.merging import merged


def test_equal_functions_are_one() -> None:
    leaf = "define internal i64 @{0}.leaf(i64 %n) {{\n  ret i64 %n\n}}"
    tree = "define internal i64 @{0}(i64 %n) {{\n  %a = call i64 @{0}.leaf(i64 %n)\n  %b = call i64 @{0}(i64 %a)\n  ret i64 %b\n}}"
    other = "define internal i64 @sum2.leaf(i64 %n) {\n  ret i64 0\n}"
    entry = "define i64 @entry() {\n  %a = call i64 @sum0(i64 1)\n  %b = call i64 @sum1(i64 %a)\n  %c = call i64 @sum2.leaf(i64 %b)\n  ret i64 %c\n}"
    functions = [text.format(name) for name in ("sum0", "sum1") for text in (leaf, tree)]
    assert merged([*functions, other, entry]) == [
        *functions[:2],
        other,
        entry.replace("@sum1", "@sum0"),
    ]


def test_sums_of_arrays_of_one_kind_share_their_code() -> None:
    def sums(x, y, z):
        return x.sum(), y.sum(), (z * z).sum()

    given = [np.linspace(1, k, 300) for k in (2, 3, 4)]
    compiled = fxc.compile(sums, fullgraph=True)
    assert compiled(*given) == sums(*given)
    assert compiled.inspect(*given).llvm.count("define internal double") == 4
