"""Cost-sensitive trees and cascades of classifiers: CSTC, CSCC, Cronus and their rivals (Xu et al. 2014)."""
