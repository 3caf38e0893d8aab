"""Assembly: from artifacts to the book, and back."""
