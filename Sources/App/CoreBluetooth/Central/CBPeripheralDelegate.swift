import Foundation

/// The events of a ``CBPeripheral``: the outcome of requests, notified values, and changes of the peripheral.
///
/// Methods are called on the queue of the peripheral's manager, one after the other in the order of events if the queue
/// is serial (behaviours 13.1, 13.3). The callback for a request never comes before the method that made the request
/// has returned (behaviour 13.2). Requests that are under way when the connection ends have no callback
/// (behaviours 3.13, 3.39). Every method is optional.
public protocol CBPeripheralDelegate: NSObjectProtocol {
    /// Tells the delegate that the peripheral has changed its GAP device name (behaviour 2.24).
    ///
    /// - Parameter peripheral: The peripheral; ``CBPeripheral/name`` is the new name.
    func peripheralDidUpdateName(_ peripheral: CBPeripheral)

    /// Tells the delegate that services were removed or changed.
    ///
    /// The objects of these services, and of everything that belongs to them, are no longer valid. Discover the
    /// services again; objects of other services stay valid (behaviour 4.13).
    ///
    /// - Parameters:
    ///   - peripheral: The peripheral.
    ///   - invalidatedServices: The services, as this app knew them.
    func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService])

    /// Tells the delegate the result of ``CBPeripheral/readRSSI()`` (behaviour 5.24).
    ///
    /// - Parameters:
    ///   - peripheral: The peripheral.
    ///   - RSSI: The signal strength of the link in dBm; 127 if it could not be read (behaviour 2.13).
    ///   - error: The reason for a failure, or nil.
    func peripheral(_ peripheral: CBPeripheral, didReadRSSI RSSI: NSNumber, error: (any Error)?)

    /// Never called: an old form of ``peripheral(_:didReadRSSI:error:)``, here so that old code compiles.
    func peripheralDidUpdateRSSI(_ peripheral: CBPeripheral, error: (any Error)?)

    /// Tells the delegate the outcome of ``CBPeripheral/discoverServices(_:)``.
    ///
    /// - Parameters:
    ///   - peripheral: The peripheral; ``CBPeripheral/services`` has all services discovered so far (behaviour 4.2).
    ///   - error: The reason for a failure, or nil. Finding nothing is no error (behaviour 4.4).
    func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?)

    /// Tells the delegate the outcome of ``CBPeripheral/discoverIncludedServices(_:for:)``.
    ///
    /// - Parameters:
    ///   - peripheral: The peripheral.
    ///   - service: The service; ``CBService/includedServices`` has all included services discovered so far
    ///     (behaviour 4.2).
    ///   - error: The reason for a failure, or nil. Finding nothing is no error (behaviour 4.4).
    func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverIncludedServicesFor service: CBService,
        error: (any Error)?
    )

    /// Tells the delegate the outcome of ``CBPeripheral/discoverCharacteristics(_:for:)``.
    ///
    /// - Parameters:
    ///   - peripheral: The peripheral.
    ///   - service: The service; ``CBService/characteristics`` has all characteristics discovered so far
    ///     (behaviour 4.2).
    ///   - error: The reason for a failure, or nil. Finding nothing is no error (behaviour 4.4).
    func peripheral(_ peripheral: CBPeripheral, didDiscoverCharacteristicsFor service: CBService, error: (any Error)?)

    /// Tells the delegate that a value was read, notified or indicated, or that a read has failed.
    ///
    /// Reads, notifications and indications share this callback and cannot be told apart (behaviour 5.1). With
    /// CoreBluetoothExtras, `read(_:deadline:)` and `notifications(of:)` keep them apart (behaviour 15.1).
    ///
    /// - Parameters:
    ///   - peripheral: The peripheral.
    ///   - characteristic: The characteristic; ``CBCharacteristic/value`` has the value, until the next one overwrites
    ///     it (behaviour 5.20).
    ///   - error: The reason why a read failed, or nil.
    func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    )

    /// Tells the delegate the outcome of a write with response. Writes without response have no callback
    /// (behaviour 5.5).
    ///
    /// - Parameters:
    ///   - peripheral: The peripheral.
    ///   - characteristic: The characteristic. Its `value` does not change.
    ///   - error: The reason for a failure, or nil.
    func peripheral(_ peripheral: CBPeripheral, didWriteValueFor characteristic: CBCharacteristic, error: (any Error)?)

    /// Tells the delegate the outcome of ``CBPeripheral/setNotifyValue(_:for:)``.
    ///
    /// - Parameters:
    ///   - peripheral: The peripheral.
    ///   - characteristic: The characteristic; ``CBCharacteristic/isNotifying`` is the new state (behaviour 4.17).
    ///   - error: The reason for a failure, or nil.
    func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    )

    /// Tells the delegate the outcome of ``CBPeripheral/discoverDescriptors(for:)``.
    ///
    /// - Parameters:
    ///   - peripheral: The peripheral.
    ///   - characteristic: The characteristic; ``CBCharacteristic/descriptors`` has all descriptors discovered so far
    ///     (behaviour 4.2).
    ///   - error: The reason for a failure, or nil. Finding nothing is no error (behaviour 4.4).
    func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverDescriptorsFor characteristic: CBCharacteristic,
        error: (any Error)?
    )

    /// Tells the delegate the outcome of reading a descriptor.
    ///
    /// - Parameters:
    ///   - peripheral: The peripheral.
    ///   - descriptor: The descriptor; ``CBDescriptor/value`` has the value.
    ///   - error: The reason for a failure, or nil.
    func peripheral(_ peripheral: CBPeripheral, didUpdateValueFor descriptor: CBDescriptor, error: (any Error)?)

    /// Tells the delegate the outcome of writing a descriptor.
    ///
    /// - Parameters:
    ///   - peripheral: The peripheral.
    ///   - descriptor: The descriptor. Its `value` does not change.
    ///   - error: The reason for a failure, or nil.
    func peripheral(_ peripheral: CBPeripheral, didWriteValueFor descriptor: CBDescriptor, error: (any Error)?)

    /// Tells the delegate that ``CBPeripheral/canSendWriteWithoutResponse`` has become true.
    ///
    /// It is called once each time that the room for writes without response was used up (behaviours 5.13, 5.15).
    ///
    /// - Parameter peripheral: The peripheral.
    func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral)

    /// Tells the delegate the outcome of ``CBPeripheral/openL2CAPChannel(_:)``.
    ///
    /// There is one call for each channel that was asked for, in the order of asking. If the connection ends first, the
    /// call comes with an error, before the disconnection is reported (behaviours 8.5, 8.12).
    ///
    /// - Parameters:
    ///   - peripheral: The peripheral.
    ///   - channel: The channel, or nil. Keep it: without a reference it closes (behaviour 8.7).
    ///   - error: The reason for a failure, or nil.
    func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?)

    /// Tells the delegate the result of a Channel Sounding procedure. Never called so far, since no controller supports
    /// it.
    ///
    /// - Parameters:
    ///   - peripheral: The peripheral.
    ///   - results: The result, or nil.
    ///   - error: The reason for a failure, or nil.
    func peripheral(
        _ peripheral: CBPeripheral,
        didReceive results: CBChannelSoundingProcedureResults?,
        error: (any Error)?
    )

    /// Tells the delegate that a Channel Sounding session has ended or could not start.
    ///
    /// - Parameters:
    ///   - peripheral: The peripheral.
    ///   - error: The reason for a failure, or nil.
    func peripheral(_ peripheral: CBPeripheral, didCompleteChannelSoundingSession error: (any Error)?)
}

