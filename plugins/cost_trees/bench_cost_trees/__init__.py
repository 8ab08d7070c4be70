"""Decision trees that choose tests by information gain and price: EG2, IDX, CS-ID3, ICET, and a C4.5-like baseline."""
