"""Sockets: addresses, connections, datagrams, TLS, and the line over a connected one."""
