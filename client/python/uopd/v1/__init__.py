"""Messages of the protocol, generated from proto/uopd/v1 by scripts/python-proto."""
