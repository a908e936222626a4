import Accessories
import BluetoothTypes
import CoreBluetooth
import CoreBluetoothExtras
import Foundation
import Synchronization

/// The result of a step.
struct StepResult: Hashable, Sendable {
    enum Status: String, Encodable, Sendable {
        case passed, failed, skipped
    }

    /// The number of the step in its file, from 1 on.
    let number: Int
    let name: String
    var status: Status
    var message: String?
    /// The time that the step took, by the clock of the device.
    var duration = Duration.zero
    /// The number of lines of the story when the step began.
    var storyStart = 0
}

/// Performs steps against a device, as a central.
final class StepRunner: Sendable {
    /// The answer to a step.
    private enum Answer {
        case value([UInt8])
        /// Success without a value.
        case done
        case attError(UInt8, String)
        case failed(String)
    }

    private struct State {
        var device: FoundDevice?
        var table: DiscoveredTable?
        var subscriptions: [UInt16: StepSubscription] = [:]
    }

    /// The time between two looks at a state that is waited for.
    private static let tick = Duration.milliseconds(10)

    private let client: DeviceClient
    private let subject: StepSubject
    private let state = Mutex(State())

    init(_ client: DeviceClient, _ subject: StepSubject) {
        self.client = client
        self.subject = subject
    }

    /// Performs the steps until one fails. The others are skipped. `note` receives each result as soon as it is known.
    func run(_ steps: DeviceSteps, note: @Sendable (StepResult) -> Void) async -> [StepResult] {
        await withTaskGroup(of: Void.self) { group in
            var results: [StepResult] = []
            for (index, step) in steps.steps.enumerated() {
                var result = StepResult(number: index + 1, name: steps.titles[index], status: .skipped)
                if !results.contains(where: { $0.status == .failed }) {
                    (result.storyStart, result.duration) = (subject.storyLength(), subject.now())
                    result.message = await failure(of: step, &group)
                    result.status = result.message == nil ? .passed : .failed
                    result.duration = subject.now() - result.duration
                }
                results.append(result)
                note(result)
            }
            group.cancelAll()
            return results
        }
    }

    /// Performs a step, and returns what is wrong with the answer; nil if nothing is.
    private func failure(of step: DeviceSteps.Step, _ group: inout TaskGroup<Void>) async -> String? {
        let answer: Answer
        do {
            answer = try await perform(step, &group)
        } catch let error as StepFailure {
            answer = .failed(error.text)
        } catch ToolError.noSuchDevice(let selector, _, let seconds, let heard) {
            answer = .failed(
                """
                no \(selector.description(of: "connectable device")) was found within \(seconds) s; \(heard.description); check that \
                it is on and in range, or allow the step more time with "within"
                """
            )
        } catch let error as ToolError {
            answer = .failed(error.description)
        } catch {
            answer = Self.answer(to: error)
        }
        return Self.fault(of: answer, step.expectation)
    }

    private static func answer(to error: any Error) -> Answer {
        let text = (error as NSError).userInfo[NSDebugDescriptionErrorKey] as? String ?? error.localizedDescription
        switch error {
        case let error as CBATTError: return .attError(UInt8(clamping: error.errorCode), text)
        case ExtrasError.deadlinePassed: return .failed("the device did not answer in time")
        default: return .failed(text)
        }
    }

    private static func fault(of answer: Answer, _ expectation: DeviceSteps.Expectation?) -> String? {
        let words = expectation?.words ?? "no error"
        switch answer {
        case .value(let value):
            guard let expectation, !expectation.fits(value) else { return nil }
            return "expected \(words); the device sent \(Accessory.Value(value).digits)"
        case .done: return expectation?.expectsError == true ? "expected \(words); the device accepted it" : nil
        case .attError(let code, let text):
            if let expectation, expectation.attError == code || expectation.isError { return nil }
            return "expected \(words); the device refused with the ATT error \(code): \(text)"
        case .failed(let text):
            if let expectation, expectation.isError { return nil }
            return "expected \(words); \(text)"
        }
    }

