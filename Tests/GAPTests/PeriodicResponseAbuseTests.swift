import BluetoothTypes
import EventLoops
import HCI
import HCIHost
import Testing

@testable import GAP

/// Invalid controller events about trains with responses, and more data than one command holds.
@Suite struct PeriodicResponseAbuseTests {
    private static let announcement: AdvertisingConfiguration = {
        var advertisement = AdvertisingConfiguration(.nonConnectable, data: AdvertisingData([]))
        advertisement.packets = .extended(.init())
        return advertisement
    }()

    /// A broadcaster with twenty subevents in each 150 ms.
    private func broadcaster(_ device: GAPDevice) throws -> PeriodicBroadcaster {
        let broadcaster = PeriodicBroadcaster(device.access)
        let timing = LESubeventTiming(subevents: 20, interval: 6, responseSlotDelay: 2, responseSlotSpacing: 8)
        var result: Result<Void, GAPError>?
        broadcaster.start(Self.announcement, subevents: timing, slots: 2, interval: 120...120) { result = $0 }
        device.world.run { result != nil }
        try #require(try result?.get() != nil)
        return broadcaster
    }

    @Test func twentySubeventsNeedTwoCommands() throws {
        let device = GAPWorld().device()
        let broadcaster = try broadcaster(device)
        let data = (0..<20).map { LESubeventData(subevent: $0, firstSlot: 0, slots: 0, data: [$0]) }
        var result: Result<Void, GAPError>?
        broadcaster.send(data) { result = $0 }
        device.world.run { result != nil }
        #expect(try result?.get() != nil)
    }

    @Test("AB-H02: a controller's request for subevents that do not exist is not answered")
    func subeventsThatThereAreNot() throws {
        let broadcaster = try broadcaster(GAPWorld().device())
        var asked: [[UInt8]] = []
        broadcaster.onDataWanted = { asked.append($0) }
        let set = broadcaster.advertising.number
        for first in [20, 255] as [UInt8] { broadcaster.wanted(.init(set: set, first: first, count: 3)) }
        #expect(asked.isEmpty)
        // The first subevent follows the last, and none is requested twice.
        broadcaster.wanted(.init(set: set, first: 19, count: 2))
        broadcaster.wanted(.init(set: set, first: 0, count: 255))
        #expect(asked == [[19, 0], Array(0..<20)])
    }

    @Test("AB-H02: response fragments that do not belong together, or never end, are not reported")
    func piecesThatDoNotBelongTogether() throws {
        let broadcaster = try broadcaster(GAPWorld().device())
        var heard: [PacketBuffer] = []
        broadcaster.onResponse = { heard.append($2) }
        func say(_ octets: Int, slot: UInt8, isLast: Bool, subevent: UInt8 = 1) {
            var response = LEPeriodicResponse(slot: slot)
            response.dataStatus = isLast ? .complete : .moreToCome
            response.data = PacketBuffer([UInt8](repeating: slot, count: octets))
            broadcaster.reported(.init(set: broadcaster.advertising.number, subevent: subevent, responses: [response]))
        }
        func taken() -> [[UInt8]] {
            defer { heard = [] }
            return heard.map { Array($0) }
        }
        say(3, slot: 0, isLast: false)
        say(2, slot: 0, isLast: true)
        #expect(taken() == [[0, 0, 0, 0, 0]])
        // Another slot, and the same slot of another subevent.
        say(3, slot: 0, isLast: false)
        say(2, slot: 1, isLast: true)
        say(3, slot: 0, isLast: false)
        say(1, slot: 0, isLast: true, subevent: 2)
        #expect(taken() == [[1, 1], [0]])
        // As long as a response may be, and longer.
        for _ in 0..<2 { say(127, slot: 1, isLast: false) }
        say(0, slot: 1, isLast: true)
        #expect(taken().map(\.count) == [254])
        for _ in 0..<3 { say(127, slot: 1, isLast: false) }
        say(1, slot: 1, isLast: true)
        #expect(taken() == [[1]])
    }

    @Test("a train beyond the 64th is reported as an error, and the controller stops following it")
    func tooManyTrains() throws {
        let device = GAPWorld().device()
        var told: [Result<PeriodicObserver.Train, GAPError>] = []
        device.access.trains.onTold = { result, _, _ in told.append(result) }
        for number in 0...UInt16(PeriodicObserver.maximumTrains) {
            let event = LEPeriodicAdvertisingSyncTransferReceived(
                handle: ConnectionHandle(rawValue: 0),
                serviceData: 0,
                sync: number,
                sid: 1,
                address: BluetoothAddress(UInt64(number), kind: .publicDevice),
                phy: .le1M,
                interval: 80,
                accuracy: LEClockAccuracy(rawValue: 0)
            )
            device.gate.onReceive?(HCIPacket(event))
        }
        device.world.run(.milliseconds(10))
        #expect(told.count == 65 && told.dropLast().allSatisfy { (try? $0.get()) != nil })
        if case .failure(.impossible(let text))? = told.last {
            #expect(text.contains("at most 64"))
        } else {
            Issue.record("the last train was not refused")
        }
        #expect(device.access.trains.followed.count == 64)
        #expect(device.log.all(LEPeriodicAdvertisingTerminateSync.self).map(\.sync) == [64])
    }

    @Test func whoConnectsOutOfATrainHearsThatTheControllerIsGone() throws {
        let device = GAPWorld().device()
        let broadcaster = try broadcaster(device)
        var results: [Result<AccessLink, GAPError>] = []
        broadcaster.connect(to: BluetoothAddress(5, kind: .publicDevice), in: 3) { results.append($0) }
        device.access.subevents.reset()
        #expect(results.map { $0.map { _ in 0 } } == [.failure(.notReady)])
    }
}
