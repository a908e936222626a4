import BluetoothTypes
import HCI
import TestBasics
import Testing

@testable import HCITransports

@Suite struct USBMachineTests {
    private static let reset = HCIPacket(.command, [3, 0x0C, 0])
    private static let resetDone: [UInt8] = [0x0E, 4, 1, 3, 0x0C, 0]
    private static let data = HCIPacket(.acl, [0x40, 0, 2, 0, 8, 9])

    /// A machine whose controller has answered a reset, so that all events count.
    private static func opened(isSerialized: Bool = false) -> USBMachine {
        var machine = USBMachine(isSerialized: isSerialized)
        _ = machine.handle(.opened)
        _ = machine.handle(.read(isSerialized ? .bulk : .interrupt, .read((isSerialized ? [4] : []) + resetDone)))
        return machine
    }

    @Test func threeReadsOfEachEndpointAreUnderWay() {
        var machine = USBMachine(isSerialized: false)
        let three = { (pipe: USBPipe) in [USBMachine.Action](repeating: .read(pipe), count: 3) }
        #expect(machine.handle(.opened) == three(.interrupt) + three(.bulk))
        #expect(machine.handle(.opened).isEmpty)
        // A new read replaces the finished one before the host gets its packet.
        let actions = machine.handle(.read(.interrupt, .read(Self.resetDone)))
        #expect(actions == [.read(.interrupt), .deliver(HCIPacket(.event, PacketBuffer(Self.resetDone)))])
        var serialized = USBMachine(isSerialized: true)
        #expect(serialized.handle(.opened) == three(.bulk))
    }

    @Test("a transfer is not a packet: events and data are reassembled, wherever they are split")
    func packetsArePutTogether() {
        let (event, octets) = ([0x3E] + [38] + [UInt8](repeating: 7, count: 38), Self.data.bytes.bytes)
        for cut in 1..<octets.count {
            var machine = Self.opened()
            var packets: [HCIPacket] = []
            for part in [octets.prefix(cut), octets.dropFirst(cut) + octets] {
                packets += machine.handle(.read(.bulk, .read(Array(part)))).compactMap(\.packet)
            }
            #expect(packets == [Self.data, Self.data])
            var events: [HCIPacket] = []
            for part in [event.prefix(cut), event.dropFirst(cut)] {
                events += machine.handle(.read(.interrupt, .read(Array(part)))).compactMap(\.packet)
            }
            #expect(events == [HCIPacket(.event, PacketBuffer(event))])
        }
    }

    @Test("transfers meant for another host are ignored before the answer to a reset")
    func theRestForAnotherHostIsNothing() {
        var machine = USBMachine(isSerialized: false)
        _ = machine.handle(.opened)
        #expect(machine.handle(.read(.bulk, .read(Self.data.bytes.bytes))) == [.read(.bulk)])
        #expect(machine.handle(.read(.interrupt, .read([7, 7, 7]))) == [.read(.interrupt)])
        #expect(machine.handle(.read(.interrupt, .read(Self.resetDone))).compactMap(\.packet).count == 1)
        #expect(machine.handle(.read(.bulk, .read(Self.data.bytes.bytes))).compactMap(\.packet) == [Self.data])
    }

    @Test("Core Vol 4 Part B 2.2: commands use endpoint 0 and data the bulk endpoint, one at a time")
    func packetsGoByTheirPipes() {
        var machine = Self.opened()
        #expect(machine.handle(.send(Self.reset)) == [.write(.control, [3, 0x0C, 0])])
        #expect(machine.handle(.send(Self.data)) == [.write(.bulk, Self.data.bytes.bytes)])
        #expect(machine.handle(.send(Self.reset)).isEmpty)
        #expect(machine.handle(.written(.control, .written(3))) == [.write(.control, [3, 0x0C, 0])])
        #expect(machine.handle(.written(.control, .written(3))).isEmpty)
        #expect(machine.handle(.written(.bulk, .written(6))).isEmpty)
    }

    @Test("Core 6.2 Vol 4 Part B: in Bulk Serialization Mode all packets use one pipe, with their types")
    func allPacketsGoOneWay() {
        var machine = Self.opened(isSerialized: true)
        #expect(machine.handle(.send(Self.reset)) == [.write(.bulk, [1, 3, 0x0C, 0])])
        #expect(machine.handle(.send(Self.data)).isEmpty)
        #expect(machine.handle(.written(.bulk, .written(4))) == [.write(.bulk, [2] + Self.data.bytes.bytes)])
        let both = [4] + Self.resetDone + [2] + Self.data.bytes.bytes
        #expect(machine.handle(.read(.bulk, .read(both))).compactMap(\.packet).map(\.kind) == [.event, .acl])
        guard case .lost(.malformed)? = machine.handle(.read(.bulk, .read([9]))).last else {
            return recordIssue("a packet without a type was accepted")
        }
    }

