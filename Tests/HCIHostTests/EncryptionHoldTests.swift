import BluetoothTypes
import ControllerStandIns
import EventLoops
import HCI
import Testing

@testable import HCIHost

/// Data that overtake the events they depend on (quirks 1, 2).
@Suite struct EncryptionHoldTests {
    private static let handle = ConnectionHandle(rawValue: 1)

    private func packet(_ channel: UInt8, isStart: Bool = true, of handle: ConnectionHandle = handle) -> ACLPacket {
        ACLPacket(handle: handle, boundary: isStart ? .start : .continuation, payload: [1, 0, channel, 0, 0xAA])
    }

    private func at(_ milliseconds: Int64) -> Instant { .zero + .milliseconds(milliseconds) }

    /// A pairing key that arrives in one packet; its lengths are those of Core Vol 3 Part H 3.6.2 to 3.6.6.
    private func key(_ code: UInt8, _ fill: UInt8 = 0xAA) -> ACLPacket {
        let length: UInt8 = [0x06: 17, 0x07: 11, 0x08: 17, 0x09: 8, 0x0A: 17][code] ?? 17
        let rest = [UInt8](repeating: fill, count: Int(length) - 1)
        return ACLPacket(
            handle: Self.handle,
            boundary: .start,
            payload: PacketBuffer([length, 0, 6, 0, code] + rest)
        )
    }

    /// The hold of a central that has begun to encrypt.
    private func central(interval: UInt16 = 24) -> EncryptionHold {
        var hold = EncryptionHold()
        hold.beginAsCentral(interval: interval)
        return hold
    }

    @Test("AB-L08: a central holds pairing keys for one interval and at most 100 ms; older ones arrived in the clear")
    func aCentralHoldsKeysForOneInterval() {
        var hold = central()
        #expect(hold.receive(packet(4), at: at(0)) == .deliver)
        #expect(hold.deadline == nil)
        #expect(hold.receive(key(8), at: at(1)) == .held)
        #expect(hold.receive(key(9), at: at(2)) == .held)
        #expect(hold.receive(packet(4), at: at(3)) == .deliver)
        #expect(hold.receive(packet(4, isStart: false), at: at(3)) == .deliver)
        #expect(hold.deadline == at(31))
        #expect(hold.expire(at: at(31)) == [key(8)])
        #expect(hold.end() == [key(9)])
        #expect(hold.receive(key(8), at: at(40)) == .deliver)
        var slow = central(interval: 3_200)
        #expect(slow.receive(key(8), at: at(0)) == .held)
        #expect(slow.deadline == at(0) + EncryptionHold.centralLimit)
    }

    @Test("AB-L08: each of the five kinds of keys is held once at a central; a second one of its kind is not")
    func eachKeyWaitsOnce() {
        var hold = central()
        for code in 0x06...0x0A as ClosedRange<UInt8> {
            #expect(hold.receive(key(code), at: at(0)) == .held)
            #expect(hold.receive(key(code, 0xBB), at: at(0)) == .deliver)
        }
        #expect(hold.end().count == 5)
    }

