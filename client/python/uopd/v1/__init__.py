"""Messages of the protocol, generated from proto/uopd/v1 by scripts/python-proto. Their classes are made when they are
imported, so they are Any to a type checker."""
from typing import Any

from uopd.v1 import graph_pb2, plan_pb2, service_pb2

graph: Any = graph_pb2
plan: Any = plan_pb2
service: Any = service_pb2
