import Accessories
import BluetoothService
import BluetoothSimulation
import BluetoothTypes
import Dispatch
import EventLoops
import ServiceEvents
import Synchronization
import Testing

@testable import Page

/// Why things happen in a world: the chains end at what was planted.
@Suite struct WorldCausesTests {
    /// An app with a flaw, what is done to its world, and the end of the chain from the last event of the app.
    struct BrokenCase: Sendable, CustomTestStringConvertible {
        let flaw: BrokenApp.Flaw
        let hint: String
        var testDescription: String { flaw.rawValue }
    }

    static let broken = [
        BrokenCase(flaw: .forgottenDelegate, hint: "API MISUSE: Phone: watch: Discovering services"),
        BrokenCase(flaw: .lostReference, hint: "released its CBCentralManager at 00:00.000, before it made a request"),
        BrokenCase(flaw: .noRediscovery, hint: "is no longer part of"),
        BrokenCase(flaw: .noTimeOut, hint: "a connection request never times out"),
        BrokenCase(flaw: .ignoredError, hint: "made no request since: discovering services"),
        BrokenCase(flaw: .writeWithoutRoom, hint: "has no room for a response-less write"),
        BrokenCase(flaw: .wrongUUID, hint: "and discovered nothing; advertised were: \"Heart Rate\""),
        BrokenCase(flaw: .readBeforeDiscovery, hint: "services is nil until discoverServices"),
        BrokenCase(flaw: .blockedCallback, hint: "the last callback on the queue \"broken\" does not return"),
        BrokenCase(flaw: .peripheralNotKept, hint: "keep the peripheral in a property"),
    ]

    /// The chain of an event, as lines for the output of a failure.
    private func lines(_ why: WorldWhy) -> String {
        why.steps.map { "\($0.kind) \($0.number) \($0.text ?? "") @\($0.place ?? "-") ^ \($0.reason ?? "")" }
            .joined(separator: "\n")
    }

    private func events(of world: LiveWorld, containing text: String) -> [UInt64] {
        world.story.lines(from: 0).lines.filter { $0.event > 0 && $0.text.contains(text) }.map(\.event)
    }

