import BluetoothService
import BluetoothTypes
import CoreBluetooth
import CoreBluetoothExtras
import Foundation
import ServiceMessages
import Synchronization

/// The central manager of a command, and the devices that it has connected to.
final class DeviceClient: Sendable {
    typealias Verb = @Sendable (DeviceClient) async throws(ToolError) -> Void

    /// How long a manager may take to report that Bluetooth is on.
    static let startLimit = Duration.seconds(10)
    /// How long the end of a link may take when the command ends.
    static let disconnectTimeout = Duration.seconds(2)
    /// The shortest time that a value without a response has to reach the device.
    static let lastWords = Duration.milliseconds(100)
    /// How long the error of a controller may come after the state that it causes.
    static let controllerErrorLimit = Duration.milliseconds(500)
    /// The time limit of a request to a device. The attribute protocol has one of 30 s (Core Vol 3 Part F 3.3.3).
    static let answerLimit = Duration.seconds(35)

    let central: CBCentralManager
    let facts: DeviceFacts
    let report: ToolReport
    let memory: ClientMemory
    private let used = Mutex<[FoundDevice]>([])
    /// The number of connections to the service that had ended when the command began.
    private let lostServices: Int

    init(
        _ central: CBCentralManager = CBCentralManager(delegate: nil, queue: DispatchQueue(label: "harald.client")),
        facts: DeviceFacts,
        report: ToolReport,
        memory: ClientMemory = ClientMemory()
    ) {
        self.central = central
        self.facts = facts
        self.report = report
        self.memory = memory
        if case .service(_, let watch) = facts.place { lostServices = watch.ends } else { lostServices = 0 }
    }

    /// Returns a client for another command of the same session, with the same manager.
    func next(facts: DeviceFacts, report: ToolReport) -> DeviceClient {
        DeviceClient(central, facts: facts, report: report, memory: memory)
    }

    /// Runs `verb` until it ends, or until `aborts` has an error. Then leaves all devices that it has connected to.
    static func perform(
        _ verb: @escaping Verb,
        facts: DeviceFacts,
        report: ToolReport,
        aborts: AsyncStream<ToolError>
    ) async -> Result<Void, ToolError> {
        await DeviceClient(facts: facts, report: report).perform(verb, aborts: aborts)
    }

    /// Runs `verb` until it ends, or until `aborts` has an error. Then leaves all devices that it has connected to,
    /// except for those that it keeps.
    func perform(_ verb: @escaping Verb, aborts: AsyncStream<ToolError>) async -> Result<Void, ToolError> {
        let result = await withTaskGroup(of: Result<Void, ToolError>.self) { group in
            group.addTask { await self.result(of: verb) }
            group.addTask {
                for await error in aborts { return .failure(error) }
                return .success(())
            }
            var first = await group.next() ?? .success(())
            // The controller's own error says more, and comes at about the same time, before or after.
            if case .failure(let error) = first, error.saysLessThanController {
                let known = first
                group.addTask {
                    try? await Task.sleep(for: Self.controllerErrorLimit)
                    return known
                }
                first = await group.next() ?? first
            }
            group.cancelAll()
            return first
        }
        await leave()
        return result
    }

    private func result(of verb: Verb) async -> Result<Void, ToolError> {
        do throws(ToolError) {
            try await begin()
            try await verb(self)
            return .success(())
        } catch {
            return .failure(explained(error))
        }
    }

    private func begin() async throws(ToolError) {
        guard case .service(let path, let watch) = facts.place else { return try await poweredOn() }
        if let error = watch.obstacle(at: path) { throw error }
        guard central.state == .unsupported else { return try await poweredOn() }
        // The state may be from before the service was back.
        await withTaskGroup(of: Void.self) { group in
            group.addTask { for await state in self.powerStates where state == .poweredOn { return } }
            group.addTask { await self.pause(watch.isOpen ? Self.disconnectTimeout : Self.startLimit) }
            await group.next()
            group.cancelAll()
        }
        if !watch.isOpen { throw .service("the service at \(path) does not answer; see its log") }
        try await poweredOn()
    }

    private func poweredOn() async throws(ToolError) {
        do {
            try await central.poweredOn(deadline: Self.startLimit)
        } catch {
            let waits = central.state == .unknown && central.authorization == .notDetermined
            throw waits ? .permissionWaits : .bluetooth(central.state)
        }
    }

    /// The states of the manager, until the stream fails.
    private var powerStates: AsyncStream<CBManagerState> {
        AsyncStream { [central] source in
            let task = Task {
                for try await state in central.states { source.yield(state) }
                source.finish()
            }
            source.onTermination = { _ in task.cancel() }
        }
    }

    // MARK: Time

    /// Waits by the clock of the service. Ends early if the task is cancelled.
    func pause(_ duration: Duration) async {
        let (stream, source) = AsyncStream<Void>.makeStream()
        let cancel = central.callBack(after: duration) { source.finish() }
        source.onTermination = { _ in cancel() }
        for await _ in stream {}
    }

    // MARK: Links

