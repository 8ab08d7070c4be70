"""AACO: acquires features one by one by a nearest-neighbour look-ahead (Valancius, Lennon, Oliva 2024)."""
