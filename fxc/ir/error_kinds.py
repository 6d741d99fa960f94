"""The kinds of errors and warnings, and their numbers.

A number names what a user can do about it, not one message. ``docs/errors`` has a page for each:
what has happened, a program that meets it, and one that does not. ``python -m fxc help FXC0002``
prints it. A number never means anything else later.
"""

from __future__ import annotations

from typing import NewType

Kind = NewType("Kind", str)

# What cannot be captured.
UNKNOWN_CALL = Kind("FXC0001")  # a call of which it is not known what it does
ELEMENT_NEEDED = Kind("FXC0002")  # the value of an element is needed while the program is captured
COUNTED_SIZE = Kind("FXC0003")  # a size that depends on data is
NUMPY_CALL = Kind("FXC0004")  # a function or ufunc of NumPy's
NUMPY_OPTION = Kind("FXC0005")  # one with such options, or of such arguments
OPERAND = Kind("FXC0006")  # what is no array and no number among arrays, or of an unknown dtype
ARRAY_MEMORY = Kind("FXC0007")  # what asks for, or changes, how an array lies in memory
OVERLAPPING_WRITE = Kind("FXC0008")  # a write whose result depends on the order of elements
OVERLAPPING_ARGUMENTS = Kind("FXC0009")  # arguments overlap, and one is written
WARNS = Kind("FXC0010")  # what NumPy warns of at each call
RANDOM = Kind("FXC0011")  # a random generator, used so
ARGUMENT_KIND = Kind("FXC0012")  # an argument or a global of such a class or dtype
OBJECT = Kind("FXC0013")  # what the class of an object does by itself
CHANGE_OUTSIDE = Kind("FXC0014")  # a change to something that the caller has
CHANGE_IN_LOOP = Kind("FXC0015")  # a change to a container in or below a loop over it
KEYS_BY_CONDITION = Kind("FXC0016")  # keys or attributes that come up by a condition
KEYS_OF_DATA = Kind("FXC0017")  # keys that depend on data
COUNTED_LIST = Kind("FXC0018")  # a list whose length depends on data, used so
ITERATOR = Kind("FXC0019")  # an iterator or a generator, used so
IDENTITY = Kind("FXC0020")  # ``is`` or ``id()`` of what is not known
TEXT = Kind("FXC0021")  # a text of, or a message about, what is not known
STATEMENT = Kind("FXC0022")  # a statement of Python's
EXCEPTION = Kind("FXC0023")  # an exception in, or a handler around, what is captured as a whole
SEVERAL_KINDS = Kind("FXC0024")  # a variable is one of several kinds of things
EITHER_ARRAY = Kind("FXC0025")  # a variable is one array or another
LOOP_VARIABLE = Kind("FXC0026")  # what a loop carries changes its kind or its type
NO_RESULT = Kind("FXC0028")  # what no compiled function gives back
TOO_LARGE = Kind("FXC0029")  # too much to capture
TOO_MANY_VARIANTS = Kind("FXC0030")  # compiled again and again

# Exports.
EXPORT_CALL = Kind("FXC0101")  # what a program of its own cannot have
EXPORT_TARGET = Kind("FXC0102")  # what a target of an export lacks
FIXED_SIZES = Kind("FXC0103")  # sizes that stay numbers
PROGRAM_ARGUMENT = Kind("FXC0104")  # a call of a program by what it was not exported for
NOT_SAVED = Kind("FXC0105")  # what no file can hold
PROGRAM_FILE = Kind("FXC0106")  # a file that is no program, or not whole

# What users add.
CUSTOM_OPERATOR = Kind("FXC0201")  # an operator, its meta or its decomposition
CHECK_FAILED = Kind("FXC0202")  # what ``check_op`` has found
EXTENSION = Kind("FXC0203")  # a backend or a pass
NOT_PARSED = Kind("FXC0204")  # a schema or the text of a graph

# How fxc is used.
ARGUMENT = Kind("FXC0301")  # an argument of a function of fxc's
SETTING = Kind("FXC0302")  # a setting, or its variable of the environment
NOT_INSTALLED = Kind("FXC0303")  # a package that something needs

# Bugs of fxc.
INTERNAL = Kind("FXC0901")
NOT_VERIFIED = Kind("FXC0902")  # a graph is not what it claims
WRONG_RESULT = Kind("FXC0903")  # compiled code has given something else than NumPy
