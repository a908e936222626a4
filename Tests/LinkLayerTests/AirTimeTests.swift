import BluetoothTypes
import EventLoops
import HCI
import Radio
import Testing

@testable import LinkLayer

/// The time of the one radio is accounted for, by link and purpose.
@Suite struct AirTimeTests {
    /// What the uses of a controller have in common with its antenna's own account: nothing is lost or counted twice.
    private func expectComplete(_ host: TestHost, _ place: SourceLocation = #_sourceLocation) {
        let (node, uses) = (host.controller.node.airTime, host.controller.airTime.values)
        #expect(uses.reduce(0) { $0 + $1.sending } == node.sending, sourceLocation: place)
        #expect(uses.reduce(0) { $0 + $1.listening } == node.listening, sourceLocation: place)
        #expect(uses.reduce(0) { $0 + $1.framesSent } == node.framesSent, sourceLocation: place)
        #expect(uses.reduce(0) { $0 + $1.framesReceived } == node.framesReceived, sourceLocation: place)
    }

    @Test("the air time of a radio belongs to the link or the purpose that it was used for")
    func airTimeHasItsUse() throws {
        let world = World()
        let central = world.host()
        let peripherals = [world.host(at: 1), world.host(at: 1)]
        for peripheral in peripherals {
            peripheral.advertise()
            central.connect(to: peripheral.address, interval: 40, timeout: 600)
            world.run(.seconds(3))
            let uses = peripheral.controller.airTime
            #expect(
                Set(uses.keys) == [
                    .advertising(set: nil), .link(try #require(peripheral.controller.links.first).handle),
                ]
            )
            expectComplete(peripheral)
        }
        let handles = central.controller.links.map(\.handle)
        try #require(handles.count == 2)
        #expect(Set(central.controller.airTime.keys) == [.initiating, .link(handles[0]), .link(handles[1])])
        expectComplete(central)

        let before = central.controller.airTime
        for _ in 0..<20 {
            central.send([UInt8](repeating: 7, count: 27), on: handles[0])
            world.run(.milliseconds(100))
        }
        let after = central.controller.airTime
        let used = handles.map { handle in
            (after[.link(handle)]?.sending ?? 0) - (before[.link(handle)]?.sending ?? 0)
        }
        // Forty events of 80 µs, and in twenty of them 27 octets more, of 8 µs each.
        #expect(used[1] > 0 && used[0] >= used[1] + 20 * 27 * 8 - 200 && used[0] <= used[1] + 20 * 31 * 8 + 200)
        #expect(before[.initiating] == after[.initiating])
        expectComplete(central)

        central.scan()
        world.run(.seconds(2))
        #expect(try #require(central.controller.airTime[.scanning]).listening > 500_000)
        central.send(Disconnect(handle: handles[0], reason: .remoteUserTerminated))
        world.run(.seconds(2))
        let last = central.controller.airTime
        #expect(last[.link(handles[0])] == nil)
        let ended = try #require(last[.endedLinks])
        #expect(ended.sending >= after[.link(handles[0])]?.sending ?? .max)
        expectComplete(central)
    }
}
