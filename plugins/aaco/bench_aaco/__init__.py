"""AACO: a nearest-neighbour look-ahead that acquires features one by one (Valancius, Lennon, Oliva 2024)."""
