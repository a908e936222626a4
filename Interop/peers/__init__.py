"""Foreign Bluetooth stacks, prepared to be used with Harald: Bumble (host and controller), rootcanal (controller)
and tshark (decoder). A library for the tests next door; each module is also a command-line tool: `Interop/peer`."""
