"""Whoever can be asked for durable steps."""

from bench.peers.contender import Contender

__all__ = ["Contender"]
