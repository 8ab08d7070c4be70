"""The methods that CSTC's paper compares with (§6.2, §6.3, §6.7): stage-wise regression, early exits, AND-OR, …"""
