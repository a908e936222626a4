import AccessStandIns
import BluetoothTypes
import EventLoops
import HCI
import HCIHost
import LinkLayer
import Logging
import SMP
import Testing

@testable import GAP
@testable import Security

/// The command set that the controllers of a test support.
enum ControllerMode: String, CaseIterable, CustomTestStringConvertible {
    case legacy
    case extended

    var testDescription: String { rawValue }
    var generation: CommandGeneration { self == .legacy ? .legacy : .extended }
}

/// Devices with this complete stack on virtual controllers, on one radio channel, in virtual time.
final class GAPWorld {
    let loop = VirtualEventLoop()
    let mode: ControllerMode
    let radio: Radio
    private let random: RandomSource
    private var devices: [GAPDevice] = []
    private var kept: [AnyObject] = []

    init(_ mode: ControllerMode = .extended, seed: UInt64 = 1) {
        self.mode = mode
        random = RandomSource(seed: seed)
        radio = Radio(loop: loop, random: random.split(0), configuration: Radio.Configuration())
    }

    var deviceCount: Int { devices.count }

    /// Creates a device and brings it up.
    func device(
        _ policy: OwnAddressPolicy = .staticRandom,
        bonds: BondStore? = nil,
        pairing: PairingConfiguration = PairingConfiguration(),
        interval: Duration = GAPTimer.privateAddressInterval,
        configure: (inout VirtualControllerConfiguration) -> Void = { _ in }
    ) -> GAPDevice {
        let number = UInt64(devices.count + 1)
        var configuration = VirtualControllerConfiguration(
            publicAddress: BluetoothAddress(0xC0FF_EE00_0000 + number, kind: .publicDevice)
        )
        if mode == .legacy { configuration.features.remove(.extendedAdvertising) }
        configure(&configuration)
        let device = GAPDevice(
            self,
            configuration,
            policy,
            bonds,
            pairing,
            interval,
            random: random.split(number)
        )
        devices.append(device)
        device.access.start()
        run(.milliseconds(100))
        return device
    }

    /// Keeps an object alive as long as the world.
    func keep(_ object: AnyObject) { kept.append(object) }

    func run(_ duration: Duration) {
        loop.run(for: duration)
    }

    /// Runs until `condition` holds; returns false if it does not within `limit`.
    @discardableResult
    func run(for limit: Duration = .seconds(30), until condition: () -> Bool) -> Bool {
        loop.run(until: loop.now + limit, stopWhen: condition)
    }
}

/// One device: controller, HCI, and the Generic Access Profile.
final class GAPDevice {
    let world: GAPWorld
    let access: GenericAccess
    let controller: VirtualController
    let host: HCIHost
    let node: RadioNode
    let bonds: BondStore?
    let gate: GatedTransport
    private let ends: (host: InMemoryTransport, controller: InMemoryTransport)
    private(set) var links: [AccessLink] = []
    private(set) var endReasons: [HCIStatus] = []
    let log: CommandLog
    var onLink: ((AccessLink) -> Void)?

    init(
        _ world: GAPWorld,
        _ configuration: VirtualControllerConfiguration,
        _ policy: OwnAddressPolicy,
        _ bonds: BondStore? = nil,
        _ pairing: PairingConfiguration = PairingConfiguration(),
        _ interval: Duration = GAPTimer.privateAddressInterval,
        random: RandomSource
    ) {
        self.world = world
        node = world.radio.add()
        ends = InMemoryTransport.pair(loop: world.loop)
        controller = VirtualController(
            transport: ends.controller,
            node: node,
            loop: world.loop,
            random: random.split(1),
            configuration: configuration
        )
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        let log = CommandLog()
        gate = GatedTransport(ends.host)
        let line = SnoopingTransport(gate, end: .host, loop: world.loop) { packet, direction, _ in
            log.record(packet, direction)
        }
        host = HCIHost(transport: line, loop: world.loop, stackEvents: .log(logger))
        let adapter = AdapterIdentity(address: configuration.publicAddress)
        // A device with private addresses has an identity behind them, which is stored.
        let own = try? BondStore(storage: MemoryBondStorage(), adapter: adapter, random: random.split(3))
        let bonds = bonds ?? (policy == .resolvablePrivate ? own : nil)
        self.bonds = bonds
        access = GenericAccess(
            host: host,
            loop: world.loop,
            random: random.split(2),
            address: policy,
            bonds: bonds,
            pairing: pairing,
            privateAddressInterval: interval,
            stackEvents: .log(logger)
        )
        self.log = log
        access.onLink = { [unowned self] link in
            links.append(link)
            link.onEnd = { [unowned self] in endReasons.append($0.reason) }
            onLink?(link)
        }
    }

