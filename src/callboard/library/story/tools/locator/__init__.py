"""`file_locator`: which files a task or a question is about."""
