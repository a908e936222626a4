import BluetoothTypes
import EventLoops
import HCI
import HCIHost

/// A host, a scripted controller, and everything the host reported.
package final class HostBench {
    package let loop = VirtualEventLoop()
    package let transport: TestTransport
    package let controller: ScriptedController
    package let host: HCIHost
    package let stackEvents: StackEventSink
    package private(set) var states: [HCIHost.State] = []
    package private(set) var connections: [HCIConnection] = []
    package private(set) var failures: [HCIStatus] = []
    package private(set) var disconnections: [(handle: UInt16, reason: HCIStatus)] = []

    /// The events of the stack reported so far.
    package var reported: [any StackEvent] { reports.events }

    private final class Reports {
        var events: [any StackEvent] = []
    }

    private let reports = Reports()

    package init(configuration: HCIHost.Configuration = .init()) {
        transport = TestTransport(loop: loop)
        controller = ScriptedController(transport)
        stackEvents = StackEventSink(wants: { _ in true }, receive: { [reports] in reports.events.append($0) })
        host = HCIHost(transport: transport, loop: loop, stackEvents: stackEvents, configuration: configuration)
        host.onStateChange = { [weak self] in self?.states.append($0) }
        host.onConnection = { [weak self] in self?.connections.append($0) }
        host.onConnectionFailed = { [weak self] in self?.failures.append($0) }
        host.onDisconnection = { [weak self] in self?.disconnections.append(($0.handle.rawValue, $1)) }
    }

    /// A bench whose controller supports these LE features.
    package convenience init(_ features: LEFeatures) {
        self.init()
        controller.leFeatures = features
    }

    /// A bench whose host is up.
    package static func up(_ features: LEFeatures? = nil, configuration: HCIHost.Configuration = .init()) -> HostBench {
        let bench = HostBench(configuration: configuration)
        if let features { bench.controller.leFeatures = features }
        bench.up()
        return bench
    }

    /// Brings the host up and forgets what it sent for that.
    package func up() {
        start(.milliseconds(100))
        transport.sent = []
    }

    /// Starts the host, and runs the loop for a duration.
    package func start(_ duration: Duration) {
        host.start()
        run(duration)
    }

    /// Runs the loop. By default, for as long as answers take that wait for no timer.
    package func run(_ duration: Duration = .milliseconds(10)) {
        loop.run(for: duration)
    }

    package func inject(_ event: some HCIEvent) {
        transport.inject(HCIPacket(event))
        run(.milliseconds(1))
    }

    package func inject(_ kind: HCIPacket.Kind, _ bytes: PacketBuffer) {
        transport.inject(HCIPacket(kind, bytes))
        run(.milliseconds(1))
    }

    @discardableResult
    package func connect(_ handle: UInt16, role: LERole = .central) -> HCIConnection? {
        inject(Self.connectionComplete(handle, role: role))
        return host.connection(ConnectionHandle(rawValue: handle))
    }

    package static func connectionComplete(
        _ handle: UInt16,
        role: LERole = .central,
        status: HCIStatus = .success
    ) -> LEEnhancedConnectionComplete {
        LEEnhancedConnectionComplete {
            $0.status = status
            $0.handle = ConnectionHandle(rawValue: handle)
            $0.role = role
            $0.peerAddress = BluetoothAddress(0xC000_0000_0000 + UInt64(handle), kind: .randomDevice)
            $0.interval = 24
            $0.latency = 0
            $0.supervisionTimeout = 72
            $0.centralClockAccuracy = .ppm50
        }
    }

    package func completed(_ entries: (UInt16, UInt16)...) {
        inject(
            NumberOfCompletedPackets(
                entries: entries.map { CompletedPackets(handle: ConnectionHandle(rawValue: $0.0), count: $0.1) }
            )
        )
    }

    package var information: ControllerInformation? {
        if case .ready(let information) = host.state { information } else { nil }
    }

    package var error: HCIHostError? {
        if case .failed(let error) = host.state { error } else { nil }
    }
}
