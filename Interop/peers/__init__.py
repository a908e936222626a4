"""Bluetooth stacks that others wrote, made ready to meet Harald: Bumble (host and controller), rootcanal (controller)
and tshark (decoder). Library of the tests next door and, each module by itself, command-line tools: `Interop/peer`."""
