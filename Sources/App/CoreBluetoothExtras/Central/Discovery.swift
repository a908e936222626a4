import BluetoothTypes
import CoreBluetooth
import Foundation
import ServiceMessages

/// An advertisement of a peripheral, as received by a scan.
public struct Discovery: Sendable {
    /// The contents of an advertisement. What the packet lacks is nil or empty (behaviour 2.9).
    public struct Content: Sendable {
        /// The advertised name, complete or shortened.
        public var localName: String?
        /// Manufacturer specific data, which begins with the company identifier, least significant octet first.
        public var manufacturerData: Data?
        /// Service data, in octets without their UUID, by service.
        public var serviceData: [CBUUID: Data]
        /// The services in the packets themselves.
        public var services: [CBUUID]
        /// The services of the scan whose bits are set in the overflow area of an Apple device. Services share bits, so
        /// these are possible matches (behaviours 2.34, 2.35).
        public var overflowServices: [CBUUID]
        /// The services that the peripheral looks for in a central.
        public var solicitedServices: [CBUUID]
        /// The transmit power in dBm.
        public var txPowerLevel: Int?
        /// Whether this very advertisement was connectable (behaviour 2.12).
        public var isConnectable: Bool
    }

    /// The peripheral, the same object for the same device (behaviour 2.21).
    public var peripheral: CBPeripheral
    /// The contents of the advertisement.
    public var content: Content
    /// The signal strength in dBm; 127 if it is not known (behaviour 2.13).
    public var rssi: Int

    init(_ peripheral: CBPeripheral, _ advertisement: Advertisement, rssi: Int) {
        self.peripheral = peripheral
        self.rssi = rssi
        func uuids(_ values: [BluetoothUUID]) -> [CBUUID] { values.map { CBUUID($0) } }
        let data = advertisement.serviceData.map { (CBUUID($0), Data($1)) }
        content = Content(
            localName: advertisement.localName,
            manufacturerData: advertisement.manufacturerData.map { Data($0) },
            serviceData: Dictionary(uniqueKeysWithValues: data),
            services: uuids(advertisement.serviceUUIDs),
            overflowServices: uuids(advertisement.overflowServiceUUIDs),
            solicitedServices: uuids(advertisement.solicitedServiceUUIDs),
            txPowerLevel: advertisement.txPowerLevel,
            isConnectable: advertisement.isConnectable
        )
    }
}

/// The options of a scan.
public struct ScanOptions: Sendable {
    /// Whether to report every packet instead of each peripheral once (behaviours 2.2, 2.3). It has no effect in the
    /// background (behaviour 2.27).
    public var allowsDuplicates: Bool
    /// Also report peripherals that solicit one of these services (behaviour 2.8).
    public var solicitedServices: [CBUUID]

    /// Creates options.
    ///
    /// - Parameters:
    ///   - allowsDuplicates: Whether to report every packet instead of each peripheral once.
    ///   - solicitedServices: Also report peripherals that solicit one of these services.
    public init(allowsDuplicates: Bool = false, solicitedServices: [CBUUID] = []) {
        self.allowsDuplicates = allowsDuplicates
        self.solicitedServices = solicitedServices
    }
}
