import BluetoothTypes
import EventLoops
import Foundation
import Testing

@testable import ServiceMessages

/// The wire format between apps and the service.
@Suite struct MessageCodecTests {
    /// Fills fields at random, so that every field of every message is covered without being named here.
    private struct RandomFields: FieldCoder {
        let random: RandomSource
        var isReading: Bool { true }
        var remaining: Int { .max }

        mutating func field<T: FixedWidthInteger>(_ name: String, _ value: inout T) throws(PacketError) {
            let isShort = name.hasSuffix("length") || name.hasSuffix("count")
            let isOneOfAFew = ["kind", "state", "role", "domain", "code"].contains(name)
            let range: UInt64 = name.hasPrefix("has ") ? 2 : isShort ? 4 : isOneOfAFew ? 20 : 0
            value = T(truncatingIfNeeded: range == 0 ? random.next() >> random.below(64) : random.below(range))
        }

        mutating func uint24(_ name: String, _ value: inout UInt32) throws(PacketError) {
            value = UInt32(random.below(1 << 24))
        }

        mutating func bytes(_ name: String, _ value: inout PacketBuffer, count: Int) throws(PacketError) {
            // Valid as text as well as octets.
            value = PacketBuffer((0..<count).map { _ in UInt8(random.below(128)) })
        }

        mutating func countedBytes(_ name: String, _ value: inout PacketBuffer) throws(PacketError) {
            try bytes(name, &value, count: [2, 4, 16][Int(random.below(3))])
        }

        mutating func secret(_ name: String, _ value: inout PacketBuffer, count: Int) throws(PacketError) {
            try bytes(name, &value, count: count)
        }

        mutating func rest(_ name: String, _ value: inout PacketBuffer) throws(PacketError) {
            try bytes(name, &value, count: 5)
        }

        mutating func note(_ name: String, _ text: @autoclosure () -> String) {}
        mutating func begin(_ name: String) {}
        mutating func end() {}
    }

    /// Random values of a message kind. Fields with few valid values are redrawn until they are valid.
    private func samples<M: MessageKinds>(of kind: M, _ random: RandomSource, count: Int) -> [M] {
        var found: [M] = []
        for _ in 0..<count * 1_000 where found.count < count {
            var (value, coder) = (kind, RandomFields(random: random))
            do {
                try value.codeKind(&coder)
                found.append(value)
            } catch {
                continue
            }
        }
        return found
    }

    private func check<M: MessageKinds & Hashable>(_ type: M.Type, _ random: RandomSource) throws {
        #expect(M.kinds.map(\.kind.number) == (0..<UInt8(M.kinds.count)).map { $0 }, "\(type)")
        #expect(Set(M.kinds.map { "\($0.kind.name)" }).count == M.kinds.count, "\(type)")
        for kind in M.kinds {
            let samples = samples(of: kind, random, count: 40)
            try #require(
                samples.count == 40 && samples.allSatisfy { $0.kind.number == kind.kind.number },
                "\(type) \(kind.kind.name)"
            )
            for sample in samples { #expect(try M(reading: sample.encoded()) == sample) }
            // Short samples only, because each truncated length is a case of its own.
            let byLength = samples.sorted { $0.encoded().count < $1.encoded().count }
            for sample in [byLength[0], byLength[byLength.count / 2]] { try checkEnds(of: sample) }
        }
        let unknown = PacketBuffer([UInt8(M.kinds.count)] + [UInt8](repeating: 0, count: 64))
        #expect(throws: PacketError.self, "\(type)") { try M(reading: unknown) }
    }

    /// A truncated message fails to decode, and so does one with trailing octets.
    private func checkEnds<M: PacketFields & Hashable>(of sample: M) throws {
        let octets = sample.encoded()
        for count in 0..<octets.count {
            #expect(throws: PacketError.self) { try M(reading: octets.prefix(upTo: count)) }
        }
        #expect(throws: PacketError.self) { try M(reading: PacketBuffer(octets.bytes + [0])) }
    }