    @Test(
        "the chain from the last event of a broken app ends at its flaw, with the line of the call",
        arguments: broken
    )
    func brokenApps(_ each: BrokenCase) throws {
        let blocks = DispatchSemaphore(value: 0)
        let world = LiveWorld(
            seed: 7,
            loop: each.flaw == .blockedCallback ? VirtualEventLoop(checksForReturn: 60) : VirtualEventLoop(),
            accessory: each.flaw == .writeWithoutRoom ? .uart : .heartRate
        ) { _ in BrokenApp(each.flaw, blocks: blocks) }
        try act(each.flaw, world)
        let told = world.story.lines(from: 0).lines.map(\.text).joined(separator: "\n")
        let numbers = (1...600 as ClosedRange<UInt64>).reversed()
        let last = numbers.first { world.why(.event($0)).steps.first?.text?.contains("watch") == true }
        let why = world.why(.event(try #require(last, "\(told)"))).located()
        #expect(why.steps.last?.kind == .hint, "\(lines(why))\n\(told)")
        #expect(why.steps.last?.text?.contains(each.hint) == true, "\(lines(why))\n\(told)")
        let place = "BrokenApp.swift:\(try #require(BrokenApp.lines.withLock { $0[each.flaw] }))"
        // The hint about a callback that does not return is about no call. The chain has the last one in that callback.
        let places = each.flaw == .blockedCallback ? why.steps.map(\.place) : [why.steps.last?.place]
        #expect(places.contains(place), "\(place) is not the end of\n\(lines(why))\n\(told)")
        blocks.signal()
    }

    private func act(_ flaw: BrokenApp.Flaw, _ world: LiveWorld) throws {
        switch flaw {
        case .noTimeOut:
            while events(of: world, containing: "connect").isEmpty, world.step() {}
            try world.perform(.begin(DeviceFault(.outOfRange)))
            world.advance(by: 30_000)
        case .noRediscovery:
            world.advance(by: 5_000)
            try world.perform(.begin(DeviceFault(.outOfRange)))
            world.advance(by: 10_000)
            try world.perform(.end(DeviceFault(.outOfRange)))
            world.advance(by: 10_000)
        case .ignoredError:
            try world.perform(.begin(DeviceFault(.attError, 14)))
            world.advance(by: 10_000)
        default: world.advance(by: 15_000)
        }
    }

    @Test("each packet that is kept has its chain at once, the last one, too")
    func eachPacket() throws {
        let world = LiveWorld(seed: 7)
        let numbers = Mutex<[UInt64]>([])
        world.withPhone { system in
            _ = system.tap.add(
                for: nil,
                { packet in numbers.withLock { $0.append(packet.number) } },
                amend: { _, _ in }
            )
        }
        for seconds in [1, 40] as [Int64] {
            world.advance(by: seconds * 1_000)
            let all = numbers.withLock { $0 }
            #expect(all.count > 10)
            for number in all.suffix(3) + all.filter({ $0.isMultiple(of: 97) }) {
                #expect(world.why(.packet(number)).steps.first?.number == number)
            }
        }
    }

    @Test("the end of a process is not taken for a manager that the app did not keep")
    func endOfProcess() throws {
        let world = LiveWorld(seed: 7)
        world.advance(by: 5_000)
        try world.perform(.app(.forceQuit))
        world.advance(by: 1_000)
        let closed = try #require(events(of: world, containing: "the manager was closed").last)
        let why = world.why(.event(closed))
        #expect(why.steps.first?.reason?.contains("kept no reference") == false, "\(lines(why))")
    }

    /// A fault of the sensor, the times before and after its beginning, and the event or packet that is asked about.
    struct FaultCase: Sendable, CustomTestStringConvertible {
        let fault: DeviceFault
        var before: Int64 = 10_000
        var after: Int64 = 15_000
        /// A part of the line of the story; nil for a packet.
        var line: String?
        /// The channel and the first octets of the PDU.
        var pdu: [UInt8] = []
        var testDescription: String { fault.text }
    }

    static let faults = [
        FaultCase(fault: DeviceFault(.outOfRange), line: "the link ended"),
        FaultCase(fault: DeviceFault(.lossy, 1), line: "the link ended"),
        FaultCase(fault: DeviceFault(.jammedChannel, 39), before: 0, line: "→ connect"),
        FaultCase(fault: DeviceFault(.lowBattery, 5), line: "Battery Level (2A19): 5%"),
        FaultCase(fault: DeviceFault(.reboot), line: "the link ended"),
        FaultCase(fault: DeviceFault(.newFirmware), line: "modified"),
        FaultCase(fault: DeviceFault(.slowAnswers, 4), before: 0, after: 60_000, line: "services discovered"),
        FaultCase(fault: DeviceFault(.noAnswers), before: 0, after: 60_000, line: "the link ended"),
        FaultCase(fault: DeviceFault(.malformedAnswers), before: 0, after: 60_000, line: "the link ended"),
        FaultCase(fault: DeviceFault(.attError, 14), before: 0, line: "services"),
        FaultCase(fault: DeviceFault(.mtuRefused), before: 0, pdu: [4, 0, 0x01, 0x02]),
        FaultCase(fault: DeviceFault(.notificationFlood, 20), after: 2_000, line: "value notified"),
        FaultCase(fault: DeviceFault(.parameterFlood, 20), after: 2_000, pdu: [5, 0, 0x12]),
        FaultCase(fault: DeviceFault(.airplaneMode), line: "the link ended"),
    ]

    @Test("the chain from what a fault of the sensor causes ends at the fault", arguments: faults)
    func faultsOfDevices(_ each: FaultCase) throws {
        let world = LiveWorld(seed: 7)
        let found = Mutex<UInt64?>(nil)
        let pdu = each.pdu
        world.withPhone { system in
            _ = system.tap.add(
                for: nil,
                { packet in
                    guard packet.kind == 2, packet.isReceived, !pdu.isEmpty,
                        Array(packet.octets).dropFirst(6).prefix(pdu.count).elementsEqual(pdu)
                    else { return }
                    found.withLock { $0 = packet.number }
                },
                amend: { _, _ in }
            )
        }
        world.advance(by: each.before)
        if each.fault.kind == .jammedChannel {
            for channel in [37.0, 38] { try world.perform(.begin(DeviceFault(.jammedChannel, channel))) }
        }
        // Something else that was done before and is over.
        let noise = WorldAct.setNoise(-100)
        try world.perform(noise)
        try world.perform(.setNoise(nil))
        try world.perform(.begin(each.fault))
        world.advance(by: each.after)
        let told = world.story.lines(from: 0).lines.map(\.text).joined(separator: "\n")
        let why: WorldWhy
        if let line = each.line {
            why = world.why(.event(try #require(events(of: world, containing: line).last, "\(told)")))
        } else {
            let number = try #require(found.withLock { $0 }, "\(told)")
            why = world.why(.packet(number))
        }
        let end = try #require(why.steps.last { $0.kind != .hint })
        #expect(end.kind == .act, "\(lines(why))\n\(told)")
        #expect(end.text?.contains(each.fault.kind.rawValue) == true, "\(lines(why))\n\(told)")
    }
}
