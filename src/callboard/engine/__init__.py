"""Durable execution of async functions: steps are journaled, replayed, signalled and forked."""
