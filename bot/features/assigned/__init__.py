"""Messages to users whom someone else assigned an issue."""