    @Test("a transport closes with the outcome of its transfers", arguments: [USBPipe.interrupt, .bulk])
    func theLineEndsWhenItIsUnplugged(pipe: USBPipe) {
        var machine = Self.opened()
        #expect(machine.handle(.read(pipe, .gone)) == [.finish, .lost(.closedByPeer)])
        // The other reads return too.
        #expect(machine.handle(.read(pipe, .gone)).isEmpty)
        #expect(machine.handle(.send(Self.reset)).isEmpty)
    }

    @Test(
        "a packet that was not sent completely closes the transport",
        arguments: [USBOutcome.written(2), .stalled, .timedOut, .failed(-1), .gone]
    )
    func aPacketThatDidNotGoEndsTheLine(outcome: USBOutcome) {
        var machine = Self.opened()
        _ = machine.handle(.send(Self.reset))
        let actions = machine.handle(.written(.control, outcome))
        #expect(actions.count == 2)
        #expect(actions.first == .finish)
        #expect((actions.last == .lost(.closedByPeer)) == (outcome == .gone))
    }

    @Test func anEndpointThatRefusesGoesOnWhenNothingIsUnderWay() {
        var machine = Self.opened()
        #expect(machine.handle(.read(.bulk, .stalled)).isEmpty)
        #expect(machine.handle(.read(.bulk, .stalled)).isEmpty)
        #expect(machine.handle(.read(.bulk, .cancelled)) == [.clear(.bulk)])
        // The other endpoint does not wait for it.
        #expect(machine.handle(.read(.interrupt, .read([]))) == [.read(.interrupt)])
        #expect(machine.handle(.cleared(.bulk, isDone: true)) == [.read(.bulk), .read(.bulk), .read(.bulk)])
        #expect(machine.handle(.read(.bulk, .read(Self.data.bytes.bytes))).compactMap(\.packet) == [Self.data])
    }

    @Test func anEndpointThatOnlyRefusesIsGivenUp() {
        var machine = Self.opened()
        for _ in 1...USBMachine.maximumFailures {
            for _ in 1...3 { _ = machine.handle(.read(.bulk, .stalled)) }
            #expect(machine.handle(.cleared(.bulk, isDone: true)).count == 3)
        }
        #expect(machine.handle(.read(.bulk, .stalled)).first == .finish)
        var other = Self.opened()
        for _ in 1...3 { _ = other.handle(.read(.bulk, .stalled)) }
        #expect(other.handle(.cleared(.bulk, isDone: false)).first == .finish)
    }

    @Test func transfersThatOnlyFailAreBounded() {
        var machine = Self.opened()
        for _ in 1...USBMachine.maximumFailures {
            #expect(machine.handle(.read(.interrupt, .failed(-1))) == [.read(.interrupt)])
        }
        // A successful read resets the count of failures.
        #expect(machine.handle(.read(.interrupt, .read([]))) == [.read(.interrupt)])
        for _ in 1...USBMachine.maximumFailures {
            #expect(machine.handle(.read(.interrupt, .failed(-1))) == [.read(.interrupt)])
        }
        #expect(machine.handle(.read(.interrupt, .failed(-1))).first == .finish)
    }

    @Test func aControllerThatTakesNothingMoreEndsTheLine() {
        var machine = Self.opened()
        #expect(machine.handle(.send(Self.data)).count == 1)
        for _ in 1...USBMachine.maximumUnsent { #expect(machine.handle(.send(Self.data)).isEmpty) }
        #expect(machine.handle(.send(Self.data)).first == .finish)
    }

    @Test func aLineThatIsClosedSaysNothing() {
        var machine = Self.opened()
        #expect(machine.handle(.close) == [.finish])
        #expect(machine.handle(.close).isEmpty)
        #expect(machine.handle(.read(.bulk, .cancelled)).isEmpty)
        #expect(machine.handle(.read(.bulk, .read(Self.data.bytes.bytes))).isEmpty)
    }
}

extension USBMachine.Action {
    fileprivate var packet: HCIPacket? {
        if case .deliver(let packet) = self { packet } else { nil }
    }
}
