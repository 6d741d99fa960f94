"""Random programs of lists, dicts, sets and deques that grow and shrink as the data says.

Lists in lists, lists and numbers in dicts, tuples and texts in lists, of the program's own and of the
caller's, stand among loops and branches. ::

    python -c "from tests.random_containers import random_containers; print(random_containers(17))"
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from dataclasses import dataclass

from tests.random_loops import BlockWriter, LoopProgram

HEAD = "def program(x, v, n, c, P, K, R, D, G, S, E, T, Q):"
# Where a template has {f}, {i}, {b} or {t} stands a float, an int, a bool or a text; {p}, {k}, {r}, {d},
# {g}, {s}, {e}, {h} and {w} are lists of floats, of ints and of lists of ints, dicts of numbers and of
# lists, sets, deques, lists of pairs (int, float) and lists of texts. Those in capitals are the caller's.
# {l} is a table of floats, {1} a dict by pairs of ints, {2} a list of dicts, {3} a dict of sets.
NAMES = {
    "p": ("p", "p", "P"), "k": ("k", "k", "K"), "r": ("r", "r", "R"), "d": ("d", "d", "D"), "g": ("g", "g", "G"),
    "s": ("s", "s", "S"), "e": ("e", "e", "E"), "h": ("h", "h", "T"), "w": ("w",), "l": ("l",), "1": ("f",), "2": ("i",), "3": ("t",),
}  # fmt: skip
BEGINS = {
    "p": ("p = []", "p = [c, 2.0]", "p = [0.5]", "p = [0.0] * n", "p = [float(a) for a in x]", "p = list(P)", "p = P.copy()"),
    "k": ("k = []", "k = [1, 0]", "k = [0]", "k = list(range(n))", "k = list(range(n))[::-1]", "k = [0] * len(x)", "k = [a for a in range(n) if x[a] > c]", "k = K[:]"),
    "r": ("r = [[] for _ in range(n)]", "r = [[a] for a in range(n)]", "r = [[n - a, a] for a in range(n)]", "r = [[], [], []]", "r = []",
          "r = [[j for j in range(n) if x[j] > x[a]] for a in range(n)]", "r = [list(a) for a in R]", "r = [[]] * n"),
    "d": ("d = {}", "d = {}", "d = {a: 0.0 for a in range(n)}", "d = dict(D)", "d = defaultdict(float)", "d = Counter(K)"),
    "g": ("g = {}", "g = defaultdict(list)", "g = {a: [a, 1] for a in range(n)}", "g = defaultdict(list)", "g = defaultdict(list)", "g = {a: [] for a in range(n)}"),
    "s": ("s = set()", "s = set()", "s = {0}", "s = set(K)", "s = set(range(n))"),
    "e": ("e = deque()", "e = deque([0])", "e = deque([(0)])", "e = deque(maxlen=3)", "e = deque(K)"),
    "h": ("h = []", "h = [(2, c), (0, 1.0)]", "h = [(0, 0.0)]", "h = [(a, x[a]) for a in range(n)]", "h = list(T)"),
    "w": ("w = []", "w = ['begin']"),
    "l": ("l = [[0.0] * n for _ in range(n)]", "l = [[x[a] * b for a in range(n)] for b in range(n)]", "l = [[0.5] * n] * n", "l = [x.tolist() for _ in range(n)]", "l = [[c] for _ in range(n)]"),
    "f": ("f = {}", "f = {(0, 0): c}", "f = {(a, a): x[a] for a in range(n)}", "f = defaultdict(int)"), "i": ("i = [{} for _ in range(n)]", "i = [{'a': c, 'b': a} for a in range(n)]", "i = [{a: c} for a in range(n)]", "i = [{}] * n"),
    "t": ("t = {}", "t = defaultdict(set)", "t = {a: {a} for a in range(n)}", "t = {a: set() for a in range(n)}"),
    "m": ("m = 0",), "u": ("u = 0.0", "u = -1.0"), "z": ("z = None", "z = None", "z = -1"), "o": ("o = None", "o = [0]", "o = []"),
    "j": ("j = 0",), "a": ("a = 0",), "y": ("y = c",), "q": ("q = ''", "q = 'none'"),
}  # fmt: skip
LEAVES = {
    "f": ("u", "y", "c", "x[a % n]", "x[j % n]", "0.5", "2.0", "x[0]"),
    "i": ("m", "j", "a", "n", "1", "2", "0", "int(v[a % n])", "len({k})"),
    "b": ("x[a % n] > c", "m > 2", "u < y", "j % 2 == 0", "x[j % n] > x[a % n]"),
    "t": ("q", "'up'", "'down'", "f'{{a}}'"),
}
FORMS = {
    "f": (
        "({f} + {f})", "({f} * {f})", "({f} - {f})", "sum({p})", "{p}[{i} % len({p})]", "max({p})", "x.sum()", "float({i})", "{d}.get({i}, 0.0)",
        "{d}[{i}]", "x[{k}].sum()", "x[{r}[{i} % n]].sum()", "sum({d}.values())", "{h}[-1][1]", "{h}[{i} % len({h})][1]", "({f} if {b} else {f})", "sum(b for _, b in {h})",
        "np.array({p}).sum()", "np.mean({p})", "{p}[-1]", "min({p}, default=0.0)", "sum(x[b % n] for b in {k})", "abs({f})", "max((b for _, b in {h}), default=c)",
        "{l}[{i} % n][{i} % n]", "sum({l}[{i} % n])", "max(max(b) for b in {l})", "sum(b[0] for b in {l})", "{1}[{i}, {i}]", "{1}.get(({i} % 3, {i} % 3), 0.5)", "sum({1}.values())", "{2}[{i} % n].get({i}, 0.5)", "{2}[{i} % n]['a']", "sum(b.get(0, 0.0) for b in {2})",
    ),
    "i": (
        "({i} + 1)", "({i} % 3)", "({i} * 2)", "({i} - {i})", "len({p})", "len({r}[{i} % n])", "len({d})", "len({s})", "len({e})", "len({h})", "len({g})", "len({w})",
        "{k}[{i} % len({k})]", "{k}[-1]", "sum({k})", "{r}[{i} % n][0]", "{r}[{i} % n][-1]", "sum({r}[{i} % n])", "{h}[0][0]", "{h}[-1][0]", "int({f}) % 5", "{k}.index({i})",
        "{k}.count({i})", "max({s})", "min({k})", "{e}[0]", "{e}[-1]", "sum(len(b) for b in {r})", "len({g}[{i}])", "sum({g}[{i} % 3])", "sum({s})", "{w}.count({t})", "len({t})",
        "max({d}, key={d}.get)", "({i} if {b} else {i})", "len([b for b in {k} if b > {i}])", "max(range(len({p})), key=lambda b: {p}[b])", "int(x.argmax())", "z if z is not None else {i}",
        "o[0]", "len(o)", "min({r}, key=len)[0]", "len(max({r}, key=len))",
        "len({l}[{i} % n])", "len({l})", "len({1})", "max({1})[0]", "len({2}[{i} % n])", "len({3})", "len({3}.get({i}, ()))", "len({3}[{i} % 3])", "sum(len(b) for b in {3}.values())", "sum(1 for b, j_ in {1} if b == j_)",
    ),
    "b": (
        "{f} > {f}", "{i} < {i}", "{i} % 2 == 0", "{i} in {k}", "{i} in {r}[{i} % n]", "{i} in {s}", "{i} not in {s}", "{i} in {d}", "{i} in {g}", "{p}", "not {k}", "{r}[{i} % n]",
        "{e}", "{i} in {e}", "({i}, {f}) in {h}", "not {b}", "({b} and {b})", "({b} or {b})", "z is None", "o is None", "o is {r}[{i} % n]", "{r}[{i} % n] is {r}[{i} % n]", "{r}[0] == {r}[{i} % n]",
        "{k} == {k}", "{t} in {w}", "{t} == {t}", "any(b > {i} for b in {k})", "all(len(b) for b in {r})", "{k} is {r}[{i} % n]", "{t}", "len({k}) > 2", "({i}, {i}) in {1}", "{i} in {2}[{i} % n]", "{i} in {3}", "{i} in {3}.get({i}, ())", "{l}[{i} % n] is {l}[{i} % n]", "{l}[0] == {l}[{i} % n]", "{2}[{i} % n] == {2}[0]", "{3}.get({i})", "{l}[{i} % n][0] > {f}",
    ),
    "t": ("f'{{{f}:.2f}}'", "f'{{{i}}}'", "str({i})", "'%d of %d' % ({i}, {i})", "({t} + {t})[:20]", "({t} if {b} else {t})", "','.join({w})[:20]", "{w}[-1]", "repr({f})", "str({k})", "f'{{{r}[{i} % n]}}'"),
}  # fmt: skip
STATEMENTS = (
    "{p}.append({f})", "{p}.append({f})", "{k}.append({i})", "{k}.append({i})", "{r}[{i} % n].append({i})", "{r}[{i} % n].append({i})", "{r}[{i} % n].append({i})", "{r}.append([])", "{r}.append([{i}])",
    "{r}.append([{i}, {i}])", "{r}[{i} % n] = [{i}]", "{r}[{i} % n] = {r}[{i} % n]", "{r}[{i} % n] = []", "{r}[{i} % n][0] = {i}", "{r}[{i} % n][-1] += {i}", "{r}[{i} % n].pop()", "{r}[{i} % n].pop(0)",
    "{r}[{i} % n].extend({r}[{i} % n][:3])", "{r}[{i} % n] += [{i}]", "{r}[{i} % n].sort()", "{r}[{i} % n].clear()", "{r}[{i} % n].remove({i})", "{r}[{i} % n].insert(0, {i})", "{r}[{i} % n].reverse()",
    "{k}.extend({r}[{i} % n][:3])", "{k} += [{i}, {i}]", "{k}.pop()", "{k}.pop(0)", "{k}.pop({i} % len({k}))", "{k}.insert({i} % 3, {i})", "{k}.remove({i})", "{k}.sort()", "{k}.reverse()", "{k}[{i} % len({k})] = {i}",
    "{k}[-1] += {i}", "del {k}[{i} % len({k})]", "del {k}[1:]", "{k}[1:3] = [{i}]", "{k} = [{i}]", "{k} = {k}[::-1]", "{k} = sorted({k})", "{k} = {k}[:9] + {r}[{i} % n]", "{k}.clear()", "{p}[{i} % len({p})] += {f}",
    "{p} = {p}[1:]", "{p}.pop()", "{p}.sort()", "{p} = [b * 2.0 for b in {p}]", "{p} = [b for b in {p} if b > {f}]", "{p}.extend([{f}, {f}])", "{p}.insert(0, {f})", "{p}[0] = {f}",
    "{d}[{i}] = {f}", "{d}[{i}] = {f}", "{d}[{i}] = {d}.get({i}, 0.0) + {f}", "{d}[{i}] += {f}", "{d}.pop({i}, None)", "del {d}[{i}]", "{d}.setdefault({i}, {f})", "{d}.update({{{i}: {f}}})", "{d} = {{b: 1.0 for b in {k}}}",
    "{g}[{i} % 3].append({i})", "{g}.setdefault({i} % 3, []).append({i})", "{g}.setdefault({i} % 4, []).append({i})", "{g}[{i} % 3] = [{i}]", "{g}[{i} % 3] = {r}[{i} % n]",
    "{s}.add({i})", "{s}.add({i} % 3)", "{s}.discard({i})", "{s}.remove({i})", "{s} |= {{{i}}}", "{s}.update({k})", "{s} = {{b % 3 for b in {k}}}", "{s}.clear()",
    "{e}.append({i})", "{e}.appendleft({i})", "m = {e}.popleft()", "m = {e}.pop()", "{e}.extend({r}[{i} % n][:3])", "{e}.clear()", "{e}.rotate(1)",
    "{h}.append(({i}, {f}))", "{h}.append(({i}, {f}))", "{h}[{i} % len({h})] = ({i}, {f})", "{h}.sort()", "{h}.sort(key=lambda b: b[1])", "m, u = {h}.pop()", "m, u = {h}[0]", "heapq.heappush({h}, ({i}, {f}))", "m, u = heapq.heappop({h})",
    "{w}.append({t})", "{w}.append({t})", "q = {t}", "q += {t}", "{w}.sort()", "m = {i}", "m += {i}", "m += 1", "u = {f}", "u += {f}", "u += {f}", "y = {f}", "z = {i}", "z = None", "o = {r}[{i} % n]", "o = {k}", "o = None", "o.append({i})",
    "o = {g}[{i} % 3]", "x[{i} % n] = {f}", "x[{k}] += {f}", "x[{r}[{i} % n]] *= {f}", "v[{i} % n] += {i}", "x[:len({p})] = {p}[:n]", "Q.append({f})", "Q.append({i})", "m, j = {i}, {i}", "k = {r}[{i} % n]", "k = list({s})", "k = sorted({d})", "k = list({e})",
    "r = [b[:] for b in {r}]", "r = [b for b in {r} if b]", "{r}.pop()", "{r}.sort(key=len)", "{r}.reverse()", "{r} = {r}[::-1]", "u += sum(x[b % n] for b in {r}[{i} % n])", "p = [sum(b) * 1.0 for b in {r}]", "k = [b for c_ in {r} for b in c_]", "k = [len(b) for b in {r}]",
    "h = sorted({d}.items())", "h = [(b, x[b % n]) for b in {k}]", "h = list(zip({k}, {p}))", "k = [b for b, _ in {h}]", "m = sum(1 for b in {r} for c_ in b if c_ > {i})", "print({t})", "print({k}, {i})", "print({r}[{i} % n])", "Q.append({k})", "Q.append({r}[{i} % n])",
    # Two names of one thing, exchanges, helpers, operators, and items of which nothing says that they are there.
    "{k}[{i} % len({k})], {k}[{i} % len({k})] = {i}, {k}[0]", "{r}[{i} % n], {r}[{i} % n] = {r}[{i} % n], {r}[{i} % n]", "{p}[0], {p}[-1] = {p}[-1], {p}[0]", "m = {k}[{i}]", "u = {p}[{i}]", "{k}[{i}] = {i}", "{r}[{i}].append({i})",
    "o = moved({k}, {r}[{i} % n])", "o = moved({r}[{i} % n], {r}[{i} % n])", "moved({k}, {k})", "m = first({k}, {i})", "m = first({r}[{i} % n], {i})", "z = first({k}, {i})", "u = taken({d}, {i})", "u += taken({d}, {i})", "r = [moved(b, {k}) for b in {r}]",
    "{s} = {s} | set({k})", "{s} = {s} - {{{i}}}", "{s} &= set({k})", "{s} ^= {{{i}, {i}}}", "{s} = {{b for b in {s} if b > {i}}}", "m = {s}.pop()", "{d} = {{b: c_ * 0.5 for b, c_ in {d}.items() if c_ > {f}}}", "{d} = dict(zip({k}, {p}))", "{d} |= {{{i}: {f}}}", "m, u = {d}.popitem()", "{d}.clear()",
    "{k} = {k}[::2] + [{i}]", "{k}[::-1] = sorted({k})", "{k} = [*{k}[1:], {i}]", "{k}[{i} % 3:] = []", "{p} = {p}[-3:]", "{k} = [b for b in {k} if b not in {r}[{i} % n]]", "{p} = [u if b > u else b for b in {p}]", "{r} = [[*b, {i}] for b in {r}]", "{k} = sum({r}, [])[:9]", "{k} = {k}.copy()",
    "{e}[{i} % len({e})] = {i}", "{e} = deque(sorted({e}))", "{e}.extendleft({k}[:3])", "{e}.remove({i})", "{g} = {{len(b): b for b in {r}}}", "{g}[{i} % 3] = sorted({g}[{i} % 3])", "{g}.pop({i}, None)", "{g}[{i} % 3] += [{i}]", "del {g}[{i} % 3]", "{h} = [(j_, b) for j_, b in {h} if b > {f}]", "{h}.reverse()",
    "{l}[{i} % n][{i} % n] = {f}", "{l}[{i} % n][{i} % n] = {f}", "{l}[{i} % n][{i} % n] += {f}", "{l}[{i} % n][{i} % n] += {f}", "{l}[{i} % n] = [{f}] * n", "{l}[{i} % n] = {l}[{i} % n]", "{l}[{i} % n] = {l}[{i} % n][:]", "{l}[{i} % n].append({f})", "{l}[{i} % n].pop()", "{l} = [list(b) for b in zip(*{l})]",
    "{l} = [b[::-1] for b in {l}]", "{l}.append([{f}] * n)", "{l}[0], {l}[-1] = {l}[-1], {l}[0]", "{l} = [[u + c for u in b] for b in {l}]", "{l}.sort()", "p = {l}[{i} % n]", "x[:] = {l}[{i} % n]", "u = np.array({l}).sum()", "{l} = np.outer(x, x).tolist()",
    "{1}[{i}, {i}] = {f}", "{1}[{i} % 3, {i} % 3] = {f}", "{1}[{i} % 3, {i} % 3] = {1}.get(({i}, {i} % 3), 0.0) + {f}", "{1}[{i} % 3, 0] += {f}", "{1}.pop(({i}, {i}), None)", "del {1}[{i}, {i}]", "k = [b for b, _ in {1}]", "k = sorted(b + j_ for b, j_ in {1})",
    "{2}[{i} % n][{i} % 3] = {f}", "{2}[{i} % n][{i}] = {f}", "{2}[{i} % n]['a'] = {f}", "{2}[{i} % n]['a'] += {f}", "{2}.append({{}})", "{2}.append({{{i}: {f}}})", "{2}[{i} % n] = {2}[{i} % n]", "{2}[{i} % n] = dict({2}[{i} % n])", "{2}[{i} % n].update({2}[{i} % n])", "{2} = [b.copy() for b in {2}]", "{2}.pop()",
    "{3}[{i} % 3].add({i})", "{3}.setdefault({i} % 3, set()).add({i})", "{3}[{i} % 3] = {{{i}}}", "{3}[{i} % 3] |= {{{i}}}", "{3}[{i} % 3] = {3}[{i} % 3]", "{3}[{i} % 3].discard({i})", "k = sorted({3}[{i} % 3])", "{3} = {{b: set(c_) for b, c_ in {3}.items()}}",
)  # fmt: skip
HELPERS = """\
def moved(a, b):
    for j in b[:4]:
        if j > 3:
            return a
        a.append(j)
    return b


