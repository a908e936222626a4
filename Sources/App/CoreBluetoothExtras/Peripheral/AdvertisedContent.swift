import BluetoothTypes
import CoreBluetooth
import Foundation
import ServiceMessages
import Synchronization

/// The data of an advertisement, with more than Core Bluetooth's `startAdvertising(_:)` accepts by Apple's rules
/// (behaviours 7.15, 15.16).
///
/// The advertisement has 28 octets and the scan response 10, for all apps of a system together and with a header of two
/// octets for each part. Manufacturer and service data are advertised in full or refused. Services come next, and those
/// without room go to the overflow area. The name comes last and may be shortened (behaviours 7.18 to 7.22).
public struct AdvertisedContent: Hashable, Sendable {
    /// The name, which may be shortened (behaviour 7.21).
    public var localName: String?
    /// The services, the most important first.
    public var services: [CBUUID]
    /// Manufacturer specific data, which begins with the company identifier, least significant octet first.
    public var manufacturerData: Data?
    /// Service data, in octets without their UUID, by service.
    public var serviceData: [CBUUID: Data]

    /// Creates the data of an advertisement.
    ///
    /// - Parameters:
    ///   - localName: The name.
    ///   - services: The services, the most important first.
    ///   - manufacturerData: Manufacturer specific data, which begins with the company identifier, least significant
    ///     octet first.
    ///   - serviceData: Data by service.
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
    /// Starts to advertise, until `stopAdvertising()`, and waits until it has started.
    ///
    /// If Bluetooth is switched off or the task is cancelled before the response, advertising starts nevertheless,
    /// unless it is stopped.
    ///
    /// - Parameter content: The data to advertise.
    /// - Throws: `CBError.outOfSpace` if manufacturer or service data do not fit, with the number of octets in its
    ///   debug description (behaviour 15.16); any other `CBError`, ``ExtrasError/notPoweredOn(_:)`` or
    ///   `CancellationError`.
    public func advertise(_ content: AdvertisedContent) async throws {
        let call = Wait<Void>()
        let extras = extras
        let number = extras.add(call, to: \.starts)
        if !ask(.startAdvertising(AdvertisingRequest(content, number: number))) {
            extras.state.withLock { _ = $0.starts.removeValue(forKey: number) }
            throw ExtrasError.notPoweredOn(state)
        }
        try await call.value()
    }
}

extension CBUUID {
    /// The bit of Apple's overflow area that stands for this service, from 0 to 127 (behaviours 2.31 to 2.33, 15.17).
    ///
    /// A device that offers a service without room for its UUID sets the bit. Services share bits, so a set bit means
    /// that the device may offer the service.
    ///
    /// The area is manufacturer data of Apple, 0x004C: the type octet 0x01, followed by 16 octets of bits. Bit 0 is the
    /// most significant bit of the first octet. The number consists of the low seven bits of an 8-bit CRC (polynomial
    /// 0x09, initial value 0x15, most significant bit first, no reflection) over the 16 octets of the UUID as printed.
    public var overflowBit: Int { OverflowArea.index(of: uuid) }
}
