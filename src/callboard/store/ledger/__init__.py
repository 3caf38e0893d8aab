"""The ledger: what every commit changed, row by row, chained, signed and countersigned."""
