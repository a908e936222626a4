import ATT
import BluetoothTypes
import Foundation
import GATT
import ServiceMessages

/// The subscriptions of the managers of one link to the peer's characteristics (behaviours 5.16 to 5.18). Used on the
/// loop only.
final class LinkSubscriptions {
    /// The maximum number of characteristics without a client configuration whose values are delivered.
    static let maximumListened = 256

    /// Called before values are delivered to an app in whose place the user may have to be alerted.
    var onAlert: (() -> Void)?
    /// Called with each value, before apps receive it.
    var onValue: ((AttributeHandle, PacketBuffer) -> Void)?

    private let client: GATTClient
    private let attributes: RemoteAttributes
    private let operations: LinkOperations
    private let users: Attachments
    private var arbiters: [AttributeHandle: SubscriptionArbiter<ManagerKey>] = [:]

    init(_ client: GATTClient, _ attributes: RemoteAttributes, _ operations: LinkOperations, _ users: Attachments) {
        self.client = client
        self.attributes = attributes
        self.operations = operations
        self.users = users
        client.onValue = { [weak self] handle, value, _ in self?.deliver(value, of: handle) }
    }

    func set(_ isEnabled: Bool, _ handle: AttributeHandle, for asker: Asker) {
        guard let characteristic = attributes.characteristic(at: handle) else {
            return asker.answer(.notifyStateChanged(handle, isNotifying: false, .unknown(handle)))
        }
        guard !characteristic.properties.isDisjoint(with: [.notify, .indicate]) else {
            let reason = "the characteristic supports neither notifications nor indications"
            let error = ServiceError(att: .requestNotSupported, reason: reason)
            return asker.answer(.notifyStateChanged(handle, isNotifying: false, error))
        }
        self.handle(.request(asker.user.key, enabled: isEnabled, number: asker.number), of: handle)
    }

    /// Whether a manager is subscribed to the characteristic whose value is at `handle`.
    func contains(_ user: Attachment, _ handle: AttributeHandle) -> Bool {
        arbiters[handle]?.subscribers.contains(user.key) ?? false
    }

    /// Whether any manager is subscribed to the characteristic whose value is at `handle`.
    func hasSubscribers(_ handle: AttributeHandle) -> Bool { arbiters[handle]?.subscribers.isEmpty == false }

    func remove(_ user: Attachment) {
        for handle in arbiters.keys.sorted() { self.handle(.leave(user.key), of: handle) }
    }

    /// Ends the subscriptions to characteristics that are gone. Pending requests fail (behaviour 15.11).
    func invalidate(_ range: ClosedRange<AttributeHandle>) {
        for handle in arbiters.keys.sorted() where range.contains(handle) {
            self.handle(.gone(.unknown(handle)), of: handle)
        }
    }

    func close() { arbiters = [:] }

    private func handle(_ event: SubscriptionArbiter<ManagerKey>.Event, of handle: AttributeHandle) {
        let actions = arbiters[handle, default: SubscriptionArbiter()].handle(event)
        for action in actions {
            switch action {
            case .write(let isEnabled):
                writeConfiguration(isEnabled, of: handle)
            case .report(let manager, let isNotifying, let error, let number):
                guard let user = users[manager] else { continue }
                let event = PeerEvent.notifyStateChanged(handle, isNotifying: isNotifying, error)
                Asker(user: user, number: number).answer(event)
            }
        }
        if arbiters[handle]?.isIdle == true { arbiters[handle] = nil }
    }

    private func writeConfiguration(_ isEnabled: Bool, of handle: AttributeHandle) {
        let isAccepted = operations.add { [weak self] done in
            guard let self, let characteristic = attributes.characteristic(at: handle) else {
                self?.configurationWritten(handle, .failure(.unknown(handle)))
                return done()
            }
            client.setNotifying(isEnabled, characteristic) { [weak self] result in
                guard let self else { return done() }
                let isAbsent = result.failure?.lacksConfiguration ?? false
                configurationWritten(handle, result.mapError(attributes.serviceError), mayListen: isAbsent)
                done()
            }
        }
        if !isAccepted { configurationWritten(handle, .failure(.linkIsFull)) }
    }

    /// Ends the pending write of a subscription. After Service Changed the subscription may be gone; at the end of the
    /// link nothing is reported (behaviour 3.39).
    ///
    /// - Parameter mayListen: Whether the peer has no client configuration, so that the manager receives what the peer
    ///   sends without one, up to ``maximumListened`` characteristics (behaviour 4.21, AB-A09).
    private func configurationWritten(
        _ handle: AttributeHandle,
        _ result: Result<Void, ServiceError>,
        mayListen: Bool = false
    ) {
        guard let arbiter = arbiters[handle], !operations.isOver() else { return }
        if mayListen, case .failure(let error) = result,
            arbiter.hasListeners || arbiters.values.count(where: \.hasListeners) < Self.maximumListened
        {
            self.handle(.absent(error), of: handle)
        } else {
            self.handle(.written(result), of: handle)
        }
    }

    /// Delivers a notification or indication to the managers that asked for it. Other values are dropped (AB-A09).
    private func deliver(_ value: PacketBuffer, of handle: AttributeHandle) {
        onValue?(handle, value)
        guard let arbiter = arbiters[handle] else { return }
        operations.reportKnownOutcomes(of: handle)
        if users.all.contains(where: { $0.showsAlerts && arbiter.delivers(to: $0.key) }) { onAlert?() }
        for user in users.all where arbiter.delivers(to: user.key) { user.emit(.valueNotified(handle, value)) }
    }
}
