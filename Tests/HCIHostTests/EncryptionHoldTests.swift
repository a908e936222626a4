import BluetoothTypes
import EventLoops
import HCI
import Testing

@testable import HCIHost

/// Data that overtake the events that they need (quirks 1, 2).
@Suite struct EncryptionHoldTests {
    private static let handle = ConnectionHandle(rawValue: 1)

    private func packet(_ channel: UInt8, isStart: Bool = true, of handle: ConnectionHandle = handle) -> ACLPacket {
        ACLPacket(handle: handle, boundary: isStart ? .start : .continuation, payload: [1, 0, channel, 0, 0xAA])
    }

    private func at(_ milliseconds: Int64) -> Instant { .zero + .milliseconds(milliseconds) }

    @Test(
        "AB-L08: a central holds PDUs of pairing alone, and for one interval, so that none from the clear is among them"
    )
    func aCentralHoldsPairingForOneInterval() {
        var hold = EncryptionHold()
        hold.begin(.central, interval: 24)
        #expect(hold.take(packet(4), at: at(0)) == .deliver)
        #expect(hold.take(packet(6), at: at(1)) == .held)
        #expect(hold.take(packet(6, isStart: false), at: at(2)) == .held)
        #expect(hold.take(packet(4), at: at(3)) == .deliver)
        #expect(hold.take(packet(4, isStart: false), at: at(3)) == .deliver)
        #expect(hold.deadline == at(31))
        // Older than an interval: it was in the clear.
        #expect(hold.expire(at: at(31)) == [packet(6)])
        #expect(hold.end() == [packet(6, isStart: false)])
        #expect(hold.take(packet(6), at: at(40)) == .deliver)
    }

    @Test("a peripheral holds all that comes behind its key, within bounds, and drops it when the event does not come")
    func aPeripheralHoldsAllBehindItsKey() {
        var hold = EncryptionHold()
        hold.begin(.peripheral, interval: 24)
        for _ in 0..<EncryptionHold.maximumCount { #expect(hold.take(packet(4), at: at(0)) == .held) }
        #expect(hold.take(packet(4), at: at(0)) == .tooMany)
        #expect(hold.deadline == at(0) + EncryptionHold.limit)
        #expect(hold.expire(at: at(1_000)) == nil && hold.isEmpty)
        #expect(hold.take(packet(4), at: at(1_001)) == .held)
        #expect(hold.end() == [packet(4)])
    }

    @Test("AB-H04: what comes of one handle takes no room from others, and handles are bounded")
    func whatComesOfOneHandleTakesNoRoomFromOthers() {
        var early = EarlyPackets()
        func of(_ number: UInt16) -> ACLPacket { packet(4, of: ConnectionHandle(rawValue: number)) }
        for count in 0..<20 { #expect(early.add(of(9), at: at(0)) == (count < EarlyPackets.maximumCount)) }
        for number in 1..<20 {
            #expect(early.add(of(UInt16(100 + number)), at: at(0)) == (number < EarlyPackets.maximumHandles))
        }
        #expect(early.take(ConnectionHandle(rawValue: 101), at: at(100)).count == 1)
        #expect(early.take(ConnectionHandle(rawValue: 9), at: at(201)).isEmpty)
    }

    @Test(
        "AB-L08: data behind a peripheral's key wait for Encryption Change, and all know of it when they come (quirk 2)"
    )
    func dataBehindAKeyWaitForTheEvent() throws {
        let bench = Bench()
        bench.up()
        let link = try #require(bench.connect(1, role: .peripheral))
        var order: [String] = []
        link.onReceive = { _, _ in order.append("data") }
        link.onEncryption = { _ in order.append("report") }
        bench.host.onEvent(EncryptionChange.self) { _ in order.append("event") }
        bench.host.send(LELongTermKeyRequestReply(handle: Self.handle, longTermKey: PacketBuffer([UInt8](1...16))))
        bench.run()
        bench.inject(HCIPacket(packet(4)).kind, HCIPacket(packet(4)).bytes)
        bench.run(.milliseconds(20))
        #expect(order.isEmpty)
        bench.inject(EncryptionChange(handle: Self.handle, state: .on))
        #expect(order == ["report", "event", "data"])
        bench.inject(HCIPacket(packet(4)).kind, HCIPacket(packet(4)).bytes)
        #expect(order.last == "data" && order.count == 4)
    }

    @Test("AB-L08: a peripheral ends a link whose data come behind its key without the event")
    func aLinkWithoutTheEventIsEnded() throws {
        let bench = Bench()
        bench.up()
        let link = try #require(bench.connect(1, role: .peripheral))
        var seen = 0
        link.onReceive = { _, _ in seen += 1 }
        bench.host.send(LELongTermKeyRequestReply(handle: Self.handle, longTermKey: PacketBuffer([UInt8](1...16))))
        bench.run()
        bench.inject(HCIPacket(packet(4)).kind, HCIPacket(packet(4)).bytes)
        bench.run(EncryptionHold.limit + .milliseconds(1))
        #expect(seen == 0 && bench.host.counters.unprovenLinks == 1)
        #expect(bench.transport.commands.contains("Disconnect"))
    }

    private func controller(_ subversion: UInt16, at place: String = "usb") -> ControllerInformation {
        var controller = ControllerInformation()
        (controller.place, controller.subversion) = (place, subversion)
        return controller
    }

    @Test("what a controller is not trusted with is known by its place and maker, and forgotten with its firmware")
    func whatAControllerIsNotTrustedWithIsForgottenWithItsFirmware() {
        let memory = ControllerMemory()
        var changes = 0
        memory.onChange = { changes += 1 }
        memory.note(.legacyCommands, of: controller(1))
        memory.note(.legacyCommands, of: controller(1))
        memory.note(.takesTurns, of: controller(1))
        #expect(changes == 2 && memory.fallbacks(of: controller(1)) == [.legacyCommands, .takesTurns])
        #expect(memory.fallbacks(of: controller(1, at: "other")).isEmpty)
        memory.note(.extendedCommands, of: controller(1))
        #expect(memory.fallbacks(of: controller(1)) == [.extendedCommands, .takesTurns])
        // What was known before counts less than what was found since.
        let later = ControllerMemory()
        later.note(.scansAnew, of: controller(2, at: "other"))
        later.take(memory.entries + later.entries)
        #expect(later.entries.count == 2 && later.fallbacks(of: controller(1)) == [.extendedCommands, .takesTurns])
        #expect(memory.fallbacks(of: controller(2)).isEmpty)
        #expect(memory.fallbacks(of: controller(1)).isEmpty && memory.entries.isEmpty && changes == 4)
        for number in 0..<100 { memory.note(.noCodedPHY, of: controller(1, at: "\(number)")) }
        #expect(memory.entries.count == ControllerMemory.maximumControllers)
        #expect(memory.entries.last?.device.place == "99")
    }
}
