import BluetoothTypes
import Foundation
import SampleMessages
import ServiceMessages
import Testing

@testable import BluetoothService

/// Credits return in batches, so that an app is not woken for each value.
@Suite struct CreditTests {
    private static let values = 400

    /// Sends as fast as the credits allow, and returns the number of credits in each event.
    private func sendAll(
        _ pair: ConnectedPair,
        by app: TestManager,
        _ request: Request,
        room: Int,
        _ credits: (Event) -> Int?
    ) -> [Int] {
        var (room, unsent) = (room, Self.values)
        var returned: [Int] = []
        app.take()
        for _ in 0..<20_000 where returned.reduce(0, +) < Self.values {
            while room > 0, unsent > 0 {
                app.send(request)
                (room, unsent) = (room - 1, unsent - 1)
            }
            pair.world.run(.milliseconds(1))
            let came = app.take().compactMap(credits)
            room += came.reduce(0, +)
            returned += came
        }
        // All values that the links accepted are on their way.
        pair.world.run(.seconds(5))
        return returned
    }

    @Test("behaviour 5.13: an app that writes as fast as it can gets credits for many writes at a time")
    func writesReturnTheirCreditsTogether() throws {
        let pair = try ConnectedPair()
        let controlPoint = try #require(try pair.connected()[Example.controlPoint])
        let write = Request.writeWithoutResponse(peer: pair.peer, characteristic: controlPoint, value: [1])
        let limit = ServiceLimits.writesWithoutResponse
        let returned = sendAll(pair, by: pair.central, write, room: limit, \.writeCredits)
        #expect(returned.reduce(0, +) == Self.values)
        #expect(pair.sensor.take().compactMap(\.writeRequest).count == Self.values)
        // As a rule, each event returns at least half of them.
        #expect(returned.count <= 2 * Self.values / limit, "\(returned)")
    }

    @Test("behaviour 7.43: an app that updates as fast as it can gets credits for many updates at a time")
    func updatesReturnTheirCreditsTogether() throws {
        let pair = try ConnectedPair()
        let measurement = try #require(try pair.connected()[Example.measurement])
        let subscribe = Request.setNotify(peer: pair.peer, characteristic: measurement, enabled: true)
        _ = try pair.central.ask(subscribe, "subscribed", \.notifyState)
        let update = Request.updateValue(characteristic: Example.measurementID, value: [1], centrals: nil)
        let limit = ServiceLimits.valueUpdates
        let returned = sendAll(pair, by: pair.sensor, update, room: limit, \.updateCredits)
        #expect(returned.reduce(0, +) == Self.values)
        #expect(pair.central.take().compactMap(\.value).count == Self.values)
        #expect(returned.count <= 2 * Self.values / limit, "\(returned)")
    }

    @Test("credits return at once if nothing waits, otherwise in halves, and never twice")
    func aBatch() {
        var batch = CreditBatch(limit: 20)
        let single = batch.add(1, waiting: 0)
        #expect(single)
        #expect(batch.take().count == 1)
        #expect(batch.take().count == 0)
        let early = (1...9).map { _ in batch.add(1, waiting: 5) }
        let due = batch.add(1, waiting: 5)
        let again = batch.add(1, waiting: 0)
        #expect(early == [Bool](repeating: false, count: 9))
        #expect(due)
        #expect(!again)
        #expect(batch.take().count == 11)
        #expect(batch.take().count == 0)
        // Credits due so far are returned together with those that end the wait.
        let waits = batch.add(2, waiting: 1)
        let ends = batch.add(1, waiting: 0)
        #expect(!waits)
        #expect(ends)
        #expect(batch.take().count == 3)
    }

    @Test("behaviours 5.13, 7.43: only an app without credits is notified of their return")
    func roomThatIsAwaited() {
        var batch = CreditBatch(limit: 3)
        func give(_ count: Int) -> Bool {
            _ = batch.add(count, waiting: 0)
            return batch.take().isAwaited
        }
        batch.spend()
        batch.spend()
        #expect(!give(1))
        batch.spend()
        batch.spend()
        #expect(give(1))
        #expect(!give(1))
        #expect(!give(1))
        // An app that overdraws its credits waits like one that has used them up.
        for _ in 0..<5 { batch.spend() }
        #expect(give(1))
        #expect(!give(1))
        for _ in 0..<3 { batch.spend() }
        batch.reset()
        #expect(!give(1))
    }
}