    /// Connects to a device, which is disconnected at the end of the command.
    func connect(_ device: FoundDevice, limit: Duration?) async throws(ToolError) {
        if memory.keeps(device) {
            if device.peripheral.state == .connected { return }
        } else {
            used.withLock { if !$0.contains(device) { $0.append(device) } }
        }
        try await attempt("connecting", device) {
            try await self.central.openConnection(to: device.peripheral, deadline: limit)
        }
        report.step(LinkDocument(device: device.candidate.document, state: "connected"), as: "connected")
    }

    /// Leaves the device connected for later commands of the session.
    func keep(_ device: FoundDevice) {
        used.withLock { $0.removeAll { $0 == device } }
        memory.keep(device)
    }

    /// Disconnects from the devices of the session that fit; from all of them if `selector` is nil.
    func disconnect(_ selector: DeviceSelector?) async throws(ToolError) {
        let devices = memory.kept.filter { device in
            selector.map { $0.fit(device.candidate) != nil } ?? true
        }
        guard !devices.isEmpty else {
            throw .incomplete(selector.map { "the shell is not connected to \($0.quoted)" } ?? "no device is connected")
        }
        for device in devices {
            await disconnect(device)
            memory.forget(device)
        }
    }

    /// Cancels the connection of this app. The link stays up if other apps use it.
    func disconnect(_ device: FoundDevice) async {
        let wasConnected = device.peripheral.state == .connected
        guard device.peripheral.state != .disconnected else { return }
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await self.central.disconnect(device.peripheral) }
            group.addTask { await self.pause(Self.disconnectTimeout) }
            await group.next()
            group.cancelAll()
        }
        // The end of a link that was lost has been reported.
        guard wasConnected else { return }
        report.step(LinkDocument(device: device.candidate.document, state: "disconnected"), as: "disconnected")
    }

    private func leave() async {
        for device in used.withLock({ $0 }) { await disconnect(device) }
    }

    // MARK: Errors

    /// Returns the error of the service or of the controller if that is the cause of an error: devices and managers
    /// only say that they are gone.
    func explained(_ error: ToolError) -> ToolError {
        switch (error, facts.place) {
        case (.interrupted, _), (.service, _): return error
        case (_, .service(_, let watch)) where watch.ends > lostServices: return watch.loss
        case (.peerVanished, _) where central.state != .poweredOn: break
        case (.bluetooth, _): break
        default: return error
        }
        guard case .controller(let address) = facts.place, central.state != .unauthorized else {
            return .bluetooth(central.state)
        }
        return .controllerGone(address)
    }

    /// Runs a step of a command, named as in `reading 2A37`, and reports its error as the tool does.
    func attempt<Value: Sendable>(
        _ doing: String,
        _ device: FoundDevice,
        _ step: () async throws -> Value
    ) async throws(ToolError) -> Value {
        do {
            return try await step()
        } catch {
            throw ToolError(error, doing: doing, with: device.name)
        }
    }
}

/// A device that a command has chosen.
struct FoundDevice: Hashable, Sendable {
    let peripheral: CBPeripheral
    let candidate: DeviceCandidate

    var name: String { candidate.names.first ?? candidate.label }

    static func == (one: FoundDevice, other: FoundDevice) -> Bool { one.peripheral === other.peripheral }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(peripheral)) }
}

extension ToolError {
    /// Whether the error of a controller may follow, which has the cause.
    fileprivate var saysLessThanController: Bool {
        switch self {
        case .bluetooth, .controllerGone: true
        default: false
        }
    }

    init(_ error: any Error, doing: String, with name: String) {
        let debug = (error as NSError).userInfo[NSDebugDescriptionErrorKey] as? String
        let text = debug ?? error.localizedDescription
        self =
            switch error {
            case ExtrasError.deadlinePassed: .peerVanished(name, doing: doing, reason: "it does not respond")
            case ExtrasError.notPoweredOn(let state): .bluetooth(state)
            case ExtrasError.overflow: .incomplete("\(doing) failed: more came than this program could read in time")
            case ExtrasError.tooLong(let maximum):
                .incomplete(
                    "the value is too long: \(name.quotedName) takes \(count(maximum, "octet")) without response"
                )
            case is CancellationError: .interrupted(SIGINT)
            case let error as CBATTError where error.code.isOfSecurity: .notSecured(name, reason: text)
            case is CBATTError: .incomplete("\(name.quotedName) rejected \(doing): \(text)")
            case let error as CBError where error.code.isOfSecurity: .notSecured(name, reason: text)
            // The service could not secure the link, by the Security Manager's reason (Core Vol 3 Part H 3.5.5).
            case is CBError where ErrorReason(error)?.layer == .smp: .notSecured(name, reason: text)
            case let error as CBError where error.code.isOfLink: .peerVanished(name, doing: doing, reason: text)
            default: .incomplete("\(doing) failed: \(text)")
            }
    }
}

extension CBATTError.Code {
    var isOfSecurity: Bool {
        switch self {
        case .insufficientAuthentication, .insufficientEncryption, .insufficientEncryptionKeySize: true
        default: false
        }
    }
}

extension CBError.Code {
    fileprivate var isOfSecurity: Bool {
        switch self {
        case .peerRemovedPairingInformation, .encryptionTimedOut, .tooManyLEPairedDevices: true
        default: false
        }
    }

    fileprivate var isOfLink: Bool {
        switch self {
        case .notConnected, .connectionTimeout, .peripheralDisconnected, .connectionFailed: true
        default: false
        }
    }
}
