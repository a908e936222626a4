import BluetoothTypes
import Cryptography
import HCI
import Testing

@testable import LinkLayer

/// The sample data of Core Vol 6 Part C 1, played through the state machines of both ends.
@Suite struct EncryptionSampleTests {
    /// One end: its machine, and the ciphers for sending and receiving.
    private struct End {
        var machine = EncryptionMachine()
        let isCentral: Bool
        var transmit: PacketCipher?
        var receive: PacketCipher?
        var reports: [EncryptionMachine.Action] = []

        /// Handles an event and returns the resulting control PDUs as they go on the air.
        mutating func handle(_ event: EncryptionMachine.Event, flags: UInt8) -> [[UInt8]] {
            machine.handle(event).compactMap { action in
                switch action {
                case .transmit(let session): transmit = session.map { PacketCipher($0, isFromCentral: isCentral) }
                case .receive(let session): receive = session.map { PacketCipher($0, isFromCentral: !isCentral) }
                case .send(let pdu): return air(pdu.encoded(), flags: flags)
                case .hold, .release: break
                default: reports.append(action)
                }
                return nil
            }
        }

        /// A payload on the air, after the first header octet and the length.
        mutating func air(_ payload: PacketBuffer, flags: UInt8) -> [UInt8] {
            let sealed = transmit?.seal(payload, header: flags & 0b1110_0011) ?? payload
            return [flags, UInt8(sealed.count)] + sealed
        }

        /// The payload of a PDU on the air, deciphered.
        mutating func open(_ pdu: [UInt8]) -> PacketBuffer? {
            guard let header = try? DataHeader(reading: PacketBuffer(Array(pdu.prefix(2)))) else { return nil }
            let payload = PacketBuffer(Array(pdu.dropFirst(2)))
            return receive == nil ? payload : receive?.open(payload, header: header.authenticated)
        }
    }

    private static func octets(_ text: String) -> [UInt8] {
        text.split(separator: " ").compactMap { UInt8($0, radix: 16) }
    }

    private static let request = "03 17 03 90 78 56 34 12 ef cd ab 74 24 13 02 f1 e0 df ce bd ac 24 ab dc ba"
    private static let response = "0b 0d 04 79 68 57 46 35 24 13 02 be ba af de"
    private static let start = "07 01 05"
    private static let fromCentral = "0f 05 9f cd a7 f4 48"
    private static let fromPeripheral = "07 05 a3 4c 13 a4 15"
    private static let data1 =
        "0e 1f 7a 70 d6 64 15 22 6d f2 6b 17 83 9a 06 04 05 59 6b d6 56 4f 79 6b 5b 9c e6 ff 32 f7 5a 6d 33"
    private static let clear1 =
        "17 00 63 64 65 66 67 68 69 6a 6b 6c 6d 6e 6f 70 71 31 32 33 34 35 36 37 38 39 30"
    private static let data2 =
        "06 1f f3 88 81 e7 bd 94 c9 c3 69 b9 a6 68 46 dd 47 86 aa 8c 39 ce 54 0d 0d ae 3a dc df 89 b9 60 88"
    private static let clear2 =
        "17 00 37 36 35 34 33 32 31 30 41 42 43 44 45 46 47 48 49 4a 4b 4c 4d 4e 4f 50 51"

    private let key = Key128(octets("4c 68 38 41 39 f5 74 d8 36 bc f3 4e 9d fb 01 bf")) ?? .zero

    private func pdu(_ octets: [UInt8]) throws -> ControlPDU {
        try ControlPDU(reading: PacketBuffer(Array(octets.dropFirst(2))))
    }