    /// The address on the air.
    var address: BluetoothAddress {
        if case .ready(let own) = access.state { own.address } else { .none }
    }

    /// The sightings that an observer makes within `time`.
    func hear(
        _ settings: ScanSettings = .attentive,
        for time: Duration = .seconds(2),
        from address: BluetoothAddress? = nil
    ) throws -> [Sighting] {
        let observer = Observer(access)
        var heard: [Sighting] = []
        try observer.observe(settings) { heard.append($0) }
        world.run(time)
        observer.stop()
        world.run(.milliseconds(50))
        return heard.filter { address == nil || $0.address == address }
    }
}

extension GAPDevice {
    /// Advertises to one peer, which Harald's host does not do. A controller with a resolving list generates the
    /// addresses of a device with private ones.
    func advertise(directedAt peer: BluetoothAddress) {
        let own = access.privacy.sharedAddress ?? OwnAddress(address)
        let commands: [any HCICommand]
        switch world.mode {
        case .legacy:
            var parameters = LESetAdvertisingParameters()
            (parameters.intervalMin, parameters.intervalMax) = (48, 96)
            (parameters.kind, parameters.channels) = (.directedLowDutyCycle, .all)
            (parameters.ownAddressKind, parameters.peerAddress) = (own.kind, peer)
            commands = [parameters, LESetAdvertisingEnable(isEnabled: true)]
        case .extended:
            var parameters = LESetExtendedAdvertisingParameters()
            (parameters.intervalMin, parameters.intervalMax) = (48, 96)
            (parameters.properties, parameters.channels) = ([.connectable, .directed, .legacy], .all)
            (parameters.ownAddressKind, parameters.peerAddress) = (own.kind, peer)
            (parameters.txPower, parameters.primaryPHY, parameters.secondaryPHY) = (127, .le1M, .le1M)
            commands = [
                parameters, LESetAdvertisingSetRandomAddress(set: 0, address: own.address),
                LESetExtendedAdvertisingEnable(isEnabled: true, sets: [.init(set: 0, duration: 0, maxEvents: 0)]),
            ]
        }
        host.send(inOrder: commands) { result in
            if case .failure(let error) = result { Issue.record("the device cannot advertise: \(error)") }
        }
    }
}

/// The commands that a host has sent.
final class CommandLog {
    private var packets: [CommandPacket] = []

    /// The names of the commands, in the order of sending.
    var commands: [String] { packets.map { HCICommandRegistry.type(for: $0.opcode)?.name ?? "\($0.opcode)" } }

    func record(_ packet: HCIPacket, _ direction: HCIDirection) {
        guard direction == .hostToController, packet.kind == .command,
            let command = try? CommandPacket(reading: packet.bytes)
        else { return }
        packets.append(command)
    }

    /// The commands of one type, in order.
    func all<C: HCICommand>(_ type: C.Type) -> [C] {
        packets.filter { $0.opcode == C.opcode }.compactMap { try? C(reading: $0.parameters) }
    }

    func contains(_ command: any HCICommand.Type) -> Bool { commands.contains(command.name) }
}

/// Two devices with a link between them.
struct LinkedPair {
    let world: GAPWorld
    let central: GAPDevice
    let peripheral: GAPDevice
    let centralLink: AccessLink
    let peripheralLink: AccessLink

    init(
        _ mode: ControllerMode,
        central configureCentral: (inout VirtualControllerConfiguration) -> Void = { _ in },
        peripheral configurePeripheral: (inout VirtualControllerConfiguration) -> Void = { _ in },
        prepare: (_ central: GAPDevice, _ peripheral: GAPDevice) -> Void = { _, _ in }
    ) throws {
        let world = GAPWorld(mode)
        let central = world.device(configure: configureCentral)
        let peripheral = world.device(configure: configurePeripheral)
        prepare(central, peripheral)
        let advertiser = Peripheral(peripheral.access)
        advertiser.enter(.init(.general, .undirected))
        let role = Central(central.access)
        var result: Result<AccessLink, GAPError>?
        role.connect(to: peripheral.address, within: .seconds(10)) { result = $0 }
        world.run { result != nil && !peripheral.links.isEmpty }
        centralLink = try #require(try result?.get())
        peripheralLink = try #require(peripheral.links.first)
        (self.world, self.central, self.peripheral) = (world, central, peripheral)
        world.run(.milliseconds(500))
    }
}
