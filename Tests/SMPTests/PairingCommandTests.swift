import BluetoothTypes
import Cryptography
import Testing

@testable import SMP

/// Commands on the wire.
@Suite struct PairingCommandTests {
    /// The length of each command in octets, code included (Core Vol 3 Part H 3.5, 3.6).
    static let lengths: [UInt8: Int] = [
        0x01: 7, 0x02: 7, 0x03: 17, 0x04: 17, 0x05: 2, 0x06: 17, 0x07: 11, 0x08: 17, 0x09: 8, 0x0A: 17, 0x0B: 2,
        0x0C: 65,
        0x0D: 17, 0x0E: 2,
    ]

    @Test(arguments: lengths.keys.sorted())
    func a_command_is_read_at_its_length_and_at_no_other(code: UInt8) throws {
        let length = try #require(Self.lengths[code])
        for count in 1...80 {
            let octets = [code] + (1..<80).prefix(count - 1).map { UInt8($0) }
            guard count == length else {
                #expect(throws: PairingFailure.invalidParameters) { try SMPCommand(PacketBuffer(octets)) }
                continue
            }
            let command = try SMPCommand(PacketBuffer(octets))
            #expect(command.code.rawValue == code)
            // Only one bit of an address type is significant.
            if code != 0x09 { #expect(command.framed().bytes == octets) }
        }
    }

    @Test func codes_that_are_not_known_are_not_supported() {
        for code in UInt8.min...UInt8.max where Self.lengths[code] == nil {
            #expect(throws: PairingFailure.commandNotSupported) { try SMPCommand([code, 1, 2]) }
        }
        #expect(throws: PairingFailure.invalidParameters) { try SMPCommand([]) }
    }

    @Test func fields_lie_where_the_specification_puts_them() throws {
        var features = PairingFeatures()
        features.ioCapability = .keyboardOnly
        features.outOfBandFlag = 1
        features.requirements = [.bonding, .protection, .secureConnections, .keypress]
        features.maximumKeySize = 7
        features.initiatorKeys = [.encryption, .signing]
        features.responderKeys = [.identity]
        #expect(PairingRequest(features).framed().bytes == [0x01, 2, 1, 0x1D, 7, 5, 2])
        let key = Key128(Block128(high: 0x0F0E_0D0C_0B0A_0908, low: 0x0706_0504_0302_0100))
        #expect(EncryptionInformation(key).framed().bytes == [0x06] + (0..<16).map { UInt8($0) })
        #expect(
            CentralIdentification(diversifier: 0x0102, random: 0x0304).framed().bytes
                == [0x07, 2, 1, 4, 3, 0, 0, 0, 0, 0, 0]
        )
        let address = BluetoothAddress(0xC0_1234_5678_9A, kind: .randomDevice)
        #expect(IdentityAddressInformation(address).framed().bytes.prefix(2) == [0x09, 1])
        let point = P256KeyPair.debug.publicKey
        let octets = PairingPublicKey(point).framed().bytes
        #expect(Array(octets[1..<33].reversed()) == point.x && Array(octets[33...].reversed()) == point.y)
        guard case .publicKey(let packet) = try SMPCommand(PacketBuffer(octets)) else {
            Issue.record("not a public key")
            return
        }
        #expect(packet.point == point)
    }

    @Test func keys_are_not_shown_in_a_log() {
        let key = Key128(Block128(high: 0x1122_3344_5566_7788, low: 0x99AA_BBCC_DDEE_FF00))
        for text in [
            EncryptionInformation(key).fieldDescription, IdentityInformation(key).fieldDescription,
            SigningInformation(key).fieldDescription,
        ] {
            #expect(text.contains("secret"))
            #expect(!text.contains("55"))
            #expect(!text.contains("99"))
        }
    }
}
