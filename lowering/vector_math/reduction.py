"""Reduction of huge angles after Payne and Hanek.

A float64 is M * 2**e with an integer M of 53 bits. Of x / (2 pi) only the fraction matters, so the
bits of 1 / (2 pi) above 2**-e may be dropped; 192 bits from there on, times M, give the angle as a
fraction of a turn with 139 bits, and no float64 comes closer to a multiple of pi/2 than 2**-62.
"""

from .builder import Value, type_name

# The first 1168 bits of 1 / (2 pi).
_INVERSE_TURN = int(
    "28be60db9391054a7f09d5f47d4d377036d8a5664f10e4107f9458eaf7aef1586dc91b8e909374b8"
    "01924bba827464873f877ac72c4a69cfba208d7d4baed1213a671c09ad17df904e64758e60d4ce7d"
    "272117e2ef7e4a0ec7fe25fff7816603fbcbc462d6829b47db4d9fb3c9f2c26dd3d18fd9a797fa8b"
    "5d49eeb1faf97c5ecf41ce7de294a4ba9afed7ec47e357421580",
    16,
)
_WORDS = ", ".join(f"i64 {_INVERSE_TURN >> 64 * i & 2**64 - 1}" for i in range(20))

# r, r_low and n with x = n unit + r + r_low, where unit = 2 pi / 2**halvings; for quarters = 1 the
# same of abs(x) + pi/2. 2**976 is 1168 - 192; the smallest e is held at -22, for other lanes' x.
_SCALAR = f"""\
@fxc.inverse_turn = private unnamed_addr constant [20 x i64] [{_WORDS}]

define internal {{double, double, i64}} @fxc.huge_argument.f64(double %x, i64 %quarters, \
i64 %halvings) cold noinline nounwind willreturn memory(none) {{
  %bits = bitcast double %x to i64
  %shifted = lshr i64 %bits, 52
  %biased = and i64 %shifted, 2047
  %anyexp = sub i64 %biased, 1075
  %isbig = icmp sgt i64 %anyexp, -22
  %e = select i1 %isbig, i64 %anyexp, i64 -22
  %fraction = and i64 %bits, 4503599627370495
  %m = or i64 %fraction, 4503599627370496
  %skip = sub i64 976, %e
  %byte = lshr i64 %skip, 3
  %bit = and i64 %skip, 7
  %address = getelementptr i8, ptr @fxc.inverse_turn, i64 %byte
  %loaded = load i256, ptr %address, align 1
  %bitwide = zext i64 %bit to i256
  %aligned = lshr i256 %loaded, %bitwide
  %window = trunc i256 %aligned to i192
  %mwide = zext i64 %m to i192
  %product = mul i192 %window, %mwide
  %quarterswide = zext i64 %quarters to i192
  %offset = shl i192 %quarterswide, 190
  %turns = add i192 %product, %offset
  %halvingswide = zext i64 %halvings to i192
  %rest = shl i192 %turns, %halvingswide
  %down = sub i192 192, %halvingswide
  %units = lshr i192 %turns, %down
  %below = trunc i192 %units to i64
  %past = icmp slt i192 %rest, 0
  %pastwide = zext i1 %past to i64
  %n = add i64 %below, %pastwide
  %negated = sub i192 0, %rest
  %chosen = select i1 %past, i192 %negated, i192 %rest
  %positive = or i192 %chosen, 1
  %zeros = call i192 @llvm.ctlz.i192(i192 %positive, i1 true)
  %normal = shl i192 %positive, %zeros
  %top = lshr i192 %normal, 139
  %topword = trunc i192 %top to i64
  %topfloat = uitofp i64 %topword to double
  %next = lshr i192 %normal, 75
  %nextword = trunc i192 %next to i64
  %nextfloat = uitofp i64 %nextword to double
  %zeros64 = trunc i192 %zeros to i64
  %lift = add i64 %zeros64, %halvings
  %exponent = sub i64 1024, %lift
  %scalebits = shl i64 %exponent, 52
  %scale = bitcast i64 %scalebits to double
  %topscale = fmul double %scale, 0x3CA0000000000000
  %nextscale = fmul double %scale, 0x38A0000000000000
  %high = fmul double %topfloat, %topscale
  %low = fmul double %nextfloat, %nextscale
  %r = fmul double %high, 0x400921FB54442D18
  %minus = fneg double %r
  %lost = call double @llvm.fma.f64(double %high, double 0x400921FB54442D18, double %minus)
  %lost2 = call double @llvm.fma.f64(double %high, double 0x3CA1A62633145C07, double %lost)
  %rlow = call double @llvm.fma.f64(double %low, double 0x400921FB54442D18, double %lost2)
  %isneg = icmp slt i64 %bits, 0
  %odd = icmp eq i64 %quarters, 0
  %flip = and i1 %isneg, %odd
  %minusr = xor i1 %flip, %past
  %rneg = fneg double %r
  %rlowneg = fneg double %rlow
  %rout = select i1 %minusr, double %rneg, double %r
  %rlowout = select i1 %minusr, double %rlowneg, double %rlow
  %a = insertvalue {{double, double, i64}} poison, double %rout, 0
  %b = insertvalue {{double, double, i64}} %a, double %rlowout, 1
  %nneg = sub i64 0, %n
  %nout = select i1 %flip, i64 %nneg, i64 %n
  %c = insertvalue {{double, double, i64}} %b, i64 %nout, 2
  ret {{double, double, i64}} %c
}}
"""


