import BluetoothTypes
import EventLoops
import HCI
import LinkLayer
import Testing

@testable import RadioEnergy

/// The radio time of a controller, estimated from the packets of its host.
@Suite struct EstimatedRadioTests {
    private static func instant(_ seconds: Int) -> Instant { .zero + .seconds(seconds) }

    /// Lets a controller answer a command.
    private func answer(
        _ command: some HCICommand,
        _ status: HCIStatus = .success,
        at seconds: Int,
        _ radio: inout EstimatedRadio
    ) {
        let opcode = type(of: command).opcode
        radio.accept(HCIPacket(command), .hostToController, at: Self.instant(seconds))
        let answer = CommandComplete(credits: 1, opcode: opcode, parameters: [status.rawValue])
        radio.accept(HCIPacket(answer), .controllerToHost, at: Self.instant(seconds))
    }

    private func scan(_ radio: inout EstimatedRadio, at seconds: Int, status: HCIStatus = .success) {
        let parameters = LESetScanParameters {
            $0.kind = .passive
            $0.scanInterval = 160
            $0.scanWindow = 40
            $0.ownAddressKind = .publicDevice
            $0.filterPolicy = .unfiltered
        }
        answer(parameters, at: seconds, &radio)
        answer(LESetScanEnable(isEnabled: true, filterDuplicates: .disabled), status, at: seconds, &radio)
    }

    @Test("windows count from when the controller accepts the command until a reset")
    func windows() {
        var radio = EstimatedRadio()
        scan(&radio, at: 1)
        let scanned = radio.times(at: Self.instant(11))[.scanning]
        #expect(scanned?.air.listening == 2_500_000)
        #expect(scanned?.events == 101)
        radio.accept(HCIPacket(Reset()), .hostToController, at: Self.instant(11))
        #expect(radio.times(at: Self.instant(20))[.scanning] == scanned)
    }

    @Test("a command that is refused or not answered costs nothing")
    func refused() {
        var radio = EstimatedRadio()
        scan(&radio, at: 1, status: .commandDisallowed)
        let enable = LESetScanEnable(isEnabled: true, filterDuplicates: .disabled)
        radio.accept(HCIPacket(enable), .hostToController, at: Self.instant(2))
        #expect(radio.times(at: Self.instant(11)).isEmpty)
    }

    @Test("a link costs its events, on its PHY, and data counts when the controller has sent it")
    func link() {
        var radio = EstimatedRadio()
        let handle = ConnectionHandle(rawValue: 1)
        var made = LEConnectionComplete()
        (made.handle, made.role, made.interval) = (handle, .central, 80)
        radio.accept(HCIPacket(made), .controllerToHost, at: Self.instant(0))
        let empty = radio.times(at: Self.instant(10))
        #expect(empty[.link(handle, .empty)]?.air == .init(sending: 8_000, listening: 8_000, framesSent: 100))
        #expect(empty[.link(handle, .listening)]?.air.listening == 15_000)
        #expect(empty[.link(handle, .listening)]?.events == 100)
        let sent = ACLPacket(handle: handle, boundary: .start, payload: PacketBuffer([UInt8](repeating: 0, count: 40)))
        radio.accept(HCIPacket(sent), .hostToController, at: Self.instant(10))
        #expect(radio.times(at: Self.instant(10))[.link(handle, .data)] == nil)
        let completed = NumberOfCompletedPackets(entries: [CompletedPackets(handle: handle, count: 1)])
        radio.accept(HCIPacket(completed), .controllerToHost, at: Self.instant(10))
        // Two PDUs of 27 and 13 octets, at 8 µs for an octet, with 10 octets around each: (27 + 13 + 20) * 8.
        let data = radio.times(at: Self.instant(10))[.link(handle, .data)]?.air.sending
        #expect(data == 480)
        var phy = LEPHYUpdateComplete()
        (phy.handle, phy.txPHY, phy.rxPHY) = (handle, .le2M, .le2M)
        radio.accept(HCIPacket(phy), .controllerToHost, at: Self.instant(11))
        let before = radio.times(at: Self.instant(11))[.link(handle, .empty)] ?? RadioTime()
        let after = radio.times(at: Self.instant(21))[.link(handle, .empty)] ?? RadioTime()
        // In the event at 11 s, the packets of the update took the place of the empty ones.
        #expect(after.breakdown.sendingByPHY[1] - before.breakdown.sendingByPHY[1] == 99 * 44)
        #expect(after.breakdown.sendingByPHY[0] == before.breakdown.sendingByPHY[0])
        let modulation = RadioPHY.Modulation.allCases.firstIndex(of: RadioPHY.le2M.modulation) ?? -1
        let listening = [before, after].map { $0.breakdown.listeningByModulation[modulation] }
        #expect(listening[1] - listening[0] == 99 * 44)
    }

    @Test("a peripheral listens in each event that the latency leaves, and a central in all of them")
    func latency() {
        for (role, events) in [(LERole.peripheral, 20), (.central, 100)] {
            var radio = EstimatedRadio()
            let handle = ConnectionHandle(rawValue: 1)
            var made = LEConnectionComplete()
            (made.handle, made.role, made.interval, made.latency) = (handle, role, 80, 4)
            radio.accept(HCIPacket(made), .controllerToHost, at: Self.instant(0))
            #expect(radio.times(at: Self.instant(10))[.link(handle, .listening)]?.events == Int64(events))
        }
    }

    @Test(
        "hostile controllers make nothing trap or grow, and time never runs backwards",
        arguments: 1...5 as ClosedRange<UInt64>
    )
    func hostile(seed: UInt64) {
        let random = RandomSource(seed: seed)
        var radio = EstimatedRadio()
        var now = Instant.zero
        var last: [RadioUse: RadioTime] = [:]
        for _ in 0..<2_000 {
            now = now + .microseconds(Int64(random.below(1 << (random.below(40)))))
            let bytes = (0..<random.below(40)).map { _ in UInt8(random.below(256)) }
            let codes: [UInt8] = [0x3E, 0x05, 0x08, 0x0E, 0x0F, 0x13, 0x59]
            let code = codes[Int(random.below(UInt64(codes.count)))]
            let packet =
                random.below(3) == 0
                ? HCIPacket(.acl, PacketBuffer(bytes))
                : HCIPacket(
                    .event,
                    PacketBuffer([code, UInt8(bytes.count)] + bytes.map { $0 % (code == 0x3E ? 48 : 255) })
                )
            let direction = random.below(2) == 0 ? HCIDirection.controllerToHost : .hostToController
            radio.accept(packet, direction, at: now)
            let times = radio.times(at: now)
            for (use, time) in times where use == .scanning || use == .advertising(set: nil) {
                #expect(time.air.sending >= last[use]?.air.sending ?? 0)
            }
            #expect(times.count <= 4 * 64 + 66)
            last = times
        }
    }
}
