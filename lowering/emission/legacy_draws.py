"""The functions of NumPy's ``RandomState`` that its library does not export, in LLVM's text.

Each is the function in C of the same name (numpy/random/src/legacy), operation by operation: equal
bits depend on it. See Note [Native draws].
"""

from __future__ import annotations

# Their state is NumPy's ``aug_bitgen_t``: the bit generator, whether there is a normal number left
# from the last pair, and that number. A bit generator begins with its state and the functions
# ``next_uint64``, ``next_uint32`` and ``next_double``.
LEGACY = """\
declare double @libm.log(double) nounwind
declare double @libm.exp(double) nounwind
declare double @libm.pow(double, double) nounwind
declare double @llvm.sqrt.f64(double)

define internal double @legacy_double(ptr %aug) alwaysinline nounwind {
  %bits = load ptr, ptr %aug, align 8
  %state = load ptr, ptr %bits, align 8
  %at = getelementptr i8, ptr %bits, i64 24
  %next = load ptr, ptr %at, align 8
  %found = call double %next(ptr %state)
  ret double %found
}

define internal double @legacy_gauss(ptr %aug) nounwind {
entry:
  %has.at = getelementptr i8, ptr %aug, i64 8
  %gauss.at = getelementptr i8, ptr %aug, i64 16
  %has = load i32, ptr %has.at, align 4
  %none = icmp eq i32 %has, 0
  br i1 %none, label %pair, label %second
second:
  %left = load double, ptr %gauss.at, align 8
  store i32 0, ptr %has.at, align 4
  store double 0.0, ptr %gauss.at, align 8
  ret double %left
pair:
  %u1 = call double @legacy_double(ptr %aug)
  %d1 = fmul double %u1, 2.0
  %x1 = fsub double %d1, 1.0
  %u2 = call double @legacy_double(ptr %aug)
  %d2 = fmul double %u2, 2.0
  %x2 = fsub double %d2, 1.0
  %s1 = fmul double %x1, %x1
  %s2 = fmul double %x2, %x2
  %r2 = fadd double %s1, %s2
  %outside = fcmp oge double %r2, 1.0
  %centre = fcmp oeq double %r2, 0.0
  %again = or i1 %outside, %centre
  br i1 %again, label %pair, label %inside
inside:
  %log = call double @libm.log(double %r2)
  %m = fmul double %log, -2.0
  %q = fdiv double %m, %r2
  %f = call double @llvm.sqrt.f64(double %q)
  %kept = fmul double %f, %x1
  store double %kept, ptr %gauss.at, align 8
  store i32 1, ptr %has.at, align 4
  %first = fmul double %f, %x2
  ret double %first
}

define internal double @legacy_normal(ptr %aug, double %loc, double %scale) nounwind {
  %gauss = call double @legacy_gauss(ptr %aug)
  %wide = fmul double %scale, %gauss
  %found = fadd double %loc, %wide
  ret double %found
}

define internal double @legacy_lognormal(ptr %aug, double %mean, double %sigma) nounwind {
  %normal = call double @legacy_normal(ptr %aug, double %mean, double %sigma)
  %found = call double @libm.exp(double %normal)
  ret double %found
}

define internal double @legacy_standard_exponential(ptr %aug) nounwind {
  %u = call double @legacy_double(ptr %aug)
  %v = fsub double 1.0, %u
  %log = call double @libm.log(double %v)
  %found = fneg double %log
  ret double %found
}

define internal double @legacy_exponential(ptr %aug, double %scale) nounwind {
  %one = call double @legacy_standard_exponential(ptr %aug)
  %found = fmul double %scale, %one
  ret double %found
}

define internal double @legacy_standard_gamma(ptr %aug, double %shape) nounwind {
entry:
  %is.one = fcmp oeq double %shape, 1.0
  br i1 %is.one, label %exponential, label %not.one
exponential:
  %e = call double @legacy_standard_exponential(ptr %aug)
  ret double %e
not.one:
  %is.zero = fcmp oeq double %shape, 0.0
  br i1 %is.zero, label %zero, label %not.zero
zero:
  ret double 0.0
not.zero:
  %is.small = fcmp olt double %shape, 1.0
  br i1 %is.small, label %small, label %large
small:
  %rest = fsub double 1.0, %shape
  %inverse = fdiv double 1.0, %shape
  br label %try
try:
  %u = call double @legacy_double(ptr %aug)
  %v = call double @legacy_standard_exponential(ptr %aug)
  %below = fcmp ole double %u, %rest
  br i1 %below, label %left, label %right
left:
  %x1 = call double @libm.pow(double %u, double %inverse)
  %fits1 = fcmp ole double %x1, %v
  br i1 %fits1, label %done1, label %try
done1:
  ret double %x1
right:
  %t1 = fsub double 1.0, %u
  %t2 = fdiv double %t1, %shape
  %t3 = call double @libm.log(double %t2)
  %y = fneg double %t3
  %t4 = fmul double %shape, %y
  %t5 = fadd double %rest, %t4
  %x2 = call double @libm.pow(double %t5, double %inverse)
  %t6 = fadd double %v, %y
  %fits2 = fcmp ole double %x2, %t6
  br i1 %fits2, label %done2, label %try
done2:
  ret double %x2
large:
  %third = fdiv double 1.0, 3.0
  %b = fsub double %shape, %third
  %t7 = fmul double %b, 9.0
  %t8 = call double @llvm.sqrt.f64(double %t7)
  %c = fdiv double 1.0, %t8
  br label %normal
normal:
  %x = call double @legacy_gauss(ptr %aug)
  %t9 = fmul double %c, %x
  %w = fadd double %t9, 1.0
  %low = fcmp ole double %w, 0.0
  br i1 %low, label %normal, label %cube
cube:
  %t10 = fmul double %w, %w
  %w3 = fmul double %t10, %w
  %u3 = call double @legacy_double(ptr %aug)
  %xx = fmul double %x, %x
  %t11 = fmul double %xx, 0x3FA0F27BB2FEC56D
  %t12 = fmul double %t11, %xx
  %t13 = fsub double 1.0, %t12
  %quick = fcmp olt double %u3, %t13
  br i1 %quick, label %done3, label %slow
slow:
  %t14 = call double @libm.log(double %u3)
  %t15 = fmul double %x, 0.5
  %t16 = fmul double %t15, %x
  %t17 = fsub double 1.0, %w3
  %t18 = call double @libm.log(double %w3)
  %t19 = fadd double %t17, %t18
  %t20 = fmul double %b, %t19
  %t21 = fadd double %t16, %t20
  %fits3 = fcmp olt double %t14, %t21
  br i1 %fits3, label %done3, label %normal
done3:
  %found = fmul double %b, %w3
  ret double %found
}

define internal double @legacy_gamma(ptr %aug, double %shape, double %scale) nounwind {
  %one = call double @legacy_standard_gamma(ptr %aug, double %shape)
  %found = fmul double %scale, %one
  ret double %found
}

define internal double @legacy_chisquare(ptr %aug, double %df) nounwind {
  %half = fdiv double %df, 2.0
  %one = call double @legacy_standard_gamma(ptr %aug, double %half)
  %found = fmul double %one, 2.0
  ret double %found
}
"""
