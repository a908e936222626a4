import BluetoothTypes
import CoreBluetooth
import Foundation
import ServiceMessages
import Synchronization

/// Plays an ``Accessory`` as an app does on iOS: publishes its services with a `CBPeripheralManager`, advertises,
/// answers requests, and changes values by a clock that the caller gives.
///
/// All methods may be called from any thread.
public final class AccessoryPlayer: NSObject, CBPeripheralManagerDelegate, Sendable {
    /// Calls a block once, on the queue of the player, after a time.
    public typealias Timer = @Sendable (_ delay: Duration, _ body: @escaping @Sendable () -> Void) -> Void

    /// The accessory that is played.
    public let accessory: Accessory
    private let say: @Sendable (String) -> Void
    private let fail: @Sendable (String) -> Void
    private let state: Mutex<State>

    private struct State: Sendable {
        var machine: AccessoryMachine
        var manager: CBPeripheralManager?
        var timer: Timer?
        /// Counts the times that the services were published. Timers of earlier ones have no effect.
        var generation = 0
        var published: [CBMutableCharacteristic] = []
        var servicesToAdd = 0
        /// The characteristics with a running notification timer.
        var scheduled: Set<Int> = []
        var waiting: [(index: Int, value: [UInt8])] = []
        /// Counts the times that the effects of writes to a characteristic were cancelled.
        var cancellations: [Int: Int] = [:]
        /// The number of the latest flood of each kind, and the kinds that go on.
        var floods: [DeviceFault.Kind: Int] = [:]
        var flooding: Set<DeviceFault.Kind> = []
        var parameterRequests = 0
        /// Whether the table is that of a newer firmware.
        var hasNewTable = false
        var whenWritten: (@Sendable (Int) -> Void)?
        /// The requests that are never answered. Their release would be misuse.
        var unanswered: [CBATTRequest] = []
    }

    /// Creates a player. It does nothing until ``start(on:timer:)``.
    ///
    /// - Parameters:
    ///   - accessory: The accessory to play.
    ///   - say: Receives a line about each event.
    ///   - fail: Receives the reason why the system does not publish or advertise the accessory.
    public init(
        _ accessory: Accessory,
        say: @escaping @Sendable (String) -> Void = { _ in },
        fail: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.accessory = accessory
        self.say = say
        self.fail = fail
        state = Mutex(State(machine: AccessoryMachine(accessory)))
        super.init()
    }

    /// Starts to play, from the initial values on. A player that was started before begins anew.
    ///
    /// - Parameters:
    ///   - queue: The queue for callbacks.
    ///   - timer: The clock of the accessory.
    public func start(on queue: DispatchQueue, timer: @escaping Timer) {
        state.withLock {
            let (generation, hook) = ($0.generation + 1, $0.whenWritten)
            $0 = State(machine: AccessoryMachine(accessory))
            ($0.generation, $0.whenWritten) = (generation, hook)
            $0.timer = timer
        }
        let manager = CBPeripheralManager(delegate: self, queue: queue)
        state.withLock { $0.manager = manager }
    }

    /// Returns the value of a characteristic; nil if there is none by this name.
    ///
    /// - Parameter characteristic: The ID or the UUID of the characteristic.
    public func value(of characteristic: String) -> [UInt8]? {
        accessory.index(of: characteristic).map { index in state.withLock { $0.machine.values[index] } }
    }

    /// Changes the value of a characteristic, and sends it to subscribers if the accessory does so.
    ///
    /// - Parameters:
    ///   - value: The value, of which the first 512 octets count.
    ///   - characteristic: The ID or the UUID of the characteristic.
    /// - Returns: Whether there is such a characteristic.
    @discardableResult
    public func setValue(_ value: [UInt8], of characteristic: String) -> Bool {
        guard let index = accessory.index(of: characteristic) else { return false }
        store(Array(value.prefix(AccessoryLimits.valueLength)), at: index)
        return true
    }

