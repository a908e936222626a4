import Foundation

/// The events of a ``CBPeripheralManager``: changes of its state, the outcome of its commands, and the requests of
/// centrals.
///
/// Methods are called on the manager's queue, one after the other in the order of events if the queue is serial
/// (behaviours 13.1, 13.3). The callback for a command never comes before the method that gave it has returned
/// (behaviour 13.2). Only ``peripheralManagerDidUpdateState(_:)`` is required (behaviour 1.2).
public protocol CBPeripheralManagerDelegate: NSObjectProtocol {
    /// Tells the delegate that the manager's state has changed.
    ///
    /// Below `poweredOn`, advertising is paused and all centrals are disconnected. Below `poweredOff`, advertising has
    /// stopped for good and no service is published any more (behaviour 1.13).
    ///
    /// - Parameter peripheral: The manager; ``CBManager/state`` has the new state.
    func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager)

    /// Tells the delegate that the manager continues in place of one with the same restore identifier whose app has
    /// ended.
    ///
    /// This is the first callback of such a manager (behaviours 10.7, 13.9). Commands are misuse until the state is
    /// `poweredOn` (behaviour 10.11).
    ///
    /// - Parameters:
    ///   - peripheral: The manager.
    ///   - dict: The preserved state, by the `CBPeripheralManagerRestoredState` keys, any of which may be missing
    ///     (behaviour 10.12).
    func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any])

    /// Tells the delegate the outcome of ``CBPeripheralManager/startAdvertising(_:)`` (behaviour 7.16).
    ///
    /// - Parameters:
    ///   - peripheral: The manager.
    ///   - error: The reason for a failure, or nil.
    func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?)

    /// Tells the delegate the outcome of ``CBPeripheralManager/add(_:)`` (behaviour 7.1).
    ///
    /// - Parameters:
    ///   - peripheral: The manager.
    ///   - service: The object that was added.
    ///   - error: The reason for a failure, or nil.
    func peripheralManager(_ peripheral: CBPeripheralManager, didAdd service: CBService, error: (any Error)?)

    /// Tells the delegate that a central has subscribed to a characteristic (behaviour 7.40).
    ///
    /// - Parameters:
    ///   - peripheral: The manager.
    ///   - central: The central.
    ///   - characteristic: The characteristic; its `subscribedCentrals` contains the central.
    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didSubscribeTo characteristic: CBCharacteristic
    )

    /// Tells the delegate that a central has unsubscribed from a characteristic, or has disconnected (behaviour 7.40).
    ///
    /// - Parameters:
    ///   - peripheral: The manager.
    ///   - central: The central.
    ///   - characteristic: The characteristic; its `subscribedCentrals` no longer contains the central.
    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didUnsubscribeFrom characteristic: CBCharacteristic
    )

    /// Tells the delegate that a central reads a characteristic that has no cached value (behaviour 7.31).
    ///
    /// Set the request's `value` to the octets from its `offset` on, and answer with
    /// ``CBPeripheralManager/respond(to:withResult:)`` once. A value that fills the response brings further requests
    /// with larger offsets (behaviour 7.32).
    ///
    /// - Parameters:
    ///   - peripheral: The manager.
    ///   - request: The request.
    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest)

    /// Tells the delegate that a central writes one or more values.
    ///
    /// Accept all of the writes or none, and answer with ``CBPeripheralManager/respond(to:withResult:)`` once, with the
    /// first request (behaviours 7.34, 7.35). Writes without response come here as well (behaviour 7.36).
    ///
    /// - Parameters:
    ///   - peripheral: The manager.
    ///   - requests: The writes, in order; at least one.
    func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest])

    /// Tells the delegate that there is room for updates again.
    ///
    /// It is called once after each time that ``CBPeripheralManager/updateValue(_:for:onSubscribedCentrals:)`` has
    /// returned false (behaviour 7.43).
    ///
    /// - Parameter peripheral: The manager.
    func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager)

    /// Tells the delegate the outcome of ``CBPeripheralManager/publishL2CAPChannel(withEncryption:)`` (behaviour 8.1).
    ///
    /// - Parameters:
    ///   - peripheral: The manager.
    ///   - PSM: The PSM on which channels are accepted; of no meaning if there is an error.
    ///   - error: The reason for a failure, or nil.
    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        didPublishL2CAPChannel PSM: CBL2CAPPSM,
        error: (any Error)?
    )

    /// Tells the delegate that channels are no longer accepted on a PSM (behaviour 8.9).
    ///
    /// - Parameters:
    ///   - peripheral: The manager.
    ///   - PSM: The PSM.
    ///   - error: The reason for a failure, or nil.
    func peripheralManager(
        _ peripheral: CBPeripheralManager,
        didUnpublishL2CAPChannel PSM: CBL2CAPPSM,
        error: (any Error)?
    )

    /// Tells the delegate that a central has opened an L2CAP channel (behaviour 8.10).
    ///
    /// - Parameters:
    ///   - peripheral: The manager.
    ///   - channel: The channel. Keep it: without a reference it closes (behaviour 8.7).
    ///   - error: Always nil here.
    func peripheralManager(_ peripheral: CBPeripheralManager, didOpen channel: CBL2CAPChannel?, error: (any Error)?)
}

