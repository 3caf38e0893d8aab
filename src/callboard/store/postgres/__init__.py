"""The store on Postgres: a schema per project on a server; needs `callboard[postgres]`."""