    @Test("AB-L08: data that are not a whole pairing key are not held at a central")
    func incompleteKeysAreNotHeld() {
        var hold = central()
        // All other commands of the Security Manager, and reserved codes.
        for code in [0x00...0x05, 0x0B...0xFF] as [ClosedRange<UInt8>] {
            for code in code { #expect(hold.receive(key(code), at: at(0)) == .deliver) }
        }
        func changed(_ change: (inout [UInt8]) -> Void, _ boundary: ACLPacket.Boundary = .start) -> ACLPacket {
            var octets = key(8).payload.bytes
            change(&octets)
            return ACLPacket(handle: Self.handle, boundary: boundary, payload: PacketBuffer(octets))
        }
        // A first fragment, since what begins in the clear may end encrypted; then a continuation, other lengths, and
        // other channels.
        for count in 1..<21 {
            #expect(hold.receive(changed { $0.removeLast($0.count - count) }, at: at(0)) == .deliver)
        }
        #expect(hold.receive(changed({ _ in }, .continuation), at: at(0)) == .deliver)
        #expect(hold.receive(changed { $0.append(0) }, at: at(0)) == .deliver)
        #expect(hold.receive(changed { $0[0] = 16 }, at: at(0)) == .deliver)
        #expect(hold.receive(changed { $0[1] = 1 }, at: at(0)) == .deliver)
        #expect(hold.receive(changed { $0[2] = 4 }, at: at(0)) == .deliver)
        #expect(hold.receive(changed { $0[3] = 1 }, at: at(0)) == .deliver)
        #expect(hold.isEmpty)
        #expect(hold.receive(changed({ _ in }, .startNonFlushable), at: at(0)) == .held)
    }

    // MARK: Limits of a central's hold

    /// The order in which a central's link reports events, with keys that arrive at one point.
    private func order(_ story: (HostBench) -> Void) throws -> [String] {
        let bench = HostBench.up()
        let link = try #require(bench.connect(1))
        var order: [String] = []
        link.onReceive = { _, _ in order.append("data") }
        link.onEncryption = { order.append($0 == .on ? "encrypted" : "not encrypted") }
        story(bench)
        return order
    }

    private func arrives(_ bench: HostBench, _ code: UInt8 = 8) {
        let packet = HCIPacket(key(code))
        bench.inject(packet.kind, packet.bytes)
    }

    private func encrypts(_ bench: HostBench) {
        let key = PacketBuffer([UInt8](1...16))
        bench.host.send(
            LEEnableEncryption(handle: Self.handle, random: 0, encryptedDiversifier: 0, longTermKey: key)
        )
    }

    @Test(
        "AB-L08: keys right after encryption begins wait for Encryption Change, which every component receives first (quirk 2)"
    )
    func keysWaitForEncryptionChange() throws {
        let order = try order { bench in
            encrypts(bench)
            bench.run(.milliseconds(2))
            arrives(bench)
            arrives(bench, 9)
            bench.inject(EncryptionChange(handle: Self.handle, state: .on))
            arrives(bench, 10)
        }
        #expect(order == ["encrypted", "data", "data", "data"])
    }

    @Test("AB-L08: keys that arrive before a central requests encryption were in the clear")
    func keysBeforeTheCommand() throws {
        let order = try order { bench in
            arrives(bench)
            encrypts(bench)
            bench.run(.milliseconds(2))
            bench.inject(EncryptionChange(handle: Self.handle, state: .on))
        }
        #expect(order == ["data", "encrypted"])
    }

    @Test("AB-L08: keys that arrive before the controller has begun to encrypt were in the clear")
    func keysBeforeTheStatus() throws {
        let order = try order { bench in
            bench.controller.reaction = { $0 == LEEnableEncryption.opcode ? .silence : .answer }
            encrypts(bench)
            bench.run(.milliseconds(2))
            arrives(bench)
            bench.inject(CommandStatus(status: .success, credits: 1, opcode: LEEnableEncryption.opcode))
            arrives(bench, 9)
            bench.inject(EncryptionChange(handle: Self.handle, state: .on))
        }
        #expect(order == ["data", "encrypted", "data"])
    }

    @Test("AB-L08: keys after a refusal to encrypt were in the clear")
    func keysAfterARefusal() throws {
        let order = try order { bench in
            let status = CommandStatus(status: .commandDisallowed, credits: 1, opcode: LEEnableEncryption.opcode)
            bench.controller.reaction = { $0 == LEEnableEncryption.opcode ? .packets([HCIPacket(status)]) : .answer }
            encrypts(bench)
            bench.run(.milliseconds(2))
            arrives(bench)
            // No key has been given for this.
            bench.inject(EncryptionChange(handle: Self.handle, state: .on))
        }
        #expect(order == ["data"])
    }

    @Test("AB-L08: keys held for longer than an interval, or held when encryption fails, were in the clear")
    func keysThatHaveWaitedForTooLong() throws {
        let late = try order { bench in
            encrypts(bench)
            bench.run(.milliseconds(2))
            arrives(bench)
            // The interval is 30 ms.
            bench.run(.milliseconds(29))
            arrives(bench, 9)
            bench.inject(EncryptionChange(handle: Self.handle, state: .on))
        }
        #expect(late == ["data", "encrypted", "data"])
        let failed = try order { bench in
            encrypts(bench)
            bench.run(.milliseconds(2))
            arrives(bench)
            bench.inject(EncryptionChange(status: .pinOrKeyMissing, handle: Self.handle, state: .off))
        }
        #expect(failed == ["not encrypted", "data"])
    }

    @Test("data held at a peripheral count as clear when the controller does not accept its key")
    func refusedKeysReleaseHeldData() throws {
        let bench = HostBench.up()
        let link = try #require(bench.connect(1, role: .peripheral))
        var count = 0
        link.onReceive = { _, _ in count += 1 }
        bench.controller.reaction = { $0 == LELongTermKeyRequestReply.opcode ? .silence : .answer }
        bench.host.send(LELongTermKeyRequestReply(handle: Self.handle, longTermKey: PacketBuffer([UInt8](1...16))))
        bench.run(.milliseconds(2))
        arrives(bench)
        #expect(count == 0)
        bench.controller.complete(LELongTermKeyRequestReply.opcode, [HCIStatus.commandDisallowed.rawValue, 1, 0])
        bench.run(.milliseconds(2))
        #expect(count == 1)
        #expect(bench.host.counters.unprovenLinks == 0)
    }

    @Test("a peripheral holds all data after its key, within bounds, and drops them when the event does not arrive")
    func aPeripheralHoldsAllBehindItsKey() {
        var hold = EncryptionHold()
        hold.beginAsPeripheral()
        for _ in 0..<EncryptionHold.maximumCount { #expect(hold.receive(packet(4), at: at(0)) == .held) }
        #expect(hold.receive(packet(4), at: at(0)) == .tooMany)
        #expect(hold.deadline == at(0) + EncryptionHold.limit)
        #expect(hold.expire(at: at(1_000)) == nil)
        #expect(hold.isEmpty)
        #expect(hold.receive(packet(4), at: at(1_001)) == .held)
        #expect(hold.end() == [packet(4)])
    }

    @Test("AB-H04: data held for one handle take no space from others, and handles are bounded")
    func heldDataAreBoundedPerHandle() {
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
        "AB-L08: data after a peripheral's key wait for Encryption Change, which every component receives first (quirk 2)"
    )
    func dataBehindAKeyWaitForTheEvent() throws {
        let bench = HostBench.up()
        let link = try #require(bench.connect(1, role: .peripheral))
        var order: [String] = []
        link.onReceive = { _, _ in order.append("data") }
        link.onEncryption = { _ in order.append("report") }
        bench.host.onEvent(EncryptionChange.self) { _ in order.append("event") }
        bench.host.send(LELongTermKeyRequestReply(handle: Self.handle, longTermKey: PacketBuffer([UInt8](1...16))))
        bench.run(.milliseconds(100))
        bench.inject(HCIPacket(packet(4)).kind, HCIPacket(packet(4)).bytes)
        bench.run(.milliseconds(20))
        #expect(order.isEmpty)
        bench.inject(EncryptionChange(handle: Self.handle, state: .on))
        #expect(order == ["report", "event", "data"])
        bench.inject(HCIPacket(packet(4)).kind, HCIPacket(packet(4)).bytes)
        #expect(order.last == "data")
        #expect(order.count == 4)
    }

    @Test("AB-L08: a peripheral ends a link whose data arrive after its key without the event")
    func aLinkWithoutTheEventIsEnded() throws {
        let bench = HostBench.up()
        let link = try #require(bench.connect(1, role: .peripheral))
        var seen = 0
        link.onReceive = { _, _ in seen += 1 }
        bench.host.send(LELongTermKeyRequestReply(handle: Self.handle, longTermKey: PacketBuffer([UInt8](1...16))))
        bench.run(.milliseconds(100))
        bench.inject(HCIPacket(packet(4)).kind, HCIPacket(packet(4)).bytes)
        bench.run(EncryptionHold.limit + .milliseconds(1))
        #expect(seen == 0)
        #expect(bench.host.counters.unprovenLinks == 1)
        #expect(bench.transport.commandNames.contains("Disconnect"))
    }

    private func controller(_ subversion: UInt16, at place: String = "usb") -> ControllerInformation {
        var controller = ControllerInformation(place: place)
        var version = ReadLocalVersionInformation.Response()
        version.linkLayerSubversion = subversion
        controller.apply(version)
        return controller
    }

    @Test("a controller's faults are remembered by its place and manufacturer, and forgotten with its firmware")
    func controllerFaultsAreForgottenWithTheFirmware() {
        let memory = ControllerMemory()
        var changes = 0
        memory.onChange = { changes += 1 }
        memory.note(.legacyCommands, of: controller(1))
        memory.note(.legacyCommands, of: controller(1))
        memory.note(.takesTurns, of: controller(1))
        #expect(changes == 2)
        #expect(memory.fallbacks(of: controller(1)) == [.legacyCommands, .takesTurns])
        #expect(memory.fallbacks(of: controller(1, at: "other")).isEmpty)
        memory.note(.extendedCommands, of: controller(1))
        #expect(memory.fallbacks(of: controller(1)) == [.extendedCommands, .takesTurns])
        // Earlier knowledge counts less than recent findings.
        let later = ControllerMemory()
        later.note(.noCodedPHY, of: controller(2, at: "other"))
        later.adopt(memory.entries + later.entries)
        #expect(later.entries.count == 2)
        #expect(later.fallbacks(of: controller(1)) == [.extendedCommands, .takesTurns])
        #expect(memory.fallbacks(of: controller(2)).isEmpty)
        #expect(memory.fallbacks(of: controller(1)).isEmpty)
        #expect(memory.entries.isEmpty)
        #expect(changes == 4)
        // Two trials without any success of the claimed feature in between are not a coincidence.
        #expect(!memory.noteTrial(of: controller(1)))
        #expect(!memory.noteTrial(of: controller(1, at: "other")))
        memory.forgetTrials(of: controller(1))
        #expect(!memory.noteTrial(of: controller(1)))
        #expect(memory.noteTrial(of: controller(1)))
        for number in 0..<100 { memory.note(.noCodedPHY, of: controller(1, at: "\(number)")) }
        #expect(memory.entries.count == ControllerMemory.maximumControllers)
        #expect(memory.entries.last?.device.place == "99")
        // Saved entries of any origin do not exceed the limit.
        later.adopt(
            memory.entries
                + memory.entries.map { entry in
                    ControllerMemory.Entry(
                        device: .init(place: "old " + entry.device.place, company: entry.device.company),
                        firmware: entry.firmware,
                        fallbacks: entry.fallbacks
                    )
                }
        )
        #expect(later.entries.count == ControllerMemory.maximumControllers)
        #expect(later.entries.contains { $0.device.place == "other" })
    }

    @Test("of the controllers with fallbacks, those that were not used for longest are forgotten")
    func theControllerInUseIsKept() {
        let memory = ControllerMemory()
        var changes = 0
        memory.onChange = { changes += 1 }
        for place in ["own", "other"] { memory.note(.takesTurns, of: controller(1, at: place)) }
        // Only a change of the order is saved.
        for _ in 0..<3 { #expect(memory.fallbacks(of: controller(1, at: "own")) == [.takesTurns]) }
        #expect(changes == 3)
        #expect(memory.entries.map(\.device.place) == ["other", "own"])
        for number in 1..<ControllerMemory.maximumControllers {
            memory.note(.noCodedPHY, of: controller(1, at: "\(number)"))
        }
        #expect(memory.fallbacks(of: controller(1, at: "own")) == [.takesTurns])
        #expect(memory.fallbacks(of: controller(1, at: "other")).isEmpty)
    }

    @Test("a command set that proved useless is not used again, though the other one hangs too")
    func thereIsNoWayBack() {
        let bench = HostBench.up()
        bench.controller.reaction = {
            $0 == LESetExtendedScanEnable.opcode || $0 == LESetScanEnable.opcode ? .silence : .answer
        }
        func known() -> Set<ControllerFallback> { bench.host.memory.entries.first?.fallbacks ?? [] }
        for expected in [[], [.legacyCommands]] as [Set<ControllerFallback>] {
            bench.host.send(
                LESetExtendedScanEnable(isEnabled: true, filterDuplicates: .disabled, duration: 0, period: 0)
            )
            // Resets far apart do not count as too many.
            bench.run(HCIHost.resetWindow + .seconds(10))
            #expect(known() == expected)
        }
        for _ in 0..<4 {
            bench.host.send(LESetScanEnable(isEnabled: true, filterDuplicates: .disabled))
            bench.run(HCIHost.resetWindow + .seconds(10))
            #expect(known() == [.legacyCommands])
        }
        #expect(bench.host.counters.resets == 6)
        #expect(bench.information != nil)
    }

    @Test("a controller is not reset to change its command set while a link exists")
    func aControllerIsNotRenewedWithALink() {
        let bench = HostBench.up()
        bench.connect(1)
        #expect(!bench.host.renew { _ in })
        bench.run(.seconds(1))
        #expect(!bench.transport.commandNames.contains("Reset"))
        #expect(bench.host.connections.count == 1)
        bench.inject(DisconnectionComplete(handle: Self.handle, reason: .remoteUserTerminated))
        #expect(bench.host.renew { _ in })
        bench.run(.seconds(1))
        #expect(bench.transport.commandNames.contains("Reset"))
        #expect(bench.information != nil)
    }
}
