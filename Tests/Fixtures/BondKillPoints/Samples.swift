import BluetoothTypes
import Cryptography
import GATT
import SMP
import Security

/// Sample bonds. The same number always produces the same bond.
package enum Samples {
    package static let adapter = AdapterIdentity(
        address: BluetoothAddress(0x00A0_5011_2233, kind: .publicDevice),
        place: "usb"
    )
    package static let weak = KeyLevel(keySize: 16, isAuthenticated: false, isSecureConnections: true)
    /// A file of version 1, written by the program of that time: ``adapter`` has one bond, ``bond(_:level:)`` 1 with
    /// the name A.
    package static let version1 = octets(
        """
        484152414c4442440100a30000000033221150a000037573620033221150a00000000000000000010000000000000002\
        0500000000000000010000000000000040008000000000000001010100000000c000000000000000001f081000000000\
        000000000141000000000000000100000000000000020000000000000000000000000000000000010000000000000002\
        0000000000000000000000000000000000020000000000000002010100000000c0260aa1ab824610a770900ab07b8ecf\
        47f32b5b799978a85bc38127a9fbec5aeb
        """
    )
    /// The same of version 2, sealed with the secret of the octets 0 to 31.
    package static let version2 = octets(
        """
        484152414c44424402005cb83a91cf5f8ad4a50000000033221150a000ffff037573620033221150a000000000000000\
        000100000000000000020500000000000000010000000000000040008000000000000001010100000000c00000000000\
        0000001f0810000000000000000001410000000000000001000000000000000200000000000000000000000000000000\
        000100000000000000020000000000000000000000000000000000020000000000000002010100000000c02b91c7132e\
        c62374ed0bb2946649be32dc03261341e9d34e9447896dfd8b82ea
        """
    )
    package static let strong = KeyLevel(keySize: 16, isAuthenticated: true, isSecureConnections: true)

    private static func octets(_ hexadecimal: String) -> [UInt8] {
        let digits = hexadecimal.compactMap(\.hexDigitValue)
        return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
    }

    package static func address(_ number: Int) -> BluetoothAddress {
        BluetoothAddress(0xC000_0000_0000 | UInt64(number), kind: .randomDevice)
    }

    package static func key(_ number: Int, _ purpose: UInt64) -> Key128 {
        Key128(Block128(high: purpose, low: UInt64(number) &+ 1))
    }

    /// A bond with the keys of LE Secure Connections.
    package static func bond(_ number: Int, level: KeyLevel = weak) -> Bond {
        var keys = PeerKeys(level: level)
        keys.localKey = EncryptionKey(key: key(number, 1))
        keys.peerKey = keys.localKey
        keys.identityKey = key(number, 2)
        keys.identityAddress = address(number)
        let identifier = BondIdentifier(high: 0x4000, low: 1 << 63 | UInt64(number))
        return Bond(identifier: identifier, address: address(number), keys: keys)
    }

    /// A complete bond with the keys of legacy pairing.
    package static func fullBond(_ number: Int) -> Bond {
        var bond = bond(number, level: KeyLevel(keySize: 9, isAuthenticated: true, isSecureConnections: false))
        bond.keys.localKey = EncryptionKey(key: key(number, 3), diversifier: 0x1234, random: 0xFEDC_BA98_7654_3210)
        bond.keys.peerKey = EncryptionKey(key: key(number, 4), diversifier: 0x4321, random: 7)
        bond.keys.localSigningKey = key(number, 5)
        bond.keys.peerSigningKey = key(number, 6)
        bond.keys.localSignCounter = 70_000
        bond.keys.peerSignCounter = .max
        bond.name = "Thermomètre \(number)"
        bond.isLost = true
        bond.showsIdentity = true
        bond.pairingAddress = address(number + 1_000)
        bond.lastUse = 99
        bond.record = record(number)
        bond.cache = cache(services: 1)
        return bond
    }

    package static func record(_ number: Int) -> ClientRecord {
        ClientRecord(
            configurations: [3: .notify, UInt16(truncatingIfNeeded: 9 + number % 99): .indicate],
            features: [.robustCaching, .enhancedBearers],
            databaseHash: DatabaseHash([UInt8](repeating: UInt8(truncatingIfNeeded: number), count: 16)),
            isChangeAware: false,
            missedChanges: [2...4, 9...12, 0xFFFF...0xFFFF]
        )
    }

    /// The cached attributes of a database with this number of services, of six characteristics each.
    package static func cache(services count: UInt16) -> AttributeCache {
        var cache = AttributeCache(hash: DatabaseHash([UInt8](repeating: 0xDB, count: 16)))
        var services: [DiscoveredService] = []
        for number in 0..<count {
            let start = number * 20 + 1
            services.append(DiscoveredService(handles: start...(start + 19), uuid: BluetoothUUID(0x1800 + number)))
            cache.includes[start] = number == 0 ? services : []
            cache.characteristics[start] = (UInt16(0)..<6).map { index in
                let declaration = start + 1 + 3 * index
                cache.descriptors[declaration + 1] = [DiscoveredDescriptor(handle: declaration + 2, uuid: 0x2902)]
                return DiscoveredCharacteristic(
                    declaration: declaration,
                    value: declaration + 1,
                    end: declaration + 2,
                    properties: [.read, .notify],
                    uuid: index < 3
                        ? BluetoothUUID(0x2A00 + index)
                        : BluetoothUUID(high: 0xABCD, low: UInt64(index))
                )
            }
        }
        cache.services = services
        return cache
    }
}