def first(a, least):
    for place, j in enumerate(a):
        if j > least:
            return place
    return None


def taken(d, k):
    try:
        return d[k]
    except KeyError:
        return 0.0

"""
HEADS = (
    "for a in range(n):", "for a in range(n):", "for a in range(len({k})):", "for j in range(n):", "for j in {r}[{i} % n]:", "for j in {r}[a % n]:", "for j in {k}:", "for o in {r}:", "for u in {p}:", "for j, u in {h}:", "for j, o in enumerate({r}):",
    "for a, u in enumerate({p}):", "for j in sorted({s}):", "for j, u in {d}.items():", "for j, o in {g}.items():", "for o in {g}.values():", "for u in x:", "for a, j in zip({k}, {k}):", "for j in list({e}):", "for j in {k}[:]:", "for j in sorted({d}):",
    "for q in {w}:", "for j in reversed({k}):", "for a in range(1, n):", "for o in {r}[1:]:", "for j in o or []:", "for u in x[{k}]:",
    "for p in {l}:", "for a, p in enumerate({l}):", "for u in {l}[{i} % n]:", "for j in range(len({l}[0])):", "for p in zip(*{l}):", "for j, a in sorted({1}):", "for (j, a), u in {1}.items():", "for d in {2}:", "for j in {2}[{i} % n]:", "for j in sorted({3}):", "for j in sorted({3}.get({i}, ())):", "for s in {3}.values():", "for j, s in {3}.items():",
)  # fmt: skip
WHILES = (
    ("{k}", "j = {k}.pop()"), ("{e}", "j = {e}.popleft()"), ("{h}", "j, u = {h}.pop()"), ("{r}[{i} % n]", "j = {r}[{i} % n].pop()"), ("{b}", "m += 1"), ("{h}", "j, u = heapq.heappop({h})"),
    ("z is not None", "z = {i} if {b} else None"), ("{s}", "j = max({s}); {s}.discard(j)"),
)  # fmt: skip
RETURNED = (
    *("p", "k", "r", "d", "g", "s", "e", "h", "w", "m", "u", "z", "o", "q", "x", "x", "p", "k", "r"),
    *("l", "f", "i", "t", "{l}[{i} % n]", "{2}[0]", "sorted({1})", "[sorted(b) for b in {3}.values()]"),
    *("len({r})", "{r}[{i} % n]", "np.array({k})", "np.array({p})", "{f}", "{i}", "sorted({s})", "{t}", "[len(b) for b in {r}]", "dict({g})"),
)  # fmt: skip
HANDLED = (
    "IndexError",
    "KeyError",
    "(IndexError, KeyError)",
    "(IndexError, ValueError)",
    "Exception",
)
# What a loop may run over without end, as it goes on.
_GROWS = re.compile(
    r"append|extend|insert|heappush|moved\(|\[.*\] = |\+= \[|add\(|update|setdefault|= [a-zA-Z]\b"
)


@dataclass(frozen=True)
class ContainerProgram(LoopProgram):
    """As ``LoopProgram``, with containers among the arguments."""

    @property
    def source(self) -> str:
        lines = ["import heapq", "from collections import Counter, defaultdict, deque", "", ""]
        lines += [HELPERS, HEAD, *self.body, "", ""]
        for place, call in enumerate(self.calls):
            lines += [f"def call{place}():", *(f"    {line}" for line in call.split("\n"))]
            lines += ["    return x, v, n, c, P, K, R, D, G, S, E, T, []", "", ""]
        return "\n".join(lines).rstrip() + "\n"


class _Writer(BlockWriter):
    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.left = rng.choice((2, 3, 4, 5, 7, 9, 12))  # statements
        self.loops = self.fuel = 0
        # A program has a few kinds of containers, mostly its own.
        kinds = rng.sample(sorted(NAMES), rng.choice((1, 2, 2, 3, 4)))
        owned = rng.random() < 0.6
        self.names = {kind: NAMES[kind][:1] if owned else NAMES[kind] for kind in kinds}

    def takes(self, template: str) -> bool:
        """Whether the program has the kinds that a template asks for."""
        return all(
            kind in self.names or kind in LEAVES for kind in re.findall(r"\{(\w)\}", template)
        )

    def one_of(self, templates: tuple[str, ...], depth: int = 2) -> str:
        """One of the templates, filled: one of those with containers, mostly."""
        taken = [each for each in templates if self.takes(each)]
        if self.rng.random() < 0.75:
            taken = [each for each in taken if re.search(r"\{[pkrdgsehwl123]\}", each)] or taken
        return self.filled(self.rng.choice(taken), depth)

    def filled(self, template: str, depth: int = 2) -> str:
        def fill(found: re.Match[str]) -> str:
            kind = found[1]
            if not kind:
                return found[0][0]
            return self.expression(kind, depth) if kind in LEAVES else self.name(kind)

        return re.sub(r"\{(\w)\}|\{\{|\}\}", fill, template)

    def name(self, kind: str) -> str:
        return self.rng.choice(self.names[kind])

    def expression(self, kind: str, depth: int) -> str:
        if depth <= 0 or self.rng.random() < 0.5:
            leaves = tuple(each for each in LEAVES[kind] if self.takes(each))
            return self.filled(self.rng.choice(leaves), 0)
        return self.one_of(FORMS[kind], depth - 1)

    def statement(self, depth: int) -> list[str]:
        rng = self.rng
        self.left -= 1
        if depth < 3 and (self.left > 0 or not depth):
            kind = rng.random()
            if kind < 0.35 or not depth:
                return self.loop(depth)
            if kind < 0.55:
                return self.branch(depth)
            if kind < 0.6:
                return self.handled(depth)
        if self.loops and rng.random() < 0.06:
            return [self.filled("if {b}:"), f"    {rng.choice(('break', 'continue', 'return u'))}"]
        return [self.one_of(STATEMENTS)]

    def branch(self, depth: int) -> list[str]:
        lines = [self.filled("if {b}:"), *self.block(depth + 1)]
        if self.rng.random() < 0.4:
            lines += ["else:", *self.block(depth + 1, 2)]
        return lines

    def handled(self, depth: int) -> list[str]:
        lines = ["try:", *self.block(depth + 1), f"except {self.rng.choice(HANDLED)}:"]
        lines += self.block(depth + 1, 2)
        if self.rng.random() < 0.2:
            lines += [self.rng.choice(("else:", "finally:")), *self.block(depth + 1, 1)]
        return lines

    def loop(self, depth: int) -> list[str]:
        self.loops += 1
        if self.rng.random() < 0.2:
            test, first = self.rng.choice([x for x in WHILES if self.takes(" ".join(x))])
            head = self.filled(f"while {test}:", 1)
            lines = [self.filled(f"    {first}", 1), *self.block(depth + 1, 2)]
            may_run_on = True
        else:
            head, lines = self.one_of(HEADS, 1), self.block(depth + 1)
            may_run_on = any(map(_GROWS.search, lines))
        self.loops -= 1
        if self.rng.random() < 0.08:
            lines += ["else:", *self.block(depth + 1, 1)]
        return self.ended(head, lines) if may_run_on else [head, *lines]

    def ended(self, head: str, lines: list[str]) -> list[str]:
        """The loop with an end, whatever its lines do."""
        self.fuel += 1
        count = f"k{self.fuel}"
        return [f"{count} = 0", head, f"    {count} += 1", f"    if {count} > 9: break", *lines]

    def body(self) -> list[str]:
        lines: list[str] = []
        while self.left > 0:
            lines += self.statement(0 if self.rng.random() < 0.6 else 1)
        names = {name for names in NAMES.values() for name in names}
        have = {name for names in self.names.values() for name in names}
        taken = tuple(x for x in RETURNED if x not in names or x in have)
        count = self.rng.choice((1, 2, 2, 3))
        own = [self.name(kind) for kind in sorted(self.names) if self.rng.random() < 0.7]
        lines.append("return " + ", ".join([*own, *(self.one_of(taken, 1) for _ in range(count))]))
        used = set(re.findall(r"\b[a-z]\b", "\n".join(lines)))
        begins = [self.rng.choice(found) for name, found in BEGINS.items() if name in used]
        # What begins with another container stands last.
        return [f"    {line}" for line in begins + lines]


def random_containers(seed: int) -> ContainerProgram:
    """The program of this seed."""
    rng = random.Random(seed)
    return ContainerProgram(seed, tuple(_Writer(rng).body()), tuple(_calls(rng)))


def _calls(rng: random.Random) -> Iterator[str]:
    """Statements that make arguments, of each call: of one size, mostly."""
    n = rng.choice((3, 4, 5, 6))
    for place in range(rng.choice((3, 4))):
        if place and rng.random() < 0.25:
            n = rng.choice((1, 2, 3, 5, 8))
        lists = [[rng.randint(0, n - 1) for _ in range(rng.randint(0, 4))] for _ in range(n)]
        ints = [rng.randint(0, n - 1) for _ in range(rng.choice((n, n, n + 1, 2, 0)))]
        floats = [rng.randint(-8, 8) / 4 for _ in range(rng.choice((n, n, n + 2, 0)))]
        pairs = [
            (rng.randint(0, n - 1), rng.randint(-8, 8) / 4) for _ in range(rng.choice((n, 2, 0)))
        ]
        table = {key: rng.randint(-8, 8) / 4 for key in rng.sample(range(n), rng.randint(0, n))}
        groups = {key: lists[key % n] for key in range(rng.choice((3, 3, 2)))}
        yield "\n".join((
            f"x = array('f8', ({n},), {rng.randint(0, 9)})", f"v = array('i8', ({n},), {rng.randint(0, 9)})",
            f"n, c = {n}, {rng.choice((0.5, -0.5, 1.0, 0.0))}", f"P, K, R = {floats}, {ints}, {lists}",
            f"D, G, S = {table}, {groups}, {set(ints) or 'set()'}", f"E, T = deque({ints}), {pairs}",
        ))  # fmt: skip