    @Test func everyMessageComesBackAndIsWholeOrNothing() throws {
        let random = RandomSource(seed: 1)
        try check(Opening.self, random)
        try check(AppMessage.self, random)
        try check(ServiceMessage.self, random)
        try check(Request.self, random)
        try check(CentralRequest.self, random)
        try check(PeerRequest.self, random)
        try check(LinkRequest.self, random)
        try check(PeripheralRequest.self, random)
        try check(Query.self, random)
        try check(Reply.self, random)
        try check(Event.self, random)
        try check(CentralEvent.self, random)
        try check(PeerEvent.self, random)
        try check(PeripheralEvent.self, random)
        try check(ChannelRequest.self, random)
        try check(ChannelEvent.self, random)
        try check(SetupRequest.self, random)
        try check(SetupEvent.self, random)
        try check(AppNote.self, random)
        try check(ToolMessage.self, random)
        try check(ToolQuestion.self, random)
        try check(ToolReply.self, random)
        try check(PersonQuestion.self, random)
        try check(PersonAnswer.self, random)
        try check(PairingQuestion.Kind.self, random)
        try check(PairingQuestion.Origin.self, random)
        try check(AccessoryQuestion.Kind.self, random)
        try check(AccessoryVerb.self, random)
    }

    /// The numbers that services and apps of one version agree on. A change to them requires a new version.
    @Test func theNumbersStayWhatTheyAre() throws {
        #expect(Hello.version == 11)
        let counts = [AppMessage.kinds.count, ServiceMessage.kinds.count, LinkRequest.kinds.count]
        #expect(counts == [9, 6, 18] as [Int])
        #expect(Opening.kinds.count == 2)
        let ofTools = [
            ToolMessage.kinds.count, ToolQuestion.kinds.count, ToolReply.kinds.count, AppVerb.allCases.count,
        ]
        #expect(ofTools == [3, 12, 5, 10] as [Int])
        let quit = ToolMessage.ask(number: 5, .app(.forceQuit, name: "a")).encoded().bytes
        #expect(quit == [0, 5, 0, 0, 0, 7, 5, 1, 0, 0x61, 0] as [UInt8])
        let peer = UUID(uuidString: "00010203-0405-4607-8809-0A0B0C0D0E0F") ?? .blank
        let read = AppMessage.request(ManagerID(7), .central(.peer(peer, .link(.readCharacteristic(0x002A)))))
        let name: [UInt8] = [0, 1, 2, 3, 4, 5, 0x46, 7, 0x88, 9, 10, 11, 12, 13, 14, 15]
        let expected: [UInt8] = [2, 7, 0, 0, 0, 0, 2] + name + [3, 4, 0x2A, 0]
        #expect(read.encoded().bytes == expected)
        let event = ServiceMessage.event(ManagerID(1), .stateChanged(.poweredOn)).encoded().bytes
        #expect(event == [1, 1, 0, 0, 0, 0, 5] as [UInt8])
        let hello = Opening.app(Hello(AppIdentity(name: "a"))).encoded()
        #expect(hello.bytes == [0, 11, 0, 1, 0, 0x61, 0, 0, 0, 0, 0, 0, 0, 0, 3, 0, 0, 0] as [UInt8])
        #expect(Opening.version(in: hello) == 11)
        #expect(Opening.version(in: [1, 99, 0, 7]) == 99)
        #expect(Opening.version(in: [0, 5]) == nil)
        #expect(Opening.version(in: [2, 5, 0]) == nil)
        let octets = AppMessage.request(ManagerID(1), .channel(ChannelID(0x0102), .send([9, 8]))).encoded().bytes
        #expect(octets == [2, 1, 0, 0, 0, 2, 2, 1, 0, 0, 1, 2, 0, 9, 8] as [UInt8])
        #expect(AppMessage.callSite(0x0102).encoded().bytes == [6, 2, 1, 0, 0] as [UInt8])
        let note = AppMessage.note(ManagerID(1), .slowCallback(milliseconds: 258)).encoded().bytes
        #expect(note == [7, 1, 0, 0, 0, 4, 2, 1, 0, 0] as [UInt8])
        #expect(AppMessage.place(3, "a:1").encoded().bytes == [8, 3, 0, 0, 0, 1, 3, 0, 0x61, 0x3A, 0x31] as [UInt8])
        #expect(ServiceMessage.adviceWanted(true).encoded().bytes == [4, 1] as [UInt8])
        #expect(ServiceMessage.placeWanted(3).encoded().bytes == [5, 3, 0, 0, 0] as [UInt8])
    }

