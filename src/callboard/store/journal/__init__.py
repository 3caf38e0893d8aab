"""The journal's tables as functions over an open transaction: rows in, vocabulary out."""
