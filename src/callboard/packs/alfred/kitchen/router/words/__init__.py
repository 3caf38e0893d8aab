"""What people say in a kitchen: things with amounts, days, places and lists."""
