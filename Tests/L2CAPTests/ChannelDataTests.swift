import BluetoothTypes
import LoopbackLinks
import Testing

@testable import L2CAP

/// Frames, SDUs and credits on open channels. The end under test accepts SDUs of 200 octets in frames of 70, with a
/// window of four; the peer accepts 100 in frames of 64.
@Suite struct ChannelDataTests {
    /// The channel is closed and the peer notified; the link and other channels go on.
    private func expectViolation(_ mode: ChannelMode, _ violation: ChannelViolation, frames: [[UInt8]]) throws {
        let fixture = try ChannelFixture()
        let other = try fixture.accept(mode, source: 0x41)
        let channel = try fixture.accept(mode)
        for frame in frames.dropLast() { #expect(fixture.frame(frame, on: channel).allSatisfy { $0[0] == 0x16 }) }
        let sent = fixture.frame(frames.last ?? [], on: channel)
        let numbers = le(0x40) + le(Int(channel.identifier.rawValue))
        #expect(sent.map { Array($0[4...]) } == [numbers] && sent.first?[0] == 0x06)
        #expect(channel.closure == .violation(violation))
        #expect(fixture.closures == [.violation(violation)])
        let before = fixture.received.count
        fixture.frame(le(1) + [1], on: channel)
        #expect(fixture.received.count == before)
        fixture.frame(le(1) + [2], on: other)
        #expect(fixture.received.last == [2])
    }

    @Test("L2CAP/LE/CFC/BV-26: an SDU above the MTU closes a credit-based channel")
    func sduAboveTheMTUOfACreditBasedChannel() throws {
        try expectViolation(.creditBased, .sduTooLong, frames: [le(201) + pattern(68)])
    }

    @Test("L2CAP/ECFC/BV-33: an SDU above the MTU closes an enhanced channel")
    func sduAboveTheMTUOfAnEnhancedChannel() throws {
        try expectViolation(.enhanced, .sduTooLong, frames: [le(201) + pattern(68)])
    }

    @Test("L2CAP/LE/CFC/BV-27: a payload above the MPS closes a credit-based channel")
    func payloadAboveTheMPSOfACreditBasedChannel() throws {
        try expectViolation(.creditBased, .frameTooLong, frames: [le(69) + pattern(69)])
        try expectViolation(.creditBased, .frameTooLong, frames: [le(150) + pattern(68), pattern(71)])
    }

    @Test("L2CAP/ECFC/BV-34: a payload above the MPS closes an enhanced channel")
    func payloadAboveTheMPSOfAnEnhancedChannel() throws {
        try expectViolation(.enhanced, .frameTooLong, frames: [le(69) + pattern(69)])
        try expectViolation(.enhanced, .frameTooLong, frames: [le(150) + pattern(68), pattern(71)])
    }

    @Test("L2CAP/LE/CFC/BV-28: segments above their SDU close a credit-based channel")
    func segmentsAboveTheSDUOfACreditBasedChannel() throws {
        try expectViolation(.creditBased, .sduOverrun, frames: [le(80) + pattern(60), pattern(21)])
        try expectViolation(.creditBased, .sduOverrun, frames: [le(5) + pattern(6)])
    }

    @Test("L2CAP/ECFC/BV-35: segments above their SDU close an enhanced channel")
    func segmentsAboveTheSDUOfAnEnhancedChannel() throws {
        try expectViolation(.enhanced, .sduOverrun, frames: [le(80) + pattern(60), pattern(21)])
        try expectViolation(.enhanced, .sduOverrun, frames: [le(5) + pattern(6)])
    }

    /// An SDU as long as a frame: its length field takes two octets, so it needs two frames.
    private func expectSDUOfMPS(_ mode: ChannelMode) throws {
        let fixture = try ChannelFixture()
        let channel = try fixture.accept(mode)
        for length in [67, 68, 69, 70] {
            let sdu = pattern(length)
            fixture.frame(le(length) + sdu.prefix(68), on: channel)
            if length > 68 { fixture.frame(Array(sdu[68...]), on: channel) }
            #expect(fixture.received.last == sdu)
        }
        #expect(fixture.received.count == 4)
        #expect(channel.closure == nil)
        for length in [61, 62, 63, 64] {
            let sdu = pattern(length)
            try channel.offer(PacketBuffer(sdu))
            let frames = fixture.sentFrames()
            #expect(frames.allSatisfy { $0.count <= 64 })
            #expect(frames.flatMap(\.self) == le(length) + sdu)
            #expect(frames.count == (length > 62 ? 2 : 1))
        }
    }

    @Test("L2CAP/LE/CFC/BV-32: an SDU as long as the MPS is sent and received on a credit-based channel")
    func sduOfTheMPSOfACreditBasedChannel() throws { try expectSDUOfMPS(.creditBased) }

    @Test("L2CAP/ECFC/BV-80: an SDU as long as the MPS is sent and received on an enhanced channel")
    func sduOfTheMPSOfAnEnhancedChannel() throws { try expectSDUOfMPS(.enhanced) }

    /// Frames are sent as far as the credits go, and the rest when more arrive.
    private func expectCreditsReceived(_ mode: ChannelMode) throws {
        let fixture = try ChannelFixture()
        let channel = try fixture.accept(mode, credits: 1)
        let sdu = pattern(100)
        try channel.offer(PacketBuffer(sdu))
        try channel.offer([1])
        try channel.offer([2])
        #expect(fixture.sentFrames() == [le(100) + sdu.prefix(62)])
        #expect(channel.queuedPDUs == 3)
        fixture.signal(0x16, 30, le(0x40) + le(2))
        #expect(channel.queuedPDUs == 1)
        fixture.link.takeSent().forEach { _ in }
        fixture.signal(0x16, 31, le(0x41) + le(9))
        #expect(channel.queuedPDUs == 1, "credits for another channel")
        fixture.peer.inject([0x16, 32, 4, 0] + le(0x40) + le(1), on: 5)
        #expect(fixture.sentFrames() == [[1, 0, 2]])
        #expect(channel.queuedPDUs == 0)
    }

    @Test("L2CAP/LE/CFC/BV-06: a credit-based channel sends as much as its credits allow")
    func creditsReceivedOnACreditBasedChannel() throws { try expectCreditsReceived(.creditBased) }

    @Test("L2CAP/ECFC/BV-06: an enhanced channel sends as much as its credits allow")
    func creditsReceivedOnAnEnhancedChannel() throws { try expectCreditsReceived(.enhanced) }

    /// The peer never stalls, in the middle of an SDU or between two.
    private func expectCreditsGiven(_ mode: ChannelMode) throws {
        let fixture = try ChannelFixture()
        let channel = try fixture.accept(mode)
        var credits = 4
        let number = le(Int(channel.identifier.rawValue))
        for round in 0..<20 {
            for frame in [le(200) + pattern(20)] + Array(repeating: pattern(20), count: 9) {
                try #require(credits > 0, "SDU \(round)")
                credits -= 1
                for command in fixture.frame(frame, on: channel) {
                    #expect(command[0] == 0x16 && command[1] != 0 && Array(command[2..<6]) == [4, 0] + number)
                    credits += Int(command[6]) | Int(command[7]) << 8
                    #expect(credits <= 4)
                }
            }
        }
        #expect(fixture.received.count == 20)
        #expect(channel.closure == nil)
    }

    @Test("L2CAP/LE/CFC/BV-07: a credit-based channel grants credits before the peer stalls")
    func creditsGivenOnACreditBasedChannel() throws { try expectCreditsGiven(.creditBased) }

    @Test("L2CAP/ECFC/BV-07: an enhanced channel grants credits before the peer stalls")
    func creditsGivenOnAnEnhancedChannel() throws { try expectCreditsGiven(.enhanced) }

    private func expectEnd(_ mode: ChannelMode, pausedAfter frames: Int) throws {
        let fixture = try ChannelFixture()
        let channel = try fixture.accept(mode)
        channel.isPaused = true
        for _ in 0..<frames { #expect(fixture.frame(le(1) + [7], on: channel).isEmpty) }
        #expect(fixture.frame(le(1) + [7], on: channel).map { $0[0] } == [0x06])
        #expect(channel.closure == .violation(.noCredits))
        // Everything within the credits is delivered, and nothing beyond them.
        #expect(fixture.received.count == frames)
    }

    @Test(
        "L2CAP/LE/CFC/BI-01, AB-C07: a credit-based channel ends when the peer overruns its credits or grants too many"
    )
    func thePeerOverrunsItsCredits() throws {
        try expectEnd(.creditBased, pausedAfter: 4)
        try expectCreditOverflow(.creditBased)
    }

    @Test("L2CAP/ECFC/BI-02, AB-C07: an enhanced channel ends when data arrive without credits")
    func dataWithoutCredits() throws { try expectEnd(.enhanced, pausedAfter: 4) }

    private func expectCreditOverflow(_ mode: ChannelMode) throws {
        let fixture = try ChannelFixture()
        let channel = try fixture.accept(mode, credits: 10)
        #expect(fixture.signal(0x16, 30, le(0x40) + le(0)).isEmpty)
        #expect(channel.closure == nil)
        try channel.offer([1])
        #expect(fixture.signal(0x16, 31, le(0x40) + le(65_526)).isEmpty)
        #expect(channel.closure == nil, "65,535 are allowed")
        #expect(fixture.signal(0x16, 32, le(0x40) + le(1)).map { $0[0] } == [0x06])
        #expect(channel.closure == .violation(.creditOverflow))
        #expect(throws: ChannelSendError.closed) { try channel.offer([2]) }
    }

    @Test("L2CAP/ECFC/BI-01, AB-C07: granting no credits changes nothing, and too many end an enhanced channel")
    func noCreditsAndTooManyCredits() throws { try expectCreditOverflow(.enhanced) }

    @Test("AB-C02: a first frame without a length closes the channel", arguments: [[], [0], [5]] as [[UInt8]])
    func aFirstFrameWithoutALength(frame: [UInt8]) throws {
        try expectViolation(.creditBased, .frameTooShort, frames: [frame])
        try expectViolation(.enhanced, .frameTooShort, frames: [frame])
    }

    @Test("AB-C02: an empty frame ends the channel, and an empty SDU does not")
    func framesWithoutOctets() throws {
        try expectViolation(.creditBased, .frameTooShort, frames: [le(50) + [1], []])
        try expectViolation(.enhanced, .frameTooShort, frames: [le(50), []])
        try expectViolation(.creditBased, .sduTooLong, frames: [le(0xFFFF)])
        // An empty SDU is valid, and costs a credit.
        let fixture = try ChannelFixture()
        let channel = try fixture.accept(.creditBased)
        for _ in 0..<100 { fixture.frame([0, 0], on: channel) }
        #expect(fixture.received.count == 100)
        #expect(channel.closure == nil)
    }

    @Test("AB-C02: a frame that its fragments overrun closes the channel")
    func aFrameThatTheFragmentsOverrun() throws {
        let fixture = try ChannelFixture()
        let channel = try fixture.accept(.creditBased)
        let number = le(Int(channel.identifier.rawValue))
        fixture.link.onReceive?(PacketBuffer([3, 0] + number + [1, 0, 7, 8]), true)
        #expect(channel.closure == .violation(.brokenFrame))
        #expect(fixture.link.takeSent(on: 5).map { $0[0] } == [0x06])
    }
}