    private func pdu(_ payload: PacketBuffer?) throws -> ControlPDU {
        try ControlPDU(reading: try #require(payload))
    }

    @Test func everyPDUIsAsInTheSpecification() throws {
        var central = End(isCentral: true)
        var peripheral = End(isCentral: false)
        guard case .encryptionRequest(let request) = try pdu(Self.octets(Self.request)),
            case .encryptionResponse(let response) = try pdu(Self.octets(Self.response))
        else {
            Issue.record("not read")
            return
        }
        #expect(request.random == 0xABCD_EF12_3456_7890)
        #expect(request.diversifier == 0x2474)
        #expect(request.keyDiversifier == 0xACBD_CEDF_E0F1_0213)
        #expect(request.vector == 0xBADC_AB24)
        #expect(response.keyDiversifier == 0x0213_2435_4657_6879)
        #expect(response.vector == 0xDEAF_BABE)
        let begin = EncryptionMachine.Start(longTermKey: key, request: request)
        #expect(central.handle(.start(begin), flags: 0x03) == [Self.octets(Self.request)])
        #expect(peripheral.handle(.requested(request, response), flags: 0x0B) == [Self.octets(Self.response)])
        #expect(peripheral.reports == [.askForKey(request)])
        #expect(central.handle(.received(.encryptionResponse(response)), flags: 0) == [])
        #expect(peripheral.handle(.key(key), flags: 0x07) == [Self.octets(Self.start)])
        #expect(central.handle(.received(.startEncryptionRequest), flags: 0x0F) == [Self.octets(Self.fromCentral)])
        let first = try pdu(peripheral.open(Self.octets(Self.fromCentral)))
        #expect(peripheral.handle(.received(first), flags: 0x07) == [Self.octets(Self.fromPeripheral)])
        let second = try pdu(central.open(Self.octets(Self.fromPeripheral)))
        #expect(central.handle(.received(second), flags: 0) == [])
        #expect(central.reports == [.reportChange(.success)])
        #expect(peripheral.reports.last == .reportChange(.success))
        #expect(central.air(PacketBuffer(Self.octets(Self.clear1)), flags: 0x0E) == Self.octets(Self.data1))
        #expect(peripheral.open(Self.octets(Self.data1)) == PacketBuffer(Self.octets(Self.clear1)))
        #expect(peripheral.air(PacketBuffer(Self.octets(Self.clear2)), flags: 0x06) == Self.octets(Self.data2))
        #expect(central.open(Self.octets(Self.data2)) == PacketBuffer(Self.octets(Self.clear2)))
    }

    @Test func theSessionKeyIsAsInTheSpecification() {
        var (request, response) = (EncryptionRequest(), EncryptionResponse())
        (request.keyDiversifier, request.vector) = (0xACBD_CEDF_E0F1_0213, 0xBADC_AB24)
        (response.keyDiversifier, response.vector) = (0x0213_2435_4657_6879, 0xDEAF_BABE)
        let session = EncryptionSession(longTermKey: key, request: request, response: response)
        #expect(hexadecimal(session.key.bytes) == "99ad1b5226a37e3e058e3b8e27c2c666")
        #expect(hexadecimal(session.vector) == "24abdcbabebaafde")
        #expect("\(session)".contains("secret"), "keys do not get into logs")
    }

    /// The packet counter has 39 bits; the direction is the bit above. After that the session is exhausted.
    @Test func theNumberOfAPDUHas39Bits() throws {
        let session = EncryptionSession(longTermKey: key, request: .init(), response: .init())
        let last = PacketCipher.maximumPackets - 1
        var sender = PacketCipher(session, isFromCentral: true, counter: last)
        var receiver = PacketCipher(session, isFromCentral: true, counter: last)
        var other = PacketCipher(session, isFromCentral: false, counter: last)
        let made = sender.seal([1, 2, 3], header: 2)
        let sealed = try #require(made)
        #expect(other.open(sealed, header: 2) == nil)
        #expect(receiver.open(sealed, header: 2) == [1, 2, 3])
        #expect(sender.seal([1], header: 2) == nil)
        #expect(receiver.open(sealed, header: 2) == nil)
    }

    /// NESN, SN and MD may change in a retransmission; nothing else may.
    @Test func theHeaderIsAuthenticatedWithoutWhatChanges() throws {
        let session = EncryptionSession(longTermKey: key, request: .init(), response: .init())
        var sender = PacketCipher(session, isFromCentral: true)
        let made = sender.seal([9], header: 0b10)
        let sealed = try #require(made)
        for flags in UInt8.min...UInt8.max {
            var receiver = PacketCipher(session, isFromCentral: true)
            let header = try DataHeader(reading: [flags, UInt8(sealed.count)])
            let isSame = flags & 0b1110_0011 == 0b10
            #expect((receiver.open(sealed, header: header.authenticated) != nil) == isSame)
        }
        for count in 0..<sealed.count {
            var receiver = PacketCipher(session, isFromCentral: true)
            #expect(receiver.open(sealed.prefix(upTo: count), header: 0b10) == nil)
        }
    }
}
