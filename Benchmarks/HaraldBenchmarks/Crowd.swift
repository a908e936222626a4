import BluetoothTypes
import EventLoops
import HCI
import LinkLayer

/// Many advertising virtual controllers and a continuous scanner on one air. The hosts are reduced to a few commands.
final class Crowd {
    private final class Line: HCITransport {
        var onReceive: ((HCIPacket) -> Void)?
        var onClose: ((HCITransportError) -> Void)?
        private(set) var reports = 0

        /// Receives a packet from the controller. All but the command responses are reports.
        func send(_ packet: HCIPacket) {
            if packet.bytes.first == LEAdvertisingReport.eventCode.rawValue { reports += 1 }
        }

        func close() {}

        func command(_ command: some HCICommand) { onReceive?(HCIPacket(command)) }
    }

    private let loop = VirtualEventLoop()
    private let radio: Radio
    private let random = RandomSource(seed: 1)
    private var controllers: [VirtualController] = []
    private let scanner = Line()

    /// - Parameters:
    ///   - interval: The time between two advertising events of a device, in milliseconds.
    ///   - isPrivate: Whether the devices use private addresses, which the scanner tries in vain to resolve with a full
    ///     resolving list.
    init(advertisers: Int, interval: Int, isPrivate: Bool = false) {
        radio = Radio(loop: loop, random: random.split(0))
        add(scanner, at: Position())
        scanner.command(SetEventMask(mask: EventMask(rawValue: .max)))
        if isPrivate { resolve() }
        for _ in 0..<advertisers {
            let line = Line()
            add(line, at: Position(x: 1 + 10 * random.unit()))
            if isPrivate {
                let address = 0x4000_0000_0000 | random.next() >> 18
                line.command(LESetRandomAddress(address: BluetoothAddress(address, kind: .randomDevice)))
            }
            line.command(LESetAdvertisingData(data: PacketBuffer(Array(repeating: 1, count: 31))))
            line.command(
                LESetAdvertisingParameters {
                    $0.intervalMin = UInt16(interval * 8 / 5)
                    $0.intervalMax = UInt16(interval * 8 / 5)
                    $0.kind = .nonConnectable
                    $0.ownAddressKind = isPrivate ? .randomDevice : .publicDevice
                    $0.peerAddress = .none
                    $0.channels = .all
                    $0.filterPolicy = .unfiltered
                }
            )
            loop.schedule(after: .microseconds(Int64(random.below(UInt64(interval) * 1_000)))) {
                line.command(LESetAdvertisingEnable(isEnabled: true))
            }
        }
        scanner.command(
            LESetScanParameters {
                $0.kind = .passive
                $0.scanInterval = 0x10
                $0.scanWindow = 0x10
                $0.ownAddressKind = .publicDevice
                $0.filterPolicy = .unfiltered
            }
        )
        scanner.command(LESetScanEnable(isEnabled: true, filterDuplicates: .disabled))
        loop.run(for: .milliseconds(interval))
    }

    private func resolve() {
        for number in 1...UInt8(32) {
            scanner.command(
                LEAddDeviceToResolvingList(
                    peerIdentity: BluetoothAddress(UInt64(number), kind: .publicDevice),
                    peerIRK: PacketBuffer([UInt8](repeating: number, count: 16)),
                    localIRK: PacketBuffer([UInt8](repeating: 0xFF, count: 16))
                )
            )
        }
        scanner.command(LESetAddressResolutionEnable(isEnabled: true))
    }

    private func add(_ line: Line, at position: Position) {
        let number = UInt64(controllers.count + 1)
        let configuration = VirtualControllerConfiguration(
            publicAddress: BluetoothAddress(0xC0FF_EE00_0000 + number, kind: .publicDevice)
        )
        controllers.append(
            VirtualController(
                transport: line,
                node: radio.add(at: position),
                loop: loop,
                random: random.split(number),
                configuration: configuration
            )
        )
    }

    /// - Returns: The number of reports that the scanner has sent to its host.
    func run(seconds: Int) -> Int {
        let before = scanner.reports
        loop.run(for: .seconds(seconds))
        return scanner.reports - before
    }
}