    /// Sends a value to the subscribers of a characteristic, whose own value stays.
    ///
    /// - Parameters:
    ///   - value: The value, of which the first 512 octets count.
    ///   - characteristic: The ID or the UUID of the characteristic.
    /// - Returns: Whether there is such a characteristic.
    @discardableResult
    public func notify(_ value: [UInt8], of characteristic: String) -> Bool {
        guard let index = accessory.index(of: characteristic) else { return false }
        send(Array(value.prefix(AccessoryLimits.valueLength)), at: index)
        return true
    }
}

// MARK: - Publishing

extension AccessoryPlayer {
    /// See `CBPeripheralManagerDelegate`.
    public func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
        guard peripheral.state == .poweredOn else {
            say("Bluetooth is \(peripheral.state.word)")
            return state.withLock { $0.generation += 1 }
        }
        publish(on: peripheral)
    }

    private func publish(on peripheral: CBPeripheralManager) {
        peripheral.removeAllServices()
        peripheral.stopAdvertising()
        let own = accessory.published
        let services = (state.withLock { $0.hasNewTable } ? [Self.newService] : []) + own
        state.withLock {
            $0.generation += 1
            $0.published = own.flatMap { $0.characteristics ?? [] }.compactMap { $0 as? CBMutableCharacteristic }
            $0.servicesToAdd = services.count
            ($0.scheduled, $0.waiting, $0.unanswered) = ([], [], [])
        }
        for service in services { peripheral.add(service) }
        if services.isEmpty { advertise(peripheral) }
        for index in accessory.characteristics.indices { scheduleChange(0, at: index) }
    }

    /// See `CBPeripheralManagerDelegate`.
    public func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?) {
        if let error { return fail("cannot publish \(service.uuid): \(error.localizedDescription)") }
        let isLast = state.withLock {
            $0.servicesToAdd -= 1
            return $0.servicesToAdd == 0
        }
        if isLast { advertise(peripheral) }
    }

    private func advertise(_ manager: CBPeripheralManager) {
        let advertising = accessory.advertising
        var request = AdvertisingRequest(localName: advertising.name, services: advertising.services)
        request.manufacturerData = advertising.manufacturerData.map { data in
            PacketBuffer([UInt8(truncatingIfNeeded: data.company), UInt8(data.company >> 8)] + data.data.octets())
        }
        request.serviceData = advertising.serviceData.map {
            LocalDescriptor(uuid: $0.uuid, value: PacketBuffer($0.value.octets()))
        }
        _ = manager.ask(.startAdvertising(request))
    }

    /// See `CBPeripheralManagerDelegate`.
    public func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {
        if let error { return fail("cannot advertise: \(error.localizedDescription)") }
        say("advertising \(accessory.name.quotedName)")
    }
}

// MARK: - Values over time

extension AccessoryPlayer {
    /// Calls `body` later, unless the services are published anew meanwhile.
    func later(_ delay: Duration, _ body: @escaping @Sendable (AccessoryPlayer) -> Void) {
        let (timer, generation) = state.withLock { ($0.timer, $0.generation) }
        timer?(delay) { [weak self] in
            guard let self, state.withLock({ $0.generation == generation }) else { return }
            body(self)
        }
    }

    private func scheduleChange(_ number: Int, at index: Int) {
        let characteristic = accessory.characteristics[index]
        guard number < characteristic.changes.count else { return }
        let change = characteristic.changes[number]
        later(change.after) { player in
            player.store(change.value.octets(), at: index)
            let isLast = number + 1 == characteristic.changes.count
            player.scheduleChange(isLast && characteristic.repeatsChanges ? 0 : number + 1, at: index)
        }
    }

    private func store(_ value: [UInt8], at index: Int) {
        state.withLock { $0.machine.set(value, at: index) }
        if accessory.characteristics[index].notifiesChanges { send(value, at: index) }
    }

    /// Sends a value to subscribers, after those that wait for room.
    private func send(_ value: [UInt8], at index: Int) {
        let isNotified = !accessory.characteristics[index].properties.isDisjoint(with: [.notify, .indicate])
        guard isNotified else { return }
        state.withLock { state in
            guard index < state.published.count, state.published[index].subscribedCentrals?.isEmpty == false else {
                return
            }
            if state.waiting.count == AccessoryLimits.waiting { state.waiting.removeFirst() }
            state.waiting.append((index, value))
        }
        flush()
    }

