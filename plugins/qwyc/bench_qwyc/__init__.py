"""QWYC: quit evaluating an ensemble when you can (Wang, Gupta, You). Imports nothing heavy until it is used."""
