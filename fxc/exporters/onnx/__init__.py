"""ONNX: a functional graph as a model of ONNX's standard operators.

Inside this folder ``onnx`` is the library, which ``model.py`` alone imports.
"""