    private func flush() {
        while true {
            let next = state.withLock { state in
                state.waiting.first.map { (state.manager, state.published[$0.index], $0.value) }
            }
            guard let (manager, characteristic, value) = next, let manager,
                manager.updateValue(Data(value), for: characteristic, onSubscribedCentrals: nil)
            else { return }
            state.withLock { if !$0.waiting.isEmpty { $0.waiting.removeFirst() } }
        }
    }

    /// See `CBPeripheralManagerDelegate`.
    public func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) { flush() }

    /// See `CBPeripheralManagerDelegate`.
    public func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didSubscribeTo characteristic: CBCharacteristic
    ) {
        say("a central subscribed to \(characteristic.uuid)")
        guard let index = index(of: characteristic) else { return }
        if state.withLock({ $0.scheduled.insert(index).inserted }) { scheduleNotification(at: index) }
    }

    /// See `CBPeripheralManagerDelegate`.
    public func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didUnsubscribeFrom characteristic: CBCharacteristic
    ) {
        say("a central unsubscribed from \(characteristic.uuid)")
    }

    /// Sends the value after each interval, until the last central has unsubscribed.
    private func scheduleNotification(at index: Int) {
        guard let interval = accessory.characteristics[index].notificationInterval else { return }
        later(interval) { player in
            let value = player.state.withLock { state -> [UInt8]? in
                guard state.published[index].subscribedCentrals?.isEmpty == false else {
                    state.scheduled.remove(index)
                    return nil
                }
                return state.machine.values[index]
            }
            guard let value else { return }
            player.send(value, at: index)
            player.scheduleNotification(at: index)
        }
    }

    private func index(of characteristic: CBCharacteristic) -> Int? {
        state.withLock { $0.published.firstIndex { $0 === characteristic } }
    }
}

// MARK: - Faults

extension AccessoryPlayer {
    /// A service that comes first in the table of newer firmware, so that all handles change.
    private static var newService: CBMutableService {
        let service = CBMutableService(type: CBUUID(string: "6E657766-0001-4861-7261-6C6420303031"), primary: true)
        service.characteristics = [
            CBMutableCharacteristic(
                type: CBUUID(string: "6E657766-0002-4861-7261-6C6420303031"),
                properties: .read,
                value: Data([2]),
                permissions: .readable
            )
        ]
        return service
    }

    /// Publishes the table of newer firmware, with a further service in front.
    func changeTable() {
        let manager = state.withLock { state in
            state.hasNewTable = true
            return state.manager
        }
        if let manager, manager.state == .poweredOn { publish(on: manager) }
    }

    /// Sets the block that is called with each characteristic that was written.
    package func whenWritten(_ body: @escaping @Sendable (Int) -> Void) { state.withLock { $0.whenWritten = body } }

    /// Takes the initial values again.
    package func reset() { state.withLock { $0.machine = AccessoryMachine(accessory) } }

    func notifyAll() {
        for index in accessory.characteristics.indices { send(state.withLock { $0.machine.values[index] }, at: index) }
    }

    func requestParameters() {
        let (manager, published, number) = state.withLock { state in
            state.parameterRequests += 1
            return (state.manager, state.published, state.parameterRequests)
        }
        let centrals = Set(published.flatMap { $0.subscribedCentrals ?? [] })
        for central in centrals {
            manager?.setDesiredConnectionLatency(number.isMultiple(of: 2) ? .low : .high, for: central)
        }
    }
}

// MARK: - Requests

