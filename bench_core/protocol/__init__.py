"""What makes a trial fair: split, encode, shuffle, audit."""
