import BluetoothTypes
import Testing

@testable import CaptureStory

/// Frames of the air in words.
@Suite struct AirDissectorTests {
    private static let advertising: [UInt8] = [0xD6, 0xBE, 0x89, 0x8E]
    private static let link: [UInt8] = [0x78, 0x56, 0x34, 0x12]

    private var dissector = AirDissector()

    /// Returns the words for a frame on a channel, by its number in the order of frequencies.
    private mutating func words(_ address: [UInt8], _ pdu: [UInt8], channel: UInt8 = 20) -> String {
        dissector.receive(Self.frame(address, pdu, channel: channel)).summary.text
    }

    private static func frame(_ address: [UInt8], _ pdu: [UInt8], channel: UInt8) -> PacketBuffer {
        PacketBuffer([channel, 0xC4, 0, 0] + address + [0x13, 0x0D] + address + pdu + [0, 0, 0])
    }

    private mutating func data(_ kind: UInt8, _ payload: [UInt8]) -> String {
        words(Self.link, [kind, UInt8(payload.count)] + payload)
    }

    @Test("advertising and control PDUs have the names of the specification")
    func names() {
        var air = self
        let advertiser: [UInt8] = [1, 0, 0, 0, 0, 0xC0]
        #expect(air.words(Self.advertising, [0x40, 6] + advertiser, channel: 0).hasPrefix("ADV_IND: AdvA"))
        #expect(air.words(Self.advertising, [3, 12] + advertiser + advertiser, channel: 39).hasPrefix("SCAN_REQ: "))
        #expect(air.words(Self.advertising, [3, 12] + advertiser + advertiser).hasPrefix("AUX_SCAN_REQ: "))
        #expect(air.words(Self.advertising, [0x40, 1, 9], channel: 12).hasPrefix("ADV_IND: malformed"))
        #expect(air.data(3, [0x02, 0x13]).hasPrefix("LL_TERMINATE_IND: "))
        #expect(air.data(3, [0x12]) == "LL_PING_REQ")
        #expect(air.data(3, [0xEE]).hasPrefix("control PDU 238: malformed"))
    }

    // The kind of a PDU is in bits 0 and 1 of the header, and its sequence number in bit 3.
    @Test("data are named by their attribute PDU, and not at all after the link was encrypted")
    func data() {
        var air = self
        #expect(air.data(1, []) == "Empty PDU")
        #expect(air.data(0b1010, [3, 0, 4, 0, 0x0A, 3, 0]).hasPrefix("Data: Read Request: "))
        #expect(air.data(0b0010, [9, 0, 4, 0, 0x0A]) == "Data: a part of a PDU, 5 octets")
        #expect(air.data(0b1001, [9]) == "Data: a part of a PDU, 1 octet")
        #expect(air.data(0b0011, [0x05]) == "LL_START_ENC_REQ")
        #expect(air.data(0b1011, [0x06, 1, 2, 3, 4]) == "Encrypted control PDU, 5 octets")
        #expect(air.data(0b0010, [3, 0, 4, 0, 0x0A, 3, 0]) == "Encrypted data PDU, 7 octets")
        #expect(air.data(1, []) == "Empty PDU")
    }

    @Test("after a gap, what may be ciphertext is not named, and what cannot be is")
    func afterAGap() {
        var air = self
        #expect(air.data(0b1010, [3, 0, 4, 0, 0x0A, 3, 0]).hasPrefix("Data: Read Request: "))
        // The same sequence number with other contents: the packet in between was missed.
        #expect(air.data(0b1010, [9, 0, 4, 0, 0x0A]) == "Possibly encrypted data PDU, 5 octets")
        #expect(air.data(0b0011, [0x0C, 9, 1, 0, 0, 0]) == "Possibly encrypted control PDU, 6 octets")
        #expect(air.data(0b1011, [0x12]) == "LL_PING_REQ")
        #expect(air.data(0b0011, [0x0C, 9, 1, 0, 0, 0]).hasPrefix("LL_VERSION_IND"))
    }

    @Test("a frame is shown with its reception, and a malformed one as such")
    func parts() {
        let frame = Self.frame(Self.link, [1, 0], channel: 20)
        var dissector = AirDissector()
        let parts = AirDissector.parts(of: frame, dissector.receive(frame).summary)
        #expect(parts.map(\.layer) == [.air, .air])
        #expect(parts.first?.text.contains("2442 MHz, -60 dBm, access address 0x12345678") == true, "\(parts)")
        #expect(parts.last?.text == "Empty PDU")
        for length in 0..<frame.count - 3 {
            let cut = frame.prefix(upTo: length)
            let summary = dissector.receive(cut).summary
            #expect(summary.text.contains("malformed"), "\(length)")
            #expect(AirDissector.parts(of: cut, summary).count == 1)
        }
    }

    /// The layers of the frame of a link after some others, each with its fields and their places.
    private func layers(_ kind: UInt8, _ payload: [UInt8], after others: [(UInt8, [UInt8])] = []) -> [[String]] {
        var dissector = AirDissector()
        for (kind, payload) in others {
            _ = dissector.receive(Self.frame(Self.link, [kind, UInt8(payload.count)] + payload, channel: 20))
        }
        let frame = Self.frame(Self.link, [kind, UInt8(payload.count)] + payload, channel: 20)
        return AirDissector.parts(of: frame, dissector.receive(frame).summary).map { part in
            part.fields.map { "\($0.name): \($0.text), \($0.start)+\($0.count)" }
        }
    }

    // The PDU begins at octet 14 of the frame.
    @Test("control PDUs, and the layers of data, have fields with their places unless they are encrypted")
    func fields() {
        #expect(layers(3, [0x02, 0x13]) == [[], ["ErrorCode: remote user terminated (0x13), 17+1"]])
        #expect(layers(3, [0x0D, 0x06, 9]) == [[], []])
        let read: [UInt8] = [3, 0, 4, 0, 0x0A, 3, 0]
        #expect(
            layers(0b0010, read) == [
                [], [], ["PDU Length: 3, 16+2", "Channel ID: 0x4, 18+2"], ["Attribute Handle: 0x3, 21+2"],
            ]
        )
        #expect(layers(0b0010, [9, 0, 4, 0, 0x0A]) == [[], []])
        // After LL_START_ENC_REQ, an octet pattern like that of a PDU means nothing.
        #expect(layers(0b0010, read, after: [(0b0011, [0x05])]) == [[], []])
        #expect(layers(0b1011, [0x02, 0x13], after: [(0b0011, [0x05])]) == [[], []])
    }
}
