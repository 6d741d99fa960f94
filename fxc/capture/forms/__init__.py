"""What is one thing or another by a condition, and the forms of what is joined, carried or listed.

The forms are a closed set: see Note [Forms].
"""
