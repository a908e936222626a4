import AccessStandIns
import BluetoothTypes
import EventLoops
import HCIHost
import LinkLayer
import Security
import Testing

@testable import GAP

/// Arbitration of a radio that does one thing at a time.
@Suite struct RadioTurnsTests {
    @Test("a refused user of the radio gets a turn, and the others pause until it ends or succeeds")
    func refusedUsersGetATurn() {
        for end in [RadioTurns.Event.turnOver, .done(.connector)] {
            var turns = RadioTurns()
            #expect(turns.handle(.refused(.connector)) == [.pause(.advertiser), .pause(.scanner), .startTimer])
            #expect(turns.handle(.refused(.scanner)).isEmpty)
            #expect(turns.handle(.done(.scanner)).isEmpty)
            #expect(turns.handle(end).suffix(2) == [.resume(.advertiser), .resume(.scanner)])
            #expect(turns.handle(.refused(.scanner)) == [.pause(.advertiser), .pause(.connector), .startTimer])
            #expect(turns.handle(.reset) == [.endTimer])
            #expect(turns.handle(.reset).isEmpty)
        }
    }

    @Test("a user that is refused although the others pause lets them resume, and starves none")
    func usersRefusedAloneLetOthersResume() {
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

    @Test("a connector that waits for an absent peer repeatedly lets the others scan and advertise")
    func waitingConnectorsLetOthersResume() throws {
        let world = GAPWorld(.extended)
        let (device, other) = (world.device { $0.quirks = [.statesLie] }, world.device())
        let sender = Peripheral(other.access)
        sender.enter(.init(.general, .undirected))
        let central = Central(device.access)
        var failure: GAPError?
        central.connect(to: .init(0xC0FF_EE00_0099, kind: .publicDevice)) { result in
            if case .failure(let error) = result { failure = error }
        }
        world.run(.seconds(1))
        let (observer, loop) = (Observer(device.access), world.loop)
        var heard: [Instant] = []
        try observer.observe(.attentive) { _ in heard.append(loop.now) }
        let role = Peripheral(device.access)
        role.enter(.init(.general, .undirected))
        let start = loop.now
        var seen: [Instant] = []
        let listener = Observer(world.device().access)
        try listener.observe(ScanSettings(isActive: false)) {
            if $0.address == device.address { seen.append(loop.now) }
        }
        world.run(.seconds(120))
        #expect(failure == nil)
        #expect(device.access.controllerInformation?.fallbacks == [.takesTurns])
        // Neither activity starves in any 30 seconds.
        for part in 0..<4 {
            let time = (start + .seconds(30 * part))..<(start + .seconds(30 * part + 30))
            #expect(heard.contains { time.contains($0) } && seen.contains { time.contains($0) }, "\(part)")
        }
        withExtendedLifetime((sender, central, role)) {}
    }
}
