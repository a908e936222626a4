import BluetoothTypes
import Foundation
import GAP
import GATT
import HCIHost

// MARK: - Reading and writing

extension PeerLink {
    /// Reads a characteristic for a manager.
    func read(_ handle: AttributeHandle, for asker: Asker) {
        let event = { PeerEvent.valueRead(handle, $0) }
        run(lookingAt: handle, for: asker, orFail: { event(.failure($0)) }) { link, finish in
            guard link.database.characteristic(at: handle) != nil else {
                return finish(event(.failure(.unknown(handle))))
            }
            link.client.read(handle) {
                if case .success(let value) = $0 { link.database.remember(value, of: handle) }
                finish(event($0.mapError(link.serviceError)))
            }
        }
    }

    /// Reads a descriptor for a manager.
    func readDescriptor(_ handle: AttributeHandle, for asker: Asker) {
        let event = { PeerEvent.descriptorUpdated(handle, $0) }
        run(lookingAt: handle, for: asker, orFail: { event(.failure($0)) }) { link, finish in
            guard link.database.descriptor(at: handle) != nil else {
                return finish(event(.failure(.unknown(handle))))
            }
            link.client.read(handle) { finish(event($0.mapError(link.serviceError))) }
        }
    }

    /// Writes a characteristic with response for a manager.
    func write(_ value: PacketBuffer, to handle: AttributeHandle, for asker: Asker) {
        let event = { PeerEvent.valueWritten(handle, $0) }
        run(for: asker, orFail: event) { link, finish in
            guard link.database.characteristic(at: handle) != nil else { return finish(event(.unknown(handle))) }
            link.client.write(value, to: handle) { finish(event($0.failure.map(link.serviceError))) }
        }
    }

    /// Writes a descriptor for a manager. The client configuration can only be written by the system (behaviour 4.7).
    func writeDescriptor(_ value: PacketBuffer, to handle: AttributeHandle, for asker: Asker) {
        let event = { PeerEvent.descriptorWritten(handle, $0) }
        run(for: asker, orFail: event) { link, finish in
            guard let descriptor = link.database.descriptor(at: handle) else {
                return finish(event(.unknown(handle)))
            }
            guard descriptor.uuid != GATTUUID.clientConfiguration else {
                return finish(event(ServiceError(.invalidParameters, reason: "only the system writes this descriptor")))
            }
            link.client.write(value, to: handle) { finish(event($0.failure.map(link.serviceError))) }
        }
    }

    /// Queues a write without response (behaviours 5.11 to 5.13).
    func writeWithoutResponse(_ value: PacketBuffer, to handle: AttributeHandle, for user: Attachment) {
        user.spendWriteCredit()
        guard let characteristic = database.characteristic(at: handle),
            characteristic.properties.contains(.writeWithoutResponse)
        else {
            system.misuse(
                "a write without response was dropped because the attribute does not support it",
                by: user.subject
            )
            return user.returnWriteCredit(waiting: waitingCommands(of: user))
        }
        guard waitingCommands(of: user) < ServiceLimits.writesWithoutResponse else {
            return system.misuse("a write without response was dropped because the queue is full", by: user.subject)
        }
        commands.append((user, handle, value))
        sendCommands()
    }

    /// Sends queued writes in order while the link accepts them.
    func sendCommands() {
        while let command = commands.first, client.write(command.value, withoutResponseTo: command.handle) {
            commands.removeFirst()
            command.user.returnWriteCredit(waiting: waitingCommands(of: command.user))
        }
    }

    private func waitingCommands(of user: Attachment) -> Int {
        commands.reduce(0) { $0 + ($1.user === user ? 1 : 0) }
    }

    /// Reads the signal strength. It is not an attribute, so the request does not wait for the queue of procedures.
    func readRSSI(for asker: Asker) {
        readStrength { result in
            let rssi = result.mapError { ServiceError(.unknown, reason: "reading the signal strength failed: \($0)") }
            asker.answer(.rssiRead(rssi))
        }
    }
}