    /// Memory grows with the octets received, and a length that exceeds them is distinguished from one that exceeds its
    /// limit (AB-G05).
    @Test("AB-G05: a length that exceeds the message is refused")
    func lengthsThatPromiseTooMuchAreRefused() {
        // A reply that promises 65,535 peripherals and contains none.
        #expect(throws: PacketError.self) { try ServiceMessage(reading: [2, 1, 0, 0, 0, 0, 0, 0xFF, 0xFF]) }
        // A name of 4,097 octets.
        let name = [UInt8](repeating: 0x61, count: MessageLimits.text + 1)
        let long = PacketBuffer([0, 1, 0, 0x01, 0x10] + name)
        #expect(throws: PacketError(.length(4_097), at: "app length")) { try Opening(reading: long) }
        let longest = Hello(AppIdentity(name: String(repeating: "a", count: MessageLimits.text)))
        #expect(throws: Never.self) { try Opening(reading: Opening.app(longest).encoded()) }
        // Text that is not valid UTF-8.
        #expect(throws: PacketError.self) { try Opening(reading: [0, 1, 0, 1, 0, 0xFF]) }
    }

    /// Replies to a tool fit in one message: longer answers become an error, and longer texts are cut (AB-G05).
    @Test("AB-G05: a reply that does not fit in one message becomes an error")
    func oversizedRepliesBecomeErrors() throws {
        let longest = String(repeating: "a", count: ToolReply.maximumText)
        let fits = ToolReply.answer(number: 1, .success(longest))
        #expect(try ToolReply(reading: fits.encoded()) == fits)
        #expect(fits.encoded().count <= ServiceLimits.message)
        let read = try ToolReply(reading: ToolReply.answer(number: 1, .success(longest + "a")).encoded())
        guard case .answer(1, .failure(let error)) = read else { return #expect(Bool(false), "\(read)") }
        #expect(error.code == .core(.outOfSpace) && error.reason?.contains("\(longest.utf8.count + 1)") == true)
        // Text is never cut inside a letter of two octets.
        let letters = String(repeating: "ä", count: MessageLimits.text)
        let question = ToolReply.prompt(number: 2, .notice("a" + letters))
        let cut = "a" + String(repeating: "ä", count: (MessageLimits.text - 1) / 2)
        #expect(try ToolReply(reading: question.encoded()) == .prompt(number: 2, .notice(cut)))
        let reason = ToolReply.answer(number: 3, .failure(ServiceError(.unknown, reason: "a" + letters)))
        let answer = ToolReply.answer(number: 3, .failure(ServiceError(.unknown, reason: cut)))
        #expect(try ToolReply(reading: reason.encoded()) == answer)
        let line = ToolReply.event(number: 4, "a" + String(repeating: "ä", count: ToolReply.maximumText))
        #expect(line.encoded().count <= ServiceLimits.message)
        #expect(throws: Never.self) { try ToolReply(reading: line.encoded()) }
        // A length that promises too much is refused before memory is reserved for it.
        #expect(throws: PacketError.self) { try ToolReply(reading: [1, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF]) }
    }

    /// The digits of a pairing never appear in a log.
    @Test func theCodesOfAPairingAreNotPrinted() {
        let question = PersonQuestion.pairing(PairingQuestion(.compare(123_456), peerAddress: "C0"))
        for text in ["\(question)", "\(PersonAnswer.passkey(123_456))", "\(ToolReply.prompt(number: 1, question))"] {
            #expect(text.contains("passkey: secret") && !text.contains("123456") && !text.contains("1e240"), "\(text)")
        }
    }

    /// Logs show the fields of a message rather than the octets on a socket.
    @Test func messagesPrintTheirFields() {
        let request = Request.central(.peer(.blank, .link(.setNotify(0x2A, isEnabled: true))))
        #expect("\(request)".contains("isEnabled"), "\(request)")
    }
}
