"""The same data protected in several ways, on the same axes of use and risk."""