/// Default implementations, so that every method is optional.
extension CBPeripheralDelegate {
    /// Ignores the change; ``CBPeripheral/name`` is the new name.
    public func peripheralDidUpdateName(_ peripheral: CBPeripheral) {}

    /// Ignores the change. The objects of these services are no longer valid all the same (behaviour 4.13).
    public func peripheral(_ peripheral: CBPeripheral, didModifyServices invalidatedServices: [CBService]) {}

    /// Ignores the result, which ``CBPeripheral/rssi`` keeps.
    public func peripheral(_ peripheral: CBPeripheral, didReadRSSI RSSI: NSNumber, error: (any Error)?) {}

    /// Never called, like the requirement itself.
    public func peripheralDidUpdateRSSI(_ peripheral: CBPeripheral, error: (any Error)?) {}

    /// Ignores the outcome; ``CBPeripheral/services`` has the services found.
    public func peripheral(_ peripheral: CBPeripheral, didDiscoverServices error: (any Error)?) {}

    /// Ignores the outcome; ``CBService/includedServices`` has the services found.
    public func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverIncludedServicesFor service: CBService,
        error: (any Error)?
    ) {}

    /// Ignores the outcome; ``CBService/characteristics`` has the characteristics found.
    public func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverCharacteristicsFor service: CBService,
        error: (any Error)?
    ) {}

    /// Ignores the value, which ``CBCharacteristic/value`` keeps until the next one.
    public func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {}

    /// Ignores the outcome: a failed write goes unnoticed.
    public func peripheral(
        _ peripheral: CBPeripheral,
        didWriteValueFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {}

    /// Ignores the outcome; ``CBCharacteristic/isNotifying`` has the current state.
    public func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateNotificationStateFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {}

    /// Ignores the outcome; ``CBCharacteristic/descriptors`` has the descriptors found.
    public func peripheral(
        _ peripheral: CBPeripheral,
        didDiscoverDescriptorsFor characteristic: CBCharacteristic,
        error: (any Error)?
    ) {}

    /// Ignores the value, which ``CBDescriptor/value`` keeps until the next one.
    public func peripheral(
        _ peripheral: CBPeripheral,
        didUpdateValueFor descriptor: CBDescriptor,
        error: (any Error)?
    ) {}

    /// Ignores the outcome: a failed write goes unnoticed.
    public func peripheral(
        _ peripheral: CBPeripheral,
        didWriteValueFor descriptor: CBDescriptor,
        error: (any Error)?
    ) {}

    /// Ignores the event; ``CBPeripheral/canSendWriteWithoutResponse`` has the current state.
    public func peripheralIsReady(toSendWriteWithoutResponse peripheral: CBPeripheral) {}

    /// Ignores the channel, which therefore closes (behaviour 8.7).
    public func peripheral(_ peripheral: CBPeripheral, didOpen channel: CBL2CAPChannel?, error: (any Error)?) {}

    /// Ignores the result. Never called so far, since no controller supports Channel Sounding.
    public func peripheral(
        _ peripheral: CBPeripheral,
        didReceive results: CBChannelSoundingProcedureResults?,
        error: (any Error)?
    ) {}

    /// Ignores the end of the session, and the error if it could not start.
    public func peripheral(_ peripheral: CBPeripheral, didCompleteChannelSoundingSession error: (any Error)?) {}
}
