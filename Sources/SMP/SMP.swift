// The SMP module: pairing, key distribution and encryption of one LE link (Core Vol 3 Part H).
