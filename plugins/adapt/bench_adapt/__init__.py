"""ADAPT: a cheap model and a gate, learned together, before an accurate model (Nan, Saligrama 2017)."""
