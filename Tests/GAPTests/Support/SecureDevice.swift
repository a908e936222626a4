import ATT
import AccessStandIns
import BluetoothTypes
import EventLoops
import GATT
import HCI
import SMP
import StackStandIns
import Testing

@testable import GAP
@testable import Security

/// A device with a user, bonds, a server with protected values, and a client.
final class SecureDevice: GATTServerDelegate {
    let device: GAPDevice
    let person: Person
    let storage = MemoryBondStorage()
    let bonds: BondStore
    let server: GATTServer
    /// The handles of the values, by their requirements.
    private(set) var handles: [SecurityLevel: UInt16] = [:]
    private(set) var link: AccessLink?
    private(set) var client: GATTClient?
    private(set) var session: GATTServerSession?
    private(set) var failures: [SecurityError] = []
    private(set) var lostBonds = 0
    private(set) var paired: [Bond?] = []
    private(set) var securities: [LinkSecurity] = []

    static let value: [UInt8] = [1, 2, 3]

    init(
        _ world: GAPWorld,
        slip: Person.Slip,
        pairing: PairingConfiguration = PairingConfiguration(),
        address policy: OwnAddressPolicy = .staticRandom,
        capacity: Int = BondStore.maximumBonds
    ) throws {
        person = Person(slip)
        let number = UInt64(world.deviceCount)
        bonds = try BondStore(
            storage: storage,
            adapter: AdapterIdentity(address: BluetoothAddress(0xC0FF_EE00_0001 + number, kind: .publicDevice)),
            random: RandomSource(seed: 77 + number),
            capacity: capacity
        )
        device = world.device(policy, bonds: bonds, pairing: pairing)
        let database = GATTDatabase()
        server = GATTServer(database: database)
        for (index, requirement) in SecurityLevel.cases.enumerated() {
            let service = try database.add(
                ServiceDefinition(
                    BluetoothUUID(UInt16(0xF000 + index)),
                    characteristics: [
                        CharacteristicDefinition(
                            BluetoothUUID(UInt16(0xF100 + index)),
                            properties: [.read, .write],
                            permissions: AttributePermissions(read: requirement, write: requirement),
                            source: .fixed(PacketBuffer(Self.value))
                        )
                    ]
                )
            )
            handles[requirement] = service.characteristics[0].value
        }
        server.delegate = self
        device.access.deviceSecurity.prompter = person
        device.onLink = { [unowned self] in attach($0) }
    }

    var deviceSecurity: DeviceSecurity { device.access.deviceSecurity }

    private func attach(_ link: AccessLink) {
        self.link = link
        let attributes = link.openAttributes(mtu: 247, server: server)
        (client, session) = (attributes.client, attributes.session)
        link.secureLink.onEvent = { [unowned self] event in
            switch event {
            case .changed(let linkSecurity): securities.append(linkSecurity)
            case .failed(let error): failures.append(error)
            case .bondLost: lostBonds += 1
            case .paired(let bond): paired.append(bond)
            }
        }
        let ended = link.onEnd
        link.onEnd = { [unowned self] reason in
            ended?(reason)
            if self.link === link { (self.link, self.client, self.session) = (nil, nil, nil) }
        }
    }

    /// Connects to `server` as a central. `server` advertises until then.
    func connect(to server: SecureDevice) {
        let advertiser = Peripheral(server.device.access)
        advertiser.enter(.init(.general, .undirected))
        let role = Central(device.access)
        var isConnected = false
        role.connect(to: server.device.address, within: .seconds(10)) { isConnected = $0.isSuccess }
        device.world.run { isConnected }
        advertiser.leave()
        device.world.run(.milliseconds(300))
    }

    /// Makes refused requests wait until the link is secure (behaviour 6.1).
    func securesByItself() {
        let link = link
        client?.onInsufficientSecurity = { cause, retry in
            guard let link else { return retry(.untried) }
            link.secureLink.secure(after: cause, completion: retry)
        }
    }

