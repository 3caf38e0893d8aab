"""What leaves a book as a file to send out, and what comes into it from one."""
