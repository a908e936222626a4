import BluetoothService
import BluetoothTypes
import CoreBluetooth
import Foundation
import Synchronization

/// What a peripheral is found by: more than `startAdvertising(_:)` takes, which keeps to Apple's way (behaviours 7.15, 15.16).
///
/// There are 28 octets in the advertisement and 10 in the scan response for all apps of a system together, two for the header of each
/// part counted. Data go on the air whole or are refused; then services, of which those without room are in the overflow area, and then the
/// name, which may be shortened (behaviours 7.18 to 7.22).
public struct AdvertisedContent: Hashable, Sendable {
    /// The name.
    public var localName: String?
    /// Services, the most important first.
    public var services: [CBUUID]
    /// The company's number, least significant octet first, and its data.
    public var manufacturerData: Data?
    /// Data by service.
    public var serviceData: [CBUUID: Data]

    /// Any of these.
    public init(
        localName: String? = nil,
        services: [CBUUID] = [],
        manufacturerData: Data? = nil,
        serviceData: [CBUUID: Data] = [:]
    ) {
        self.localName = localName
        self.services = services
        self.manufacturerData = manufacturerData
        self.serviceData = serviceData
    }
}

extension AdvertisingRequest {
    fileprivate init(_ content: AdvertisedContent, number: UInt32) {
        self.init(localName: content.localName, services: content.services.map(\.uuid))
        manufacturerData = content.manufacturerData.map { PacketBuffer(copying: $0) }
        serviceData = content.serviceData.sorted { $0.key.uuidString < $1.key.uuidString }
            .map { LocalDescriptor(uuid: $0.key.uuid, value: PacketBuffer(copying: $0.value)) }
        self.number = number
    }
}

extension CBPeripheralManager {
    /// Advertises until `stopAdvertising()`, and waits until it does. Data that do not fit are `CBError.outOfSpace`, which says in its
    /// debug description how many octets there are.
    ///
    /// Where the power goes, or the call is cancelled, before the answer, advertising begins all the same, as in
    /// `startAdvertising(_:)`, unless it is stopped.
    public func startAdvertising(_ content: AdvertisedContent) async throws {
        let call = Wait<Void>()
        let extras = extras
        let number = extras.state.withLock { state in
            let number = state.nextNumber()
            state.starts[number] = call
            return number
        }
        if !ask(.startAdvertising(AdvertisingRequest(content, number: number))) {
            extras.state.withLock { _ = $0.starts.removeValue(forKey: number) }
            throw ExtrasError.notPoweredOn(state)
        }
        try await call.value()
    }
}
