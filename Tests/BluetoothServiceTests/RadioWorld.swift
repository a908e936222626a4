import BluetoothTypes
import EventLoops
import GAP
import HCI
import HCIHost
import LinkLayer
import Logging
import SMP
import Security

@testable import BluetoothService

/// Systems with virtual controllers on a simulated radio.
final class RadioWorld {
    let world = ServiceWorld()
    let radio: Radio
    private let random = RandomSource(seed: 11)
    private let hasExtendedAdvertising: Bool
    private var controllers: [VirtualController] = []
    static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }

    init(lossRate: Double = 0, hasExtendedAdvertising: Bool = true) {
        self.hasExtendedAdvertising = hasExtendedAdvertising
        var configuration = Radio.Configuration()
        configuration.lossRate = lossRate
        radio = Radio(loop: world.loop, random: random.split(0), configuration: configuration)
    }

    func system(
        _ name: String,
        bonds: (any BondStorage)? = nil,
        configure: (inout SystemConfiguration) -> Void = { _ in }
    ) -> BluetoothSystem {
        let line = InMemoryTransport.pair(loop: world.loop)
        let number = attach(to: line.controller)
        var configuration = SystemConfiguration()
        configuration.deviceName = name
        configure(&configuration)
        let system = BluetoothSystem(
            controllers: ControllerSource(line.host),
            loop: world.loop,
            random: random.split(number + 100),
            configuration: configuration,
            bonds: bonds,
            logger: Self.silent
        )
        system.start()
        world.run(.milliseconds(100))
        return system
    }

    /// Attaches a new controller to a transport and replaces the current one. The address follows from the number.
    @discardableResult
    func attach(to line: InMemoryTransport, number wanted: UInt64? = nil) -> UInt64 {
        let number = wanted ?? UInt64(controllers.count + 1)
        var kind = VirtualControllerConfiguration(
            publicAddress: BluetoothAddress(0xC0FF_EE00_0000 + number, kind: .publicDevice)
        )
        if !hasExtendedAdvertising { kind.features.remove(.extendedAdvertising) }
        controllers.append(
            VirtualController(
                transport: line,
                node: radio.add(),
                loop: world.loop,
                random: random.split(UInt64(controllers.count + 1)),
                configuration: kind
            )
        )
        return number
    }

    /// A store of bonds in memory, for a device without apps.
    func bonds(_ seed: UInt64) throws -> BondStore {
        try BondStore(
            storage: MemoryBondStorage(),
            adapter: AdapterIdentity(address: BluetoothAddress(0xC0FF_EE00_0002, kind: .publicDevice)),
            random: RandomSource(seed: seed)
        )
    }

    /// A device without apps, able to send what systems with apps cannot.
    ///
    /// - Parameter bonds: Makes bonds with peers that pair. Without it pairing leaves none.
    func bareDevice(bonds: BondStore? = nil) -> GenericAccess {
        let line = InMemoryTransport.pair(loop: world.loop)
        let number = attach(to: line.controller)
        var pairing = PairingConfiguration()
        pairing.ioCapability = .noInputNoOutput
        let access = GenericAccess(
            host: HCIHost(transport: line.host, loop: world.loop, stackEvents: .log(Self.silent)),
            loop: world.loop,
            random: random.split(number + 100),
            bonds: bonds,
            pairing: pairing,
            stackEvents: .log(Self.silent)
        )
        access.start()
        world.run(.milliseconds(100))
        return access
    }
}
