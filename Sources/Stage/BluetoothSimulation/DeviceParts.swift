import BluetoothService
import BluetoothTypes
import CapturePlayback
import EventLoops
import Foundation
import GAP
import HCI
import LinkLayer
import ServiceMessages

/// The parts of a simulated device: its current system, and what outlasts a restart. Used on the loop only.
final class DeviceParts {
    /// A launch of an app that may have ended.
    private struct WeakProcess {
        weak var connection: InProcessConnection?
    }

    /// The current system. A restart replaces it.
    private(set) var system: BluetoothSystem
    let attention: Attention
    let apps: SimulatedInstallations
    let socket: ControllerSocket
    private let log: PacketLog
    /// Creates a system from the parts that outlast a restart: the controller's socket and the device's storage. It
    /// receives the address of the previous system.
    private let makeSystem: (_ address: BluetoothAddress?) -> BluetoothSystem
    private var processes: [WeakProcess] = []
    /// Where the device was before it left everybody's range.
    private var positionInRange: Position?
    /// The launches whose objects the device keeps, as long as their processes exist.
    private var kept: [SimulatedApp.Process] = []
    var observe: (BluetoothSystem) -> Void = { _ in }
    private var appWatchers: [@Sendable (_ app: String, AppPhase) -> Void] = []
    private var reflections: (@Sendable (UInt16, [UInt8]) -> Void)?
    /// The kinds of events before which the radio is read.
    private var radioKinds: Observation.Kinds?

    init(
        socket: ControllerSocket,
        log: PacketLog,
        attention: Attention,
        apps: SimulatedInstallations,
        makeSystem: @escaping (BluetoothAddress?) -> BluetoothSystem
    ) {
        self.socket = socket
        self.log = log
        self.attention = attention
        self.apps = apps
        self.makeSystem = makeSystem
        system = makeSystem(nil)
    }

    /// Connects a new system to the parts that outlast it, and starts it.
    func begin() {
        observe(system)
        observeRadio()
        observeReflections()
        attention.belongs(to: system)
        system.apps.preservation.launcher = apps
        system.observers.add(.managers) { [weak self] observation in
            guard let self, case .appMoved(let phase) = observation.content else { return }
            for watcher in appWatchers { watcher(observation.subject.app?.name ?? "", phase) }
        }
        system.start()
    }

    func restart(isLocked: Bool) {
        let staysOff = system.staysOff
        end()
        system = makeSystem(system.fixedAddress)
        system.apps.preservation.isLocked = isLocked
        socket.plugIn()
        if staysOff { system.controllers.setPower(false) }
        begin()
    }

    /// Ends all processes and switches the device off.
    func end() {
        for process in processes { process.connection?.happened(.ended(.deviceRestarted)) }
        (processes, kept) = ([], [])
        // The old system launches no app any more.
        system.apps.preservation.launcher = nil
        // First of all, since a controller without power sends nothing.
        socket.unplug()
        system.stop()
        attention.forgetAll()
    }

    // MARK: Apps

    /// Records a launch, and drops those that have ended.
    func note(_ connection: InProcessConnection) {
        processes.removeAll { $0.connection == nil }
        processes.append(WeakProcess(connection: connection))
    }

    /// Keeps a launch until its process ends.
    func keep(_ process: SimulatedApp.Process) {
        kept.removeAll { $0.connection.hasEnded }
        kept.append(process)
    }

    func watchApps(_ observer: @escaping @Sendable (_ app: String, AppPhase) -> Void) {
        appWatchers.append(observer)
    }

    func watchReflections(_ observer: @escaping @Sendable (UInt16, [UInt8]) -> Void) {
        reflections = observer
        observeReflections()
    }

    private func observeReflections() {
        guard let reflections else { return }
        system.links.onReflection = { reflections($0.counter, Array($0.encoded())) }
    }

    // MARK: The controller

    var node: RadioNode { socket.node }

    /// Moves the device to a place where no other device hears it.
    func leaveRange(to place: Position) {
        guard positionInRange == nil else { return }
        positionInRange = node.position
        node.position = place
    }

    /// Brings the device back. Returns whether it was out of range.
    func returnToRange() -> Bool {
        guard let position = positionInRange else { return false }
        node.position = position
        positionInRange = nil
        return true
    }

    /// Unplugs the controller, or plugs it in again.
    ///
    /// - Returns: Whether that changes anything.
    func setController(isPluggedIn: Bool) -> Bool {
        guard isPluggedIn != socket.isPluggedIn else { return false }
        if isPluggedIn { socket.plugIn() } else { socket.unplug() }
        return true
    }

    /// See ``SimulatedDevice/watchRadio(_:_:)``.
    func watchRadio(_ kinds: Observation.Kinds, _ observer: @escaping (RadioOccasion, RadioReading?) -> Void) {
        let isFirst = radioKinds == nil
        (socket.onRadio, radioKinds) = (observer, kinds)
        if isFirst { observeRadio() }
    }

    private func observeRadio() {
        guard let radioKinds else { return }
        system.observers.add(radioKinds) { [weak self] in self?.socket.note(.event($0)) }
    }

    var traffic: SimulatedDevice.Traffic {
        let air = node.airTime
        return SimulatedDevice.Traffic(
            packetsToController: log.toController,
            packetsToHost: log.toHost,
            sending: .microseconds(air.sending),
            listening: .microseconds(air.listening)
        )
    }
}

/// Counts a device's HCI packets and, if asked to, writes them as a btsnoop file.
final class PacketLog {
    private(set) var toController = 0
    private(set) var toHost = 0
    private let writer: BTSnoopWriter
    private let write: (@Sendable ([UInt8]) -> Void)?

    init(calendarStart: TimeInterval, write: (@Sendable ([UInt8]) -> Void)?) {
        writer = BTSnoopWriter(unixMicrosecondsAtZero: Int64(calendarStart * 1_000_000))
        self.write = write
        write?(writer.header)
    }

    func record(_ packet: HCIPacket, _ direction: HCIDirection, _ instant: Instant) {
        switch direction {
        case .hostToController: toController += 1
        case .controllerToHost: toHost += 1
        }
        write?(writer.record(packet, direction, at: instant))
    }
}
