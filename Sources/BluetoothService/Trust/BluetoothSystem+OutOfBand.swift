import GAP
import SMP
import Security

// MARK: - What is carried from device to device another way than over the air

extension BluetoothSystem {
    /// Makes what a peer has to be given so that it can pair out of band with LE Secure Connections, in place of what was made
    /// before; nil when there are no random numbers.
    package func shareOutOfBand() -> OutOfBandData? {
        guard let own = OwnOutOfBandData(random: random) else { return nil }
        security.ownOutOfBand = own
        return own.shared
    }

    /// What a peer has given: the next pairing uses it, whoever it is with. Who does not know it does not get through.
    package func expectOutOfBand(_ data: OutOfBandData) {
        security.outOfBandOfNext = data
    }
}
