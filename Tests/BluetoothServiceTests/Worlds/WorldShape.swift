import BluetoothTypes
import EventLoops
import ServiceMessages

@testable import BluetoothService

/// Names an app of a ``RandomWorld``, and identifies all that the app publishes and sends.
struct WorldName: Hashable, Comparable, CustomStringConvertible {
    let device: Int
    let app: Int

    var description: String { "\(device).\(app)" }
    var signature: [UInt8] { [UInt8(device), UInt8(app)] }
    var service: BluetoothUUID { uuid(0) }
    /// Notifies the signature and an increasing number.
    var measurement: BluetoothUUID { uuid(1) }
    /// Dynamic: the app responds to each read with its signature.
    var reading: BluetoothUUID { uuid(2) }
    /// Accepts writes that begin with the signature.
    var note: BluetoothUUID { uuid(3) }

    private func uuid(_ number: UInt16) -> BluetoothUUID {
        BluetoothUUID(0xA000 | UInt16(device) << 8 | UInt16(app) << 4 | number)
    }

    static func < (one: WorldName, other: WorldName) -> Bool {
        (one.device, one.app) < (other.device, other.app)
    }

    // All apps use the same identifiers, so that only the service keeps them apart.
    static let serviceID = LocalAttributeID(1)
    static let measurementID = LocalAttributeID(2)
    static let readingID = LocalAttributeID(3)
    static let noteID = LocalAttributeID(4)
    /// All apps use the same identifier for their managers, of either role.
    static let restoreIdentifier = "main"

    var localService: LocalService {
        LocalService(
            id: Self.serviceID,
            uuid: service,
            isPrimary: true,
            characteristics: [
                LocalCharacteristic(id: Self.measurementID, uuid: measurement, properties: 0x10, permissions: 1),
                LocalCharacteristic(id: Self.readingID, uuid: reading, properties: 0x02, permissions: 1),
                LocalCharacteristic(id: Self.noteID, uuid: note, properties: 0x08, permissions: 2),
            ]
        )
    }

    var advertising: AdvertisingRequest { AdvertisingRequest(localName: "D\(device)", services: [service]) }
}

/// The devices of a world, and their apps.
struct WorldShape {
    struct Device {
        let version: SystemVersion
        let linger: Duration
        /// Whether it keeps its address across restarts.
        let keepsAddress: Bool
        let apps: [App]
    }

    struct App {
        let name: WorldName
        var declaration = AppDeclaration()
        /// The apps that it reads and subscribes to; empty without the central role.
        var targets: [WorldName] = []
        var isPeripheral = false
        var restoresCentral = false
        var restoresPeripheral = false

        var identity: AppIdentity { AppIdentity(name: "com.example.\(name)") }
    }

    let devices: [Device]

    var apps: [App] { devices.flatMap(\.apps) }

    /// Two or three devices with one to three apps each. The first app of the first device uses the first app of the
    /// second.
    init(seed: UInt64) {
        let random = RandomSource(seed: seed).split(2)
        func lot(_ one: UInt64, in many: UInt64) -> Bool { random.below(many) < one }
        let counts = (0..<2 + Int(random.below(2))).map { _ in 1 + Int(random.below(3)) }
        var apps = counts.enumerated().map { device, count in
            (0..<count).map { App(name: WorldName(device: device, app: $0)) }
        }
        for (device, count) in counts.enumerated() {
            for app in 0..<count {
                apps[device][app].declaration = Self.declaration(random)
                apps[device][app].isPeripheral = (device, app) == (1, 0) || lot(1, in: 2)
                apps[device][app].restoresCentral = lot(2, in: 3)
                apps[device][app].restoresPeripheral = lot(2, in: 3)
            }
        }
        let servers = apps.joined().filter(\.isPeripheral).map(\.name)
        for (device, count) in counts.enumerated() {
            for app in 0..<count where (device, app) == (0, 0) || !apps[device][app].isPeripheral || lot(1, in: 2) {
                let others = servers.filter { $0.device != device }
                guard !others.isEmpty else { continue }
                let first =
                    (device, app) == (0, 0)
                    ? WorldName(device: 1, app: 0) : others[Int(random.below(UInt64(others.count)))]
                let second = others[Int(random.below(UInt64(others.count)))]
                apps[device][app].targets = Set([first, second]).sorted()
            }
        }
        devices = apps.map {
            Device(
                version: lot(1, in: 8) ? 10 : .newest,
                linger: lot(1, in: 4) ? .seconds(5) : .zero,
                keepsAddress: lot(1, in: 2),
                apps: $0
            )
        }
    }

    private static func declaration(_ random: RandomSource) -> AppDeclaration {
        let modes = AppDeclaration.BackgroundModes(rawValue: UInt8(random.below(4)))
        var declaration = AppDeclaration(backgroundModes: modes, isManaged: random.below(6) > 0)
        declaration.usesAccessorySetup = random.below(6) == 0
        return declaration
    }
}

/// An action in a world with its own random seed, so that leaving a step out does not change the steps after it.
struct WorldStep {
    enum Kind: CaseIterable, Sendable {
        case wait, sleep, measure, ask, lookAgain
        case leave, enter, crash, removeFromMemory, forceQuit, relaunch
        case switchPower, unplug, killService, restart, moveAway, permission

        /// Whether the step may end links.
        var endsLinks: Bool {
            switch self {
            case .wait, .sleep, .measure, .lookAgain, .leave, .enter: false
            case .ask, .crash, .removeFromMemory, .forceQuit, .relaunch, .switchPower, .unplug, .killService, .restart,
                .moveAway, .permission:
                true
            }
        }

        /// The relative frequency of the kind.
        var weight: Int {
            switch self {
            case .measure, .ask: 4
            case .leave: 3
            case .wait, .enter, .crash, .relaunch, .switchPower: 2
            case .sleep, .lookAgain, .removeFromMemory, .forceQuit, .unplug, .killService, .restart, .moveAway,
                .permission:
                1
            }
        }
    }

    let kind: Kind
    let lot: UInt64
}
