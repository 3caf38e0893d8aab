"""The store on SQLite: one file in the project's folder, no server."""