extension AccessoryPlayer {
    /// See `CBPeripheralManagerDelegate`.
    public func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        guard let index = index(of: request.characteristic) else {
            return peripheral.respond(to: request, withResult: .attributeNotFound)
        }
        let answer = state.withLock { $0.machine.read(index, offset: request.offset) }
        perform(answer, to: request, of: peripheral) { _ in }
    }

    /// See `CBPeripheralManagerDelegate`.
    public func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        guard let first = requests.first else { return }
        let parts = requests.compactMap { request in
            index(of: request.characteristic).map { ($0, request.offset, [UInt8](request.value ?? Data())) }
        }
        let writer = first.central.identifier
        let result = state.withLock { state in
            let published = state.published
            return state.machine.write(parts) { index in
                guard published.indices.contains(index) else { return false }
                return published[index].subscribedCentrals?.contains { $0.identifier == writer } ?? false
            }
        }
        perform(result.answer, to: first, of: peripheral) { $0.apply(result) }
    }

    private func apply(_ result: AccessoryMachine.Result) {
        for (index, value) in result.stored.sorted(by: { $0.key < $1.key }) {
            state.withLock { $0.machine.set(value, at: index) }
            say("\(accessory.characteristics[index].uuid) was written: \(hexadecimal(value))")
            state.withLock { $0.whenWritten }?(index)
        }
        for effect in result.effects {
            guard effect.after > .zero else {
                update(effect)
                continue
            }
            let number = state.withLock { $0.cancellations[effect.source, default: 0] }
            later(effect.after) { player in
                let isCurrent = player.state.withLock { $0.cancellations[effect.source, default: 0] == number }
                if isCurrent { player.update(effect) }
            }
        }
    }

    private func update(_ update: AccessoryMachine.TimedUpdate) {
        if update.effect.verb == .cancel {
            return state.withLock { $0.cancellations[update.target, default: 0] += 1 }
        }
        guard let new = state.withLock({ $0.machine.apply(update) }) else { return }
        if !new.isStored || accessory.characteristics[new.index].notifiesChanges { send(new.value, at: new.index) }
    }

    /// Answers after the delay, and then does what follows from the request.
    private func perform(
        _ answer: AccessoryMachine.Answer,
        to request: CBATTRequest,
        of manager: CBPeripheralManager,
        _ then: @escaping @Sendable (AccessoryPlayer) -> Void
    ) {
        guard answer.delay == .zero else {
            return later(answer.delay) { player in
                player.send(answer, to: request, of: manager)
                then(player)
            }
        }
        send(answer, to: request, of: manager)
        then(self)
    }

    private func send(_ answer: AccessoryMachine.Answer, to request: CBATTRequest, of manager: CBPeripheralManager) {
        switch answer.outcome {
        case .success(let value):
            request.value = Data(value)
            manager.respond(to: request, withResult: .success)
        case .error(let code):
            manager.respond(to: request, withResult: CBATTError.Code(rawValue: Int(code)) ?? .unlikelyError)
        case .none:
            state.withLock {
                if $0.unanswered.count == AccessoryLimits.waiting { $0.unanswered.removeFirst() }
                $0.unanswered.append(request)
            }
        }
    }
}

extension AccessoryPlayer {
    /// Begins a fault that the player can play.
    ///
    /// - Parameter fault: The fault.
    /// - Returns: Whether the player can play it.
    @discardableResult
    package func begin(_ fault: DeviceFault) -> Bool {
        switch fault.kind {
        case .lowBattery: setValue([UInt8(fault.value)], of: "2A19")
        case .newFirmware: changeTable()
        case .notificationFlood: flood(fault) { $0.notifyAll() }
        case .parameterFlood: flood(fault) { $0.requestParameters() }
        default: return false
        }
        return true
    }

    /// Ends a flood if it is one.
    package func end(_ fault: DeviceFault) { state.withLock { _ = $0.flooding.remove(fault.kind) } }

    /// Calls `body` many times a second, until the flood ends.
    private func flood(_ fault: DeviceFault, _ body: @escaping @Sendable (AccessoryPlayer) -> Void) {
        let number = state.withLock { state in
            state.floods[fault.kind, default: 0] += 1
            state.flooding.insert(fault.kind)
            return state.floods[fault.kind, default: 0]
        }
        continueFlood(fault, number: number, body)
    }

    private func continueFlood(
        _ fault: DeviceFault,
        number: Int,
        _ body: @escaping @Sendable (AccessoryPlayer) -> Void
    ) {
        later(.microseconds(Int64(1_000_000 / fault.value))) { player in
            let isFlooding = player.state.withLock {
                $0.flooding.contains(fault.kind) && $0.floods[fault.kind] == number
            }
            guard isFlooding else { return }
            body(player)
            player.continueFlood(fault, number: number, body)
        }
    }
}
