"""What native code is given: functions of NumPy's, memory; and the flags that it leaves."""
