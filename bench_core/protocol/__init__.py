"""The steps that make a trial fair: split, encode, shuffle, audit, bill."""
