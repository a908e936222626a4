import AppStandIns
import CoreBluetooth
import Foundation
import Testing

@testable import CoreBluetoothExtras

@Suite struct ValidationTests {
    private func characteristic(
        _ properties: CBCharacteristicProperties,
        _ value: Data?,
        _ permissions: CBAttributePermissions
    ) throws(PublishingFault) -> CBMutableCharacteristic {
        try .validated(type: CBUUID(string: "1234"), properties: properties, value: value, permissions: permissions)
    }

    @Test("behaviours 7.3, 7.4, 15.28: a cached value that is writable is an error instead of an exception")
    func cachedValues() throws {
        #expect(try characteristic(.read, Data([1]), .readable).value == Data([1]))
        #expect(try characteristic([.read, .write], nil, [.readable, .writeable]).value == nil)
        #expect(throws: PublishingFault.cachedValueNotReadOnly) {
            try characteristic([.read, .notify], Data([1]), .readable)
        }
        #expect(throws: PublishingFault.cachedValueNotReadOnly) {
            try characteristic(.read, Data([1]), [.readable, .writeEncryptionRequired])
        }
        for permission in [CBAttributePermissions.writeable, .writeEncryptionRequired] {
            #expect(throws: PublishingFault.cachedValueNotReadOnly) {
                try characteristic(.read, Data([1]), [.readable, permission])
            }
        }
        #expect(throws: PublishingFault.valueTooLong(octets: 513)) {
            try characteristic(.read, Data(count: 513), .readable)
        }
        #expect(try characteristic(.read, Data(count: 512), .readable).value?.count == 512)
    }

    @Test(
        "behaviours 7.7, 15.28: properties that local characteristics cannot have are an error",
        arguments: [0x01, 0x80]
    )
    func properties(_ property: UInt) {
        #expect(throws: PublishingFault.propertiesNotAllowed) {
            try characteristic([.read, CBCharacteristicProperties(rawValue: property)], nil, .readable)
        }
    }

    @Test("behaviours 7.8, 15.28: a descriptor that cannot be created is an error instead of an exception")
    func descriptors() throws {
        let format = Data([4, 0, 0, 0x27, 1, 0, 0])
        #expect(
            try CBMutableDescriptor.validated(type: CBUUID(string: "2901"), value: "text").value as? String == "text"
        )
        #expect(try CBMutableDescriptor.validated(type: CBUUID(string: "2904"), value: format).value as? Data == format)
        #expect(throws: PublishingFault.descriptorNotAllowed) {
            try CBMutableDescriptor.validated(type: CBUUID(string: "2902"), value: Data([1, 0]))
        }
        let longest = String(repeating: "a", count: 512)
        let text = try CBMutableDescriptor.validated(type: CBUUID(string: "2901"), value: longest)
        #expect(text.value as? String == longest)
        for (type, value) in [("2901", format as Any?), ("2904", "text"), ("2904", Data([1])), ("2901", nil)] {
            #expect(throws: PublishingFault.descriptorValue) {
                try CBMutableDescriptor.validated(type: CBUUID(string: type), value: value)
            }
        }
        #expect(throws: PublishingFault.valueTooLong(octets: 513)) {
            try CBMutableDescriptor.validated(type: CBUUID(string: "2901"), value: String(repeating: "a", count: 513))
        }
    }

    @Test("behaviour 15.28: a service reports what is invalid before any of it is published")
    func services() throws {
        let service = CBMutableService(type: CBUUID(string: "1234"), primary: true)
        #expect(throws: Never.self) { try service.validate() }
        let characteristic = CBMutableCharacteristic(CBUUID(string: "1235"), .read)
        service.characteristics = [characteristic]
        #expect(throws: Never.self) { try service.validate() }
        characteristic.properties = [.read, .extendedProperties]
        #expect(throws: PublishingFault.propertiesNotAllowed) { try service.validate() }
        characteristic.properties = .read
        let text = CBMutableDescriptor(type: CBUUID(string: "2901"), value: String(repeating: "a", count: 512))
        characteristic.descriptors = [text]
        #expect(throws: Never.self) { try service.validate() }
        let long = CBMutableDescriptor(type: CBUUID(string: "2901"), value: String(repeating: "a", count: 513))
        characteristic.descriptors = [text, long]
        #expect(throws: PublishingFault.valueTooLong(octets: 513)) { try service.validate() }
        // Objects of another app, as a central has discovered them.
        let (foreignDescriptor, foreign) = try Self.foreign()
        characteristic.descriptors = [text, foreignDescriptor]
        #expect(throws: PublishingFault.notMutable) { try characteristic.validate() }
        characteristic.descriptors = nil
        service.characteristics = [characteristic, foreign]
        #expect(throws: PublishingFault.notMutable) { try service.validate() }
    }

    /// Discovered objects, which cannot be published.
    private static func foreign() throws -> (CBDescriptor, CBCharacteristic) {
        let world = AsyncWorld()
        return try world.connected { _, peripheral, characteristic in
            let found = try await peripheral.discover(descriptorsFor: characteristic)
            return (try #require(found.first), characteristic)
        }
    }
}
