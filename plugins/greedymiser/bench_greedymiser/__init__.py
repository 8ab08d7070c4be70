"""GreedyMiser (Xu, Weinberger, Chapelle 2012): stage-wise regression that pays for every new feature."""
