"""Programs, and edits after which another process has to capture anew: of functions, of what they
call, of globals, closures, defaults and classes. What an edit does not change is restored.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Edit:
    """A text in which ``before`` becomes ``after``; ``restored``: what was stored still holds."""

    text: str
    before: str
    after: str
    restored: bool = False
    kept: bool = True  # what comes of the edit


HELPERS = """
import math
SCALE = 2.0
SHAPE = (3, 1)
TABLE = {"a": 1.0, "b": 2.0}
NAMES = ["a", "b"]
WEIGHTS = np.array([1.0, 2.0, 3.0, 4.0])

def inner(x, k=3.0):
    return x * k

def helper(x, *, n=2):
    for _ in range(n):
        x = inner(x) + 1
    return x

def f(x):
    return helper(x) * SCALE + len(SHAPE)

def other(x):
    return x
"""
TABLES = HELPERS.replace(
    "helper(x) * SCALE + len(SHAPE)", "x * TABLE['a'] + len(NAMES) * WEIGHTS.sum()"
)
CLOSURE = """
def make(k, fn):
    def f(x):
        return fn(x) * k
    return f

def double(x):
    return x * 2

f = make(3.0, double)
"""
LAMBDAS = """
OPS = {"add": lambda x: x + 1, "mul": lambda x: x * 3}
first = lambda x: x - 1

def f(x):
    return OPS["add"](first(x))
"""
METHODS = """
class Base:
    rate = 2.0
    def part(self, x):
        return x * self.rate

class Model(Base):
    bias = 1.0
    def __init__(self):
        self.seen = 3.0
    @property
    def gain(self):
        return self.seen + 1
    @staticmethod
    def plus(x):
        return x + 1
    @classmethod
    def named(cls, x):
        return x * cls.bias
    def run(self, x):
        return self.plus(self.part(x)) * self.gain + self.named(x)

model = Model()

def f(x):
    return model.run(x)
"""
RECORD = """
from dataclasses import dataclass, field

@dataclass
class Point:
    x: float
    y: float = 2.0

def f(x):
    p = Point(x * 1.0)
    q = Point(p.x, 4.0)
    return p.x * p.y + q.y
"""
COLOURS = """
import enum

class Colour(enum.Enum):
    RED = 1
    BLUE = 5

MODE = Colour.RED

def f(x):
    if MODE is Colour.RED:
        return x + Colour.BLUE.value
    return x - Colour.BLUE.value
"""
WRAPPED = """
import functools

def scaled(fn):
    @functools.wraps(fn)
    def wrapper(x):
        return fn(x) * 2
    return wrapper

@scaled
def helper(x):
    return x + 1

def f(x):
    return helper(x)
"""
COMPILED = """
import fxc

@fxc.compile
def helper(x):
    return np.sqrt(x) * 3 + 0.1

def f(x):
    return helper(x) + 1
"""
PARTIAL = """
import functools

def power(x, n):
    return x ** n

cube = functools.partial(power, n=3)

def f(x):
    return cube(x)
"""
FLOW = """
def f(x):
    total = x * 0
    for i in range(3):
        if i == 1:
            total = total + x * i
        else:
            total = total - x
    while total[0] < 10:
        total = total + 5
    return total
"""
GLOBAL_FUNCTION = """
import math as m

def f(x):
    return x * m.sqrt(2.0) + m.pi
"""
EXCEPTIONS = """
class Problem(ValueError):
    pass

def check(x):
    if x.ndim != 1:
        raise Problem("no")
    return x * 2

def f(x):
    try:
        return check(x)
    except ValueError:
        return x
"""
DESCRIBED = """
from typing import NamedTuple

START = np.float64(2.0)

class Pair(NamedTuple):
    a: object
    b: object = START

class Known:
    \"\"\"abc\"\"\"
    a: int

def f(x):
    return x * Pair(1.0).b + len(Known.__doc__) + len(Known.__annotations__)
"""
NESTED = """
def f(x):
    def g(y):
        return y * 2
    return sum([g(x), g(x + 1)])