    func server(_ server: GATTServer, didReceiveRead request: GATTReadRequest) {
        request.respond(.failure(.unlikelyError))
    }

    func server(_ server: GATTServer, didReceiveWrite request: GATTWriteRequest) { request.respond(nil) }
}

/// Two such devices that connect and disconnect as a test requires.
struct SecurePair {
    let world: GAPWorld
    let central: SecureDevice
    let peripheral: SecureDevice

    init(
        _ mode: ControllerMode = .extended,
        central: PairingConfiguration = PairingConfiguration(),
        peripheral: PairingConfiguration = PairingConfiguration()
    ) throws {
        world = GAPWorld(mode)
        let slip = Person.Slip(loop: world.loop)
        self.central = try SecureDevice(world, slip: slip, pairing: central)
        self.peripheral = try SecureDevice(world, slip: slip, pairing: peripheral)
    }

    /// A pair from two devices of a world that may contain others.
    init(_ world: GAPWorld, central: SecureDevice, peripheral: SecureDevice) {
        (self.world, self.central, self.peripheral) = (world, central, peripheral)
    }

    /// The pair once it has bonded and disconnected.
    func bonded(_ level: SecurityLevel = .encrypted) throws -> Self {
        try bond(level)
        disconnect()
        return self
    }

    /// The device in a role.
    func device(_ role: LERole) -> SecureDevice { role == .central ? central : peripheral }

    /// Connects. A central that has a bond with a peer addresses it by its identity.
    func connect(to identity: BluetoothAddress? = nil) throws {
        let advertiser = Peripheral(peripheral.device.access)
        advertiser.enter(.init(.general, .undirected))
        let role = Central(central.device.access)
        var result: Result<AccessLink, GAPError>?
        // Wait for the address to show, since private addresses change.
        world.run(.milliseconds(100))
        let shown = peripheral.device.access.advertiser.connectableAddress ?? peripheral.device.address
        let peer = identity ?? central.device.access.privacy.identity(of: shown)
        role.connect(to: peer, within: .seconds(10)) { result = $0 }
        world.run { result != nil && peripheral.link != nil }
        _ = try #require(try result?.get())
        world.run(.milliseconds(500))
    }

    /// Ends the link, and waits until both devices have lost it.
    func disconnect() {
        central.link?.terminate()
        world.run { central.link == nil && peripheral.link == nil }
        world.run(.milliseconds(100))
    }

    /// Secures the link from one side, and waits for the result on both.
    @discardableResult
    func secure(_ role: LERole, _ level: SecurityLevel = .encrypted) throws -> Result<Void, SecurityError>? {
        let link = try #require(device(role).link)
        var result: Result<Void, SecurityError>?
        link.secureLink.secure(level) { result = $0 }
        world.run(for: .seconds(60)) { result != nil }
        world.run(.milliseconds(500))
        return result
    }

    /// Reads the other device's value that requires `requirement`.
    func read(_ requirement: SecurityLevel, by role: LERole) throws -> Result<[UInt8], GATTError>? {
        let reader = device(role)
        let client = try #require(reader.client)
        let handle = try #require(device(role == .central ? .peripheral : .central).handles[requirement])
        var result: Result<[UInt8], GATTError>?
        client.read(handle) { result = $0.map(\.bytes) }
        world.run(for: .seconds(60)) { result != nil }
        world.run(.milliseconds(200))
        return result
    }

    /// Bonds, and leaves the link up.
    func bond(_ level: SecurityLevel = .encrypted) throws {
        try connect()
        let result = try #require(try secure(.central, level))
        #expect(result.isSuccess)
        #expect(central.bonds.bonds.count == 1)
        #expect(peripheral.bonds.bonds.count == 1)
        for device in [central, peripheral] { device.person.forget() }
    }
}

extension Result where Failure == GATTError {
    /// The server's error code, if it refused the request.
    var refusal: ATTErrorCode? { if case .failure(let error) = self { error.response?.code } else { nil } }
}
