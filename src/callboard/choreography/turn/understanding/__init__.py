"""Understanding: what a message means for what is being talked about, code first."""
