"""Differences of texts: values that are the same are called the same."""

from expecttest import TestCase

from fxc.ir.text_diff import coloured, text_diff

BEFORE = """\
captured f(%x: f64[8], %y: f64[8])
  %0: f64[8] = multiply(%x, %y)             # a.py:1
  %1: f64[8] = multiply(%x, %y)             # a.py:2
  %2: f64[8] = add(%0, %1)                  # a.py:3
  %3: f64[8] = exp(%2)                      # a.py:4
  return %3"""
AFTER = """\
functional f(%x: f64[8], %y: f64[8])
  %7: f64[8] = multiply(%x, %y)  # a.py:1
  %1: f64[8] = add(%7, %7)       # a.py:3
  %2: f64[8] = negative(%1)      # a.py:4
  return %2"""


class Differences(TestCase):
    maxDiff = None

    def test_of_graphs_that_number_their_values_each_on_its_own(self) -> None:
        self.assertExpectedInline(
            text_diff(BEFORE, AFTER, ("a", "b")),
            """\
--- a
+++ b
@@ -1,6 +1,5 @@
-captured f(%x: f64[8], %y: f64[8])
+functional f(%x: f64[8], %y: f64[8])
   %7: f64[8] = multiply(%x, %y)  # a.py:1
-  %7: f64[8] = multiply(%x, %y)  # a.py:2
   %1: f64[8] = add(%7, %7)  # a.py:3
-  %2: f64[8] = exp(%1)  # a.py:4
+  %2: f64[8] = negative(%1)  # a.py:4
   return %2""",
        )


def test_texts_that_differ_in_numbers_and_in_columns_alone_are_the_same() -> None:
    before = "loops f\n  for i in 0:8  # a.py:1\n    t1 = x[i]\n    b2[i] = t1"
    after = "loops f\n  for i in 0:8       # a.py:1\n    t4 = x[i]\n    b7[i] = t4"
    assert text_diff(before, after, ("a", "b")) == ""
    assert coloured("") == ""
