import BluetoothTypes
import Bonds
import Cryptography
import EventLoops
import GATT
import SMP

/// Bonds to test with; the same number gives the same bond.
enum Samples {
    static let adapter = AdapterIdentity(
        address: BluetoothAddress(0x00A0_5011_2233, kind: .publicDevice),
        details: "usb"
    )
    static let weak = KeyLevel(keySize: 16, isAuthenticated: false, isSecureConnections: true)
    static let strong = KeyLevel(keySize: 16, isAuthenticated: true, isSecureConnections: true)

    static func address(_ number: Int) -> BluetoothAddress {
        BluetoothAddress(0xC000_0000_0000 | UInt64(number), kind: .randomDevice)
    }

    static func key(_ number: Int, _ purpose: UInt64) -> Key128 {
        Key128(Block128(high: purpose, low: UInt64(number) &+ 1))
    }

    static func bond(_ number: Int, level: KeyLevel = weak) -> Bond {
        var keys = PeerKeys(level: level)
        keys.localKey = EncryptionKey(key: key(number, 1))
        keys.peerKey = keys.localKey
        keys.identityKey = key(number, 2)
        keys.identityAddress = address(number)
        let identifier = BondIdentifier(high: 0x4000, low: 1 << 63 | UInt64(number))
        return Bond(identifier: identifier, address: address(number), keys: keys)
    }
}