extension PeerLink {
    /// Reads the signal strength from the controller, once for all requests that arrive before it answers.
    func readStrength(_ completion: @escaping (Result<Int, HCICommandError>) -> Void) {
        guard strengthRequests.count < ServiceLimits.linkRequests.total else { return completion(.failure(.queueFull)) }
        strengthRequests.append(completion)
        guard strengthRequests.count == 1 else { return }
        link.readRSSI { [weak self] result in
            let waiting = self?.strengthRequests ?? []
            self?.strengthRequests = []
            for completion in waiting { completion(result) }
        }
    }
}

// MARK: - Subscriptions

extension PeerLink {
    /// Subscribes or unsubscribes a manager (behaviours 5.16 to 5.18).
    func setNotify(_ isEnabled: Bool, _ handle: AttributeHandle, for asker: Asker) {
        guard let characteristic = database.characteristic(at: handle) else {
            return asker.answer(.notifyStateChanged(handle, isNotifying: false, .unknown(handle)))
        }
        guard !characteristic.properties.isDisjoint(with: [.notify, .indicate]) else {
            let error = ServiceError(
                att: ATTStatus(rawValue: 0x06),
                reason: "the characteristic supports neither notifications nor indications"
            )
            return asker.answer(.notifyStateChanged(handle, isNotifying: false, error))
        }
        subscription(handle, .request(asker.user.key, enabled: isEnabled, number: asker.number))
    }

    func subscription(_ handle: AttributeHandle, _ event: SubscriptionArbiter<ManagerKey>.Event) {
        let actions = subscriptions[handle, default: SubscriptionArbiter()].handle(event)
        for action in actions {
            switch action {
            case .write(let isEnabled):
                writeConfiguration(isEnabled, of: handle)
            case .report(let manager, let isNotifying, let error, let number):
                guard let user = users.first(where: { $0.key == manager }) else { continue }
                let event = PeerEvent.notifyStateChanged(handle, isNotifying: isNotifying, error)
                Asker(user: user, number: number).answer(event)
            }
        }
        if subscriptions[handle]?.isIdle == true { subscriptions[handle] = nil }
    }

    private func writeConfiguration(_ isEnabled: Bool, of handle: AttributeHandle) {
        let isAccepted = operations.add { [weak self] done in
            guard let self, let characteristic = database.characteristic(at: handle) else {
                self?.configurationWritten(handle, .failure(.unknown(handle)))
                return done()
            }
            client.setNotifying(isEnabled, characteristic) { [weak self] result in
                guard let self else { return done() }
                configurationWritten(handle, result.mapError(serviceError))
                done()
            }
        }
        if !isAccepted { configurationWritten(handle, .failure(.linkIsFull)) }
    }

    /// Ends the pending write of a subscription. After Service Changed the subscription may be gone; at the end of the
    /// link nothing is reported (behaviour 3.39).
    private func configurationWritten(_ handle: AttributeHandle, _ result: Result<Void, ServiceError>) {
        if subscriptions[handle] != nil, !isOver { subscription(handle, .written(result)) }
    }

    /// Delivers a notification or indication to the subscribed managers. Values without a subscriber are dropped
    /// (AB-A09).
    func valueArrived(_ value: PacketBuffer, of handle: AttributeHandle) {
        guard let subscribers = subscriptions[handle]?.subscribers else { return }
        operations.tellWhatIsKnown(of: handle)
        if users.contains(where: { $0.isAlertedFor && subscribers.contains($0.key) }) {
            system.alert(.notified, of: peer)
        }
        for user in users where subscribers.contains(user.key) {
            user.emit(.valueNotified(handle, value))
        }
    }
}

extension Result where Failure == GATTError {
    /// The error of a failure; nil on success.
    fileprivate var failure: GATTError? {
        if case .failure(let error) = self { error } else { nil }
    }
}
