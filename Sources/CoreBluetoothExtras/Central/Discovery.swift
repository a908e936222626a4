import BluetoothService
import BluetoothTypes
import CoreBluetooth
import Foundation

/// An advertisement of a peripheral, as a scan has heard it.
public struct Discovery: Sendable {
    /// What a peripheral advertises; what is not there is nil or empty.
    public struct Content: Sendable {
        /// The name.
        public var localName: String?
        /// The company's number, least significant octet first, and its data.
        public var manufacturerData: Data?
        /// Data by service.
        public var serviceData: [CBUUID: Data]
        /// Services in the packets themselves.
        public var services: [CBUUID]
        /// Services that were asked for and whose bit is set in the overflow area of an Apple device.
        public var overflowServices: [CBUUID]
        /// Services that the peripheral looks for.
        public var solicitedServices: [CBUUID]
        /// The power that it was sent with, in dBm.
        public var txPowerLevel: Int?
        /// Whether it invites connections.
        public var isConnectable: Bool
    }

    /// Who advertises.
    public var peripheral: CBPeripheral
    /// What it says.
    public var content: Content
    /// How strong the packet was, in dBm; 127 when that is not known.
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

/// How to scan.
public struct ScanOptions: Sendable {
    /// Report every packet, and not each peripheral once.
    public var allowsDuplicates: Bool
    /// Report peripherals that look for one of these services as well.
    public var solicitedServices: [CBUUID]

    /// Options.
    public init(allowsDuplicates: Bool = false, solicitedServices: [CBUUID] = []) {
        self.allowsDuplicates = allowsDuplicates
        self.solicitedServices = solicitedServices
    }
}
