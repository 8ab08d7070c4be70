"""Cost-sensitive trees and cascades of classifiers: CSTC, CSCC and Cronus (Xu et al. 2014), and its baselines."""
