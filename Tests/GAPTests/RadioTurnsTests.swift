import Testing

@testable import GAP

/// Who has a radio that does one thing at a time.
@Suite struct RadioTurnsTests {
    @Test("whoever is refused has a turn, and the others rest until it is over, or it has what it wanted")
    func whoeverIsRefusedHasATurn() {
        for end in [RadioTurns.Event.turnOver, .done(.connector)] {
            var turns = RadioTurns()
            #expect(turns.handle(.refused(.connector)) == [.pause(.advertiser), .pause(.scanner), .startTimer])
            #expect(turns.handle(.refused(.scanner)).isEmpty && turns.handle(.done(.scanner)).isEmpty)
            #expect(turns.handle(end).suffix(2) == [.resume(.advertiser), .resume(.scanner)])
            #expect(turns.handle(.refused(.scanner)) == [.pause(.advertiser), .pause(.connector), .startTimer])
            #expect(turns.handle(.reset) == [.endTimer] && turns.handle(.reset).isEmpty)
        }
    }

    @Test("whoever is refused although the others rest lets them go on, and starves nobody")
    func whoeverIsRefusedAloneLetsTheOthersGoOn() {
        var turns = RadioTurns()
        _ = turns.handle(.refused(.scanner))
        #expect(
            turns.handle(.refused(.scanner)) == [
                .endTimer, .resume(.advertiser), .resume(.connector), .startTimer,
            ]
        )
        #expect(turns.handle(.refused(.scanner)).isEmpty)
        // Others may be refused because of each other.
        #expect(turns.handle(.refused(.connector)) == [.endTimer, .pause(.advertiser), .pause(.scanner), .startTimer])
        _ = turns.handle(.turnOver)
        _ = turns.handle(.refused(.scanner))
        _ = turns.handle(.refused(.scanner))
        #expect(turns.handle(.turnOver).isEmpty)
        #expect(turns.handle(.refused(.scanner)) == [.pause(.advertiser), .pause(.connector), .startTimer])
    }
}
