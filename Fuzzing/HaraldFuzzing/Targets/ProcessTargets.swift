import BluetoothService
import BluetoothTypes
import CoreBluetooth
import EventLoops
import Logging
import ServiceMessages
import ServiceProcess

extension FuzzTarget {
    /// The service's side of a socket: one process sends the input, as an app or otherwise, and ends at any time;
    /// another process must still get responses.
    static let clients = FuzzTarget(
        "clients",
        maximumLength: 4_000,
        seeds: Session.seeds
    ) { input in
        var input = input
        let session = Session()
        while !input.isAtEnd {
            switch input.octet() % 5 {
            case 0, 1: session.liar.take(input.counted())
            case 2: session.pass(.milliseconds(Int(input.octet()) * 20))
            case 3: session.liar.onRoom?(input.octet() & 1 == 1)
            default: session.beginAnew()
            }
        }
        session.end()
    }

    /// The app's side: a central and a peripheral manager of Core Bluetooth, with a service that sends the input.
    static let connection = FuzzTarget(
        "connection",
        maximumLength: 4_000,
        seeds: ServiceMessage.kinds.map { step(0, FrameParser.frame($0.encoded()).bytes) }
            + Event.kinds.map { step(0, FrameParser.frame(ServiceMessage.event(ManagerID(1), $0).encoded()).bytes) }
    ) { input in
        var input = input
        let app = LiedTo()
        while !input.isAtEnd {
            switch input.octet() % 3 {
            case 0, 1: app.line?.take(input.counted())
            default: app.pass(.milliseconds(Int(input.octet()) * 20))
            }
            app.pass(.zero)
        }
        app.line?.lost(.closedByPeer)
        app.pass(.seconds(20))
    }
}

/// A launcher that starts no programs.
private final class NoPrograms: ProgramLauncher {
    private let loop: any EventLoop

    init(loop: any EventLoop) {
        self.loop = loop
    }

    func start(_ program: Program, _ report: @escaping (ProgramEvent) -> Void) {
        loop.execute { report(.notStarted(code: 1)) }
    }
}

/// A service with two processes.
private final class Session {
    private let world = StackWorld()
    private let clients: ServiceClients
    private(set) var liar = FuzzLine()
    private let honest = FuzzLine()
    private var answers = 0

    init() {
        let quiet = Logger(label: "fuzzing") { _ in SwiftLogNoOpLogHandler() }
        world.run(for: .seconds(1)) { false }
        // Something listens for advice, and wants all places.
        world.phone.observers.add([.messages, .misuse, .practices]) { [places = world.phone.places] in
            if let site = $0.site { _ = places.find(site) }
        }
        clients = ServiceClients(
            of: world.phone,
            socket: "/nowhere",
            loop: world.loop,
            access: AccessRule(owner: 1_000),
            programs: NoPrograms(loop: world.loop),
            logger: quiet
        )
        clients.accept(honest, from: Caller(process: 1, user: 1_000, group: 1_000))
        honest.onSend = { [unowned self] in if case .reply? = try? ServiceMessage(reading: $0) { answers += 1 } }
        honest.take(Self.frame(Opening.app(Hello(AppIdentity(name: "honest")))))
        honest.take(Self.frame(AppMessage.openManager(ManagerID(1), .central, ManagerOptions())))
        beginAnew()
    }

    /// Replaces the lying process by a new one.
    func beginAnew() {
        liar.lost(.closedByPeer)
        liar = FuzzLine()
        clients.accept(liar, from: Caller(process: 2, user: 1_000, group: 1_000))
    }

    func pass(_ time: Duration) { world.run(for: time) { false } }

    func end() {
        honest.take(Self.frame(AppMessage.query(ManagerID(1), number: 7, .peripherals(identifiers: []))))
        hold(honest.isOpen && answers == 1, "an honest app gets no response")
        liar.lost(.closedByPeer)
        pass(.seconds(60))
        hold(clients.callers.count == 1, "an ended process leaves state behind")
        clients.close()
        world.end()
    }

    static func frame(_ message: some PacketFields) -> [UInt8] { FrameParser.frame(message.encoded()).bytes }

    /// A process that opens a connection, creates its managers, and makes one request each.
    static var seeds: [[UInt8]] {
        let opening = step(0, frame(Opening.app(Hello(AppIdentity(name: "liar"), declaring: AppDeclaration()))))
        let roles: [(ManagerRole, UInt32)] = [(.central, 1), (.peripheral, 2)]
        let managers = roles.flatMap { role, number in
            step(0, frame(AppMessage.openManager(ManagerID(number), role, ManagerOptions())))
        }
        let requests =
            CentralRequest.kinds.map { AppMessage.request(ManagerID(1), .central($0)) }
            + PeripheralRequest.kinds.map { AppMessage.request(ManagerID(2), .peripheral($0)) } + AppMessage.kinds
        return requests.map { opening + managers + step(0, frame($0)) + [2, 20, 4] }
            + [step(0, frame(Opening.tool(version: Hello.version)))]
    }
}

/// An app with a lying service.
private final class LiedTo: NSObject, Dialer, CBCentralManagerDelegate, CBPeripheralManagerDelegate, @unchecked Sendable
{
    // Safe: accessed only on the main thread, which runs the loop.
    private let loop = VirtualEventLoop()
    private(set) var line: FuzzLine?
    private var connection: RemoteConnection?
    private var managers: [CBManager] = []

    override init() {
        super.init()
        let quiet = Logger(label: "fuzzing") { _ in SwiftLogNoOpLogHandler() }
        let hello = Hello(AppIdentity(name: "app"))
        let made = RemoteConnection(hello: hello, loop: loop, logger: quiet, places: { _, done in done([:]) }) {
            [unowned self] in Weak(self)
        }
        connection = made
        ServiceLocator.$current.withValue(made) {
            managers = [
                CBCentralManager(delegate: self, queue: .main), CBPeripheralManager(delegate: self, queue: .main),
            ]
        }
        pass(.milliseconds(1))
        line?.take(Session.frame(ServiceMessage.welcome(Welcome())))
        line?.take(Session.frame(ServiceMessage.event(ManagerID(1), .stateChanged(.poweredOn))))
        line?.take(Session.frame(ServiceMessage.event(ManagerID(2), .stateChanged(.poweredOn))))
        pass(.milliseconds(1))
    }

    /// Weak, because the connection retains its dialer.
    private struct Weak: Dialer {
        weak var app: LiedTo?

        init(_ app: LiedTo) {
            self.app = app
        }

        func dial(_ completion: @escaping (Result<any MessageLine, MessageLineError>) -> Void) {
            app?.dial(completion)
        }
    }

    func dial(_ completion: @escaping (Result<any MessageLine, MessageLineError>) -> Void) {
        let made = FuzzLine()
        line = made
        loop.execute { completion(.success(made)) }
    }

    func pass(_ time: Duration) { loop.run(for: time) }

    func centralManagerDidUpdateState(_ central: CBCentralManager) {}
    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {}
    func centralManager(_ central: CBCentralManager, willRestoreState dict: [String: Any]) {}
    func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any]) {}

    func centralManager(
        _ central: CBCentralManager,
        didDiscover peripheral: CBPeripheral,
        advertisementData: [String: Any],
        rssi RSSI: NSNumber
    ) {
        central.connect(peripheral)
    }

    func centralManager(_ central: CBCentralManager, didConnect peripheral: CBPeripheral) {
        peripheral.discoverServices(nil)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        peripheral.respond(to: request, withResult: .success)
    }

    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        if let first = requests.first { peripheral.respond(to: first, withResult: .success) }
    }
}