    // MARK: Actions

    private func perform(_ step: DeviceSteps.Step, _ group: inout TaskGroup<Void>) async throws -> Answer {
        let limit = step.limit
        switch step.action {
        case .connect: try await connect(limit)
        case .disconnect:
            await client.disconnect(try device())
            forgetLink()
        case .disconnection: try await awaitDisconnection(limit)
        case .pair: try await client.pair(try device())
        case .services(let uuids): try await discover(uuids)
        case .read(let reference):
            let target = try await characteristic(reference)
            return .value([UInt8](try await device().peripheral.read(target, deadline: limit)))
        case .write(let reference, let value, let isConfirmed):
            try await write(value.octets(), to: reference, isConfirmed, limit)
        case .subscribe(let reference): try await subscribe(to: reference, limit, &group)
        case .unsubscribe(let reference): try await unsubscribe(from: reference, limit)
        case .notification(let reference): return .value(try await notification(of: reference, limit))
        case .silence(let reference, let duration):
            let subscription = try await subscription(reference)
            if await until(duration, { subscription.hasValue }), let value = subscription.next() {
                throw StepFailure("it sent \(Accessory.Value(value).digits)")
            }
        case .wait(let duration): await client.pause(duration)
        case .fault(let fault): try change(fault, begins: true)
        case .endFault(let fault): try change(fault, begins: false)
        case .set(let reference, let value): try set(reference, value.octets())
        }
        return .done
    }

    private func connect(_ limit: Duration) async throws {
        if let device = state.withLock({ $0.device }), device.peripheral.state == .connected { return }
        forgetLink()
        let device = try await subject.find(client, limit.seconds)
        state.withLock { $0.device = device }
        try await client.connect(device, limit: limit)
    }

    private func forgetLink() {
        state.withLock { ($0.table, $0.subscriptions) = (nil, [:]) }
    }

    private func awaitDisconnection(_ limit: Duration) async throws {
        let peripheral = try device().peripheral
        guard await until(limit, { peripheral.state == .disconnected }) else {
            throw StepFailure("expected the device to disconnect; it is still connected after \(limit.shortSeconds)")
        }
        forgetLink()
    }

    private func discover(_ uuids: [BluetoothUUID]) async throws {
        let table = try await client.discover(try device())
        state.withLock { $0.table = table }
        let own = table.listing.services.map(\.uuid.attributeForm)
        guard let missing = uuids.first(where: { !own.contains($0.attributeForm) }) else { return }
        let list = own.map { nameOf($0) }.joined(separator: ", ")
        throw StepFailure("the device has no service \(nameOf(missing)); it has \(list.isEmpty ? "none" : list)")
    }

    private func write(
        _ value: [UInt8],
        to reference: String,
        _ isConfirmed: Bool?,
        _ limit: Duration
    ) async throws {
        let (peripheral, target) = (try device().peripheral, try await characteristic(reference))
        if isConfirmed ?? target.properties.contains(.write) {
            try await peripheral.write(Data(value), for: target, deadline: limit)
        } else {
            try await peripheral.writeWithoutResponse(Data(value), for: target, deadline: limit)
        }
    }

    private func set(_ reference: String, _ value: [UInt8]) throws {
        guard let set = subject.set else {
            throw StepFailure("only the values of a simulated accessory can be set; name its file on the command line")
        }
        guard set(reference, value) else {
            throw StepFailure("the accessory has no characteristic \(reference.quotedName)")
        }
    }

    private func change(_ fault: DeviceFault, begins: Bool) throws {
        guard let change = subject.fault else {
            throw StepFailure("only a simulated accessory has faults; name its file on the command line")
        }
        change(fault, begins)
    }

    // MARK: Subscriptions