def huge_argument(x: Value, quarters: int, halvings: int) -> list[Value]:
    """x, reduced by multiples of 2 pi / 2**halvings: r, r_low and n.

    x is a float64, finite and 2**30 or more; for others the result is meaningless. With
    quarters = 1, what is reduced is abs(x) + pi/2.
    """
    code = x.code
    code.declares |= {
        "declare double @llvm.fma.f64(double, double, double)",
        "declare i192 @llvm.ctlz.i192(i192, i1 immarg)",
    }
    code.helpers["fxc.huge_argument.f64"] = _SCALAR
    symbol = "fxc.huge_argument.f64"
    if code.lanes > 1:
        symbol += f"x{code.lanes}"
        code.helpers[symbol] = _for_lanes(symbol, code.lanes)
    floats, integers = code.type("f64"), code.type("i64")
    result = f"{{{floats}, {floats}, {integers}}}"
    call = f"call {result} @{symbol}({x.typed}, i64 {quarters}, i64 {halvings})"
    whole = code.emit("f64", call).name
    kinds = ("f64", "f64", "i64")
    return [code.emit(kind, f"extractvalue {result} {whole}, {i}") for i, kind in enumerate(kinds)]


def _for_lanes(symbol: str, lanes: int) -> str:
    """The function that does this for each lane of a vector."""
    floats, integers = type_name("f64", lanes), type_name("i64", lanes)
    result = f"{{{floats}, {floats}, {integers}}}"
    scalars = "{double, double, i64}"
    return f"""\
define internal {result} @{symbol}({floats} %x, i64 %quarters, i64 %halvings) \
cold noinline nounwind willreturn memory(none) {{
entry:
  br label %lanes
lanes:
  %i = phi i64 [ 0, %entry ], [ %inext, %lanes ]
  %r = phi {floats} [ zeroinitializer, %entry ], [ %rnext, %lanes ]
  %l = phi {floats} [ zeroinitializer, %entry ], [ %lnext, %lanes ]
  %n = phi {integers} [ zeroinitializer, %entry ], [ %nnext, %lanes ]
  %one = extractelement {floats} %x, i64 %i
  %all = call {scalars} @fxc.huge_argument.f64(double %one, i64 %quarters, i64 %halvings)
  %rone = extractvalue {scalars} %all, 0
  %lone = extractvalue {scalars} %all, 1
  %none = extractvalue {scalars} %all, 2
  %rnext = insertelement {floats} %r, double %rone, i64 %i
  %lnext = insertelement {floats} %l, double %lone, i64 %i
  %nnext = insertelement {integers} %n, i64 %none, i64 %i
  %inext = add i64 %i, 1
  %more = icmp ult i64 %inext, {lanes}
  br i1 %more, label %lanes, label %exit
exit:
  %a = insertvalue {result} poison, {floats} %rnext, 0
  %b = insertvalue {result} %a, {floats} %lnext, 1
  %c = insertvalue {result} %b, {integers} %nnext, 2
  ret {result} %c
}}
"""
