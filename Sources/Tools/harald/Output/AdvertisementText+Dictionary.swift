import AssignedNumbers
import BluetoothTypes
import CoreBluetooth
import Foundation

extension AdvertisementText {
    /// Returns what an app receives of an advertisement in words: the dictionary of
    /// `centralManager(_:didDiscover:advertisementData:rssi:)`.
    static func words(of dictionary: [String: Any], omitting omissions: Omissions = [.name, .flags]) -> [String] {
        words(of: AdvertisingData(dictionary), omitting: omissions)
    }
}

extension AdvertisingData {
    /// Creates the structures that have a value in an advertisement dictionary. Values of other types are left out.
    init(_ dictionary: [String: Any]) {
        self.init()
        if let name = dictionary[CBAdvertisementDataLocalNameKey] as? String {
            append(.localName(LocalName(name)))
        }
        // The overflow area has no structure of its own outside of Apple's manufacturer data.
        let services = [CBAdvertisementDataServiceUUIDsKey, CBAdvertisementDataOverflowServiceUUIDsKey]
            .flatMap { dictionary[$0] as? [CBUUID] ?? [] }.map(\.uuid)
        let solicited = (dictionary[CBAdvertisementDataSolicitedServiceUUIDsKey] as? [CBUUID] ?? []).map(\.uuid)
        for width in [BluetoothUUID.Width.bits16, .bits32, .bits128] {
            append(uuids: services, width) { .services($0, width: width, isComplete: true) }
            append(uuids: solicited, width) { .solicitedServices($0, width: width) }
        }
        if let data = dictionary[CBAdvertisementDataManufacturerDataKey] as? Data {
            append(AdvertisingStructure(.manufacturerData, PacketBuffer(copying: data, headroom: 0)))
        }
        let serviceData = dictionary[CBAdvertisementDataServiceDataKey] as? [CBUUID: Data] ?? [:]
        for (service, data) in serviceData.sorted(by: { $0.key.uuidString < $1.key.uuidString }) {
            append(.serviceData(service.uuid, PacketBuffer(copying: data, headroom: 0)))
        }
        if let power = dictionary[CBAdvertisementDataTxPowerLevelKey] as? NSNumber {
            append(.txPowerLevel(power.intValue))
        }
    }

    /// Appends lists of the UUIDs of a width, each as long as a structure can be.
    private mutating func append(
        uuids: [BluetoothUUID],
        _ width: BluetoothUUID.Width,
        _ list: ([BluetoothUUID]) -> AdvertisingStructure
    ) {
        let some = uuids.filter { $0.width == width }
        let most = AdvertisingData.maximumPayload / width.octets
        for start in stride(from: 0, to: some.count, by: most) {
            append(list(Array(some[start..<min(start + most, some.count)])))
        }
    }
}
