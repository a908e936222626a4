import GAP
import SMP
import Security

// MARK: - Out-of-band pairing data

extension BluetoothSystem {
    /// Creates the out-of-band data with which a peer can pair by LE Secure Connections. It replaces earlier data.
    ///
    /// - Returns: The data to pass to the peer, or nil if there are no random numbers.
    package func shareOutOfBand() -> OutOfBandData? {
        guard let own = OwnOutOfBandData(random: random) else { return nil }
        security.offerOutOfBand(own)
        return own.shared
    }

    /// Sets the out-of-band data of a peer. The next pairing uses it, whatever the peer, and fails with a peer that
    /// does not have this data.
    package func expectOutOfBand(_ data: OutOfBandData) {
        security.expectOutOfBand(data)
    }
}