"""

EDITS = [
    Edit(HELPERS, "def other(x):\n    return x", "def other(x):\n    return 5", restored=True),
    Edit(HELPERS, "TABLE = {", "TABLE = { 'c': 5.0, ", restored=True),
    Edit(HELPERS, "return x * k", "return x + k"),
    Edit(HELPERS, "k=3.0", "k=4.0"),
    Edit(HELPERS, "k=3.0", "k=3"),
    Edit(HELPERS, "n=2", "n=3"),
    Edit(HELPERS, "+ 1\n    return x", "+ 2\n    return x"),
    Edit(HELPERS, "+ 1\n    return x", "+ 1\n    return -x"),
    Edit(HELPERS, "range(n)", "range(n + 1)"),
    Edit(HELPERS, "SCALE = 2.0", "SCALE = 3.0"),
    Edit(HELPERS, "SCALE = 2.0", "SCALE = 2"),
    Edit(HELPERS, "SCALE = 2.0", "SCALE = np.float32(2.0)"),
    Edit(HELPERS, "SCALE = 2.0", "SCALE = np.array(2.0)"),
    Edit(HELPERS, "SHAPE = (3, 1)", "SHAPE = (3, 1, 1)"),
    Edit(HELPERS, "def inner(x, k=3.0):", "def inner(x, k=3.0, *args):"),
    Edit(HELPERS, "* SCALE + len", "* SCALE - len"),
    Edit(HELPERS, "def f(x):\n    return helper(x)", "def f(x):\n    return inner(x)"),
    Edit(HELPERS, "SHAPE = (3, 1)\n", "SHAPE = (3, 1)\nlen = lambda x: 7\n"),
    Edit(HELPERS, "SHAPE = (3, 1)\n", "SHAPE = (3, 1)\nrange = lambda n: [1]\n"),
    Edit(TABLES, '"a": 1.0', '"a": 1.5'),
    Edit(TABLES, '"b": 2.0', '"b": 2.5', restored=True),
    Edit(TABLES, 'NAMES = ["a", "b"]', 'NAMES = ["a"]'),
    Edit(TABLES, "3.0, 4.0])", "3.0, 5.0])", restored=True),
    Edit(TABLES, "3.0, 4.0])", "3.0, 4.0, 1.0])"),
    Edit(TABLES, "3.0, 4.0])", "3.0, 4.0], np.float32)"),
    Edit(CLOSURE, "make(3.0", "make(4.0"),
    Edit(CLOSURE, "make(3.0", "make(3"),
    Edit(CLOSURE, "return x * 2", "return x * 5"),
    Edit(CLOSURE, "3.0, double", "3.0, lambda x: x * 9"),
    Edit(CLOSURE, "fn(x) * k", "fn(x) + k"),
    Edit(LAMBDAS, "x + 1", "x + 2"),
    Edit(LAMBDAS, "x - 1", "x - 3"),
    Edit(LAMBDAS, '"add": lambda x: x + 1', '"add": lambda x: x * 1'),
    Edit(LAMBDAS, "lambda x: x * 3", "lambda x: x * 4", restored=True),
    Edit(METHODS, "rate = 2.0", "rate = 3.0"),
    Edit(METHODS, "bias = 1.0", "bias = 4.0"),
    Edit(METHODS, "self.seen = 3.0", "self.seen = 5.0"),
    Edit(METHODS, "self.seen + 1", "self.seen + 2"),
    Edit(METHODS, "return x + 1", "return x + 3"),
    Edit(METHODS, "x * cls.bias", "x - cls.bias"),
    Edit(METHODS, "x * self.rate", "x / self.rate"),
    Edit(METHODS, "class Model(Base):", "class Model(Base):\n    part = lambda self, x: x"),
    Edit(METHODS, "class Model(Base):", "class Model(Base):\n    __slots__ = ()"),
    Edit(METHODS, "model = Model()", "model = Model()\nmodel.part = lambda x: x * 8"),
    Edit(METHODS, "model = Model()", "model = Model()\nmodel.rate = 7.0"),
    Edit(METHODS, "model = Model()", "model = type('Model', (Model,), {'rate': 9.0})()"),
    Edit(METHODS, "bias = 1.0", "bias = 1.0\n    def __getattribute__(self, n): return object.__getattribute__(self, n) if n != 'rate' else 6.0", kept=False),
    Edit(RECORD, "y: float = 2.0", "y: float = 3.0"),
    Edit(RECORD, "    x: float\n    y: float = 2.0", "    y: float\n    x: float = 2.0"),
    Edit(RECORD, "@dataclass\n", "@dataclass\nclass Old: pass\n\n@dataclass(frozen=True)\n"),
    Edit(RECORD, "    y: float = 2.0", "    y: float = 2.0\n    def __post_init__(self): self.y = self.y * 3"),
    Edit(RECORD, "    y: float = 2.0", "    y: float = field(default=2.0, init=False)\n    z: float = 8.0"),
    Edit(COLOURS, "BLUE = 5", "BLUE = 6"),
    Edit(COLOURS, "MODE = Colour.RED", "MODE = Colour.BLUE"),
    Edit(COLOURS, "RED = 1\n    BLUE = 5", "BLUE = 5\n    RED = 5"),
    Edit(WRAPPED, "return x + 1", "return x + 2"),
    Edit(WRAPPED, "fn(x) * 2", "fn(x) * 4"),
    Edit(WRAPPED, "@scaled\n", ""),
    Edit(COMPILED, "* 3", "* 4"),
    Edit(COMPILED, "@fxc.compile\n", '@fxc.compile(math="exact")\n'),
    Edit(COMPILED, "@fxc.compile\n", ""),
    Edit(PARTIAL, "n=3", "n=2"),
    Edit(PARTIAL, "x ** n", "x * n"),
    Edit(FLOW, "i == 1", "i == 2"),
    Edit(FLOW, "range(3)", "range(4)"),
    Edit(FLOW, "total - x", "total - 2 * x"),
    Edit(FLOW, "< 10", "< 20"),
    Edit(FLOW, "< 10", "<= 10"),
    Edit(GLOBAL_FUNCTION, "sqrt(2.0)", "exp(2.0)"),
    Edit(GLOBAL_FUNCTION, "import math as m", "import numpy as m"),
    Edit(GLOBAL_FUNCTION, "import math as m", "class m:\n    sqrt = staticmethod(lambda x: 7.0)\n    pi = 3"),
    Edit(EXCEPTIONS, "Problem(ValueError)", "Problem(TypeError)", restored=True),
    Edit(EXCEPTIONS, "x.ndim != 1", "x.ndim == 1"),
    Edit(EXCEPTIONS, "return x * 2", "return x * 3"),
    Edit(DESCRIBED, "float64(2.0)", "float64(3.0)"),
    Edit(DESCRIBED, "float64(2.0)", "array([3.0])"),
    Edit(DESCRIBED, "abc", "abcd"),
    Edit(DESCRIBED, "a: int", "b: int; a: int"),
    Edit(NESTED, "return y * 2", "return y * 3"),
    Edit(NESTED, "x + 1", "x + 2"),
]  # fmt: skip