/// Default implementations, so that every method but ``peripheralManagerDidUpdateState(_:)`` is optional.
extension CBPeripheralManagerDelegate {
    /// Ignores the preserved state. The services stay published.
    public func peripheralManager(_ peripheral: CBPeripheralManager, willRestoreState dict: [String: Any]) {
        OmittedMethod.noteDefaultCall()
    }

    /// Ignores the outcome; ``CBPeripheralManager/isAdvertising`` shows it.
    public func peripheralManagerDidStartAdvertising(_ peripheral: CBPeripheralManager, error: (any Error)?) {}

    /// Ignores the outcome: a service that could not be added goes unnoticed.
    public func peripheralManager(
        _ peripheral: CBPeripheralManager,
        didAdd service: CBService,
        error: (any Error)?
    ) {}

    /// Ignores the event; ``CBMutableCharacteristic/subscribedCentrals`` lists the subscribers.
    public func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didSubscribeTo characteristic: CBCharacteristic
    ) {}

    /// Ignores the event; ``CBMutableCharacteristic/subscribedCentrals`` lists the remaining subscribers.
    public func peripheralManager(
        _ peripheral: CBPeripheralManager,
        central: CBCentral,
        didUnsubscribeFrom characteristic: CBCharacteristic
    ) {}

    /// Refuses the read with `requestNotSupported`, so that the central does not wait in vain.
    public func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveRead request: CBATTRequest) {
        peripheral.respond(to: request, withResult: .requestNotSupported)
    }

    /// Refuses the writes with `requestNotSupported`, so that the central does not wait in vain.
    public func peripheralManager(_ peripheral: CBPeripheralManager, didReceiveWrite requests: [CBATTRequest]) {
        if let first = requests.first { peripheral.respond(to: first, withResult: .requestNotSupported) }
    }

    /// Ignores the event. An update that did not fit is not sent again.
    public func peripheralManagerIsReady(toUpdateSubscribers peripheral: CBPeripheralManager) {}

    /// Ignores the outcome, and with it the PSM that centrals need.
    public func peripheralManager(
        _ peripheral: CBPeripheralManager,
        didPublishL2CAPChannel PSM: CBL2CAPPSM,
        error: (any Error)?
    ) {}

    /// Ignores the outcome: a failure goes unnoticed.
    public func peripheralManager(
        _ peripheral: CBPeripheralManager,
        didUnpublishL2CAPChannel PSM: CBL2CAPPSM,
        error: (any Error)?
    ) {}

    /// Ignores the channel, which therefore closes (behaviour 8.7).
    public func peripheralManager(
        _ peripheral: CBPeripheralManager,
        didOpen channel: CBL2CAPChannel?,
        error: (any Error)?
    ) {}
}
