"""The version of the package: that of the server it is released with."""
__version__ = "0.1.0"
