"""Decision trees whose splits are chosen by information and price: EG2, IDX, CS-ID3, a C4.5-like baseline, ICET."""