    private func subscribe(to reference: String, _ limit: Duration, _ group: inout TaskGroup<Void>) async throws {
        let (peripheral, target) = (try device().peripheral, try await characteristic(reference))
        let (subscription, handle) = (StepSubscription(), target.handle)
        state.withLock { $0.subscriptions[handle] = subscription }
        let values = peripheral.notifications(of: target)
        group.addTask {
            do {
                for try await value in values { subscription.add([UInt8](value)) }
                subscription.end(nil)
            } catch {
                subscription.end(error)
            }
        }
        let isDone = await until(limit) { target.isNotifying || subscription.hasEnded }
        if let error = subscription.error { throw error }
        guard isDone else { throw StepFailure("the device did not answer the subscription in time") }
    }

    private func unsubscribe(from reference: String, _ limit: Duration) async throws {
        let (peripheral, target) = (try device().peripheral, try await characteristic(reference))
        peripheral.setNotifyValue(false, for: target)
        guard await until(limit, { !target.isNotifying }) else {
            throw StepFailure("the device did not answer in time")
        }
        let handle = target.handle
        state.withLock { $0.subscriptions[handle] = nil }
    }

    private func subscription(_ reference: String) async throws -> StepSubscription {
        let handle = try await characteristic(reference).handle
        guard let subscription = state.withLock({ $0.subscriptions[handle] }) else {
            throw StepFailure("nothing is subscribed to \(reference.quotedName); add a step \"subscribe\" before")
        }
        return subscription
    }

    private func notification(of reference: String, _ limit: Duration) async throws -> [UInt8] {
        let subscription = try await subscription(reference)
        _ = await until(limit) { subscription.hasValue || subscription.hasEnded }
        if let value = subscription.next() { return value }
        if let error = subscription.error { throw error }
        throw StepFailure("no value came within \(limit.shortSeconds)")
    }

    // MARK: The device

    private func device() throws -> FoundDevice {
        guard let device = state.withLock({ $0.device }) else {
            throw StepFailure("there is no connection; add a step \"connect\" before")
        }
        return device
    }

    private func characteristic(_ reference: String) async throws -> CBCharacteristic {
        let device = try device()
        var table = state.withLock { $0.table }
        if table == nil || table?.characteristics.values.contains(where: { $0.service == nil }) == true {
            table = try await client.discover(device)
            state.withLock { $0.table = table }
        }
        guard let table else { throw StepFailure("the device has no services") }
        let handle = try subject.handle(of: reference, in: table.listing).get()
        guard let found = table.characteristics[handle] else { throw StepFailure("the device has no such value") }
        return found
    }

    /// Waits until a condition is true. Returns whether it became true in time.
    private func until(_ limit: Duration, _ condition: () -> Bool) async -> Bool {
        let end = subject.now() + limit
        while !condition() {
            let left = end - subject.now()
            guard left > .zero, !Task.isCancelled else { return false }
            await client.pause(min(left, Self.tick))
        }
        return true
    }
}

/// The values of a subscription that no step has used yet.
private final class StepSubscription: Sendable {
    /// The number of values that are kept. Later ones are dropped.
    private static let maximumValues = 10_000

    private struct State {
        var values: [[UInt8]] = []
        var hasEnded = false
        var error: (any Error)?
    }

    private let state = Mutex(State())

    var hasValue: Bool { state.withLock { !$0.values.isEmpty } }
    var hasEnded: Bool { state.withLock { $0.hasEnded } }
    var error: (any Error)? { state.withLock { $0.error } }

    func add(_ value: [UInt8]) {
        state.withLock { if $0.values.count < Self.maximumValues { $0.values.append(value) } }
    }

    func end(_ error: (any Error)?) {
        state.withLock { ($0.hasEnded, $0.error) = (true, error) }
    }

    /// Removes the oldest value and returns it.
    func next() -> [UInt8]? {
        state.withLock { $0.values.isEmpty ? nil : $0.values.removeFirst() }
    }
}

extension Duration {
    /// The length of time, in seconds.
    var seconds: Double {
        let (seconds, attoseconds) = components
        return Double(seconds) + Double(attoseconds) / 1e18
    }
}
