import ATT
import BluetoothTypes
import GATT
import HCI
import HCIHost
import L2CAP
import Security

/// The Generic Access service of a device (Core Vol 3 Part C 12).
///
/// The owner of the server asks it first about each read and write: ``answer(_:)-(GATTReadRequest)``.
package final class GenericAccessService {
    /// What the service holds and allows.
    package struct Configuration: Hashable, Sendable {
        /// The name, up to ``GenericAccessService/maximumNameLength`` octets of UTF-8.
        package var deviceName: String
        /// Whether clients may change the name.
        package var isNameWritable = false
        /// What the device looks like, a number from Bluetooth Assigned Numbers 2.6; 0 for unknown.
        package var appearance: UInt16 = 0
        /// Whether clients may change the appearance.
        package var isAppearanceWritable = false
        /// The connection parameters that the device prefers as peripheral; nil to leave the characteristic out.
        package var preferredParameters: PreferredParameters?
        /// Whether the device can resolve private addresses as central; nil to leave the characteristic out.
        package var resolvesAddresses: Bool?
        /// Whether the device shows nothing but resolvable private addresses to those who are bonded with it. The
        /// characteristic is there only if so (12.5).
        package var usesOnlyResolvableAddresses = false
        /// The highest security that the services of the device require, for clients that want to see to it at once; empty
        /// to leave the characteristic out (12.7). What the specification does not know is left out.
        package var securityLevels: [LESecurity] = []
        /// What opens the encrypted data that the device advertises; nil to leave the characteristic out (12.6).
        package var keyMaterial: EncryptedDataKeyMaterial?

        /// A name that nobody can change, and an appearance.
        package init(deviceName: String) {
            self.deviceName = deviceName
        }
    }

    /// The connection parameters that a peripheral prefers (12.3).
    package struct PreferredParameters: PacketFields, Hashable, Sendable {
        /// The shortest connection interval, in units of 1.25 ms; 0xFFFF for no wish.
        package var intervalMinimum: UInt16 = 0xFFFF
        /// The longest connection interval, in units of 1.25 ms; 0xFFFF for no wish.
        package var intervalMaximum: UInt16 = 0xFFFF
        /// Connection events that the peripheral wants to leave out, 0 to 499.
        package var latency: UInt16 = 0
        /// The supervision timeout, in units of 10 ms; 0xFFFF for no wish.
        package var timeout: UInt16 = 0xFFFF

        /// No wish.
        package init() {}

        /// These parameters.
        package init(_ parameters: ConnectionParameters) {
            intervalMinimum = parameters.intervalMinimum
            intervalMaximum = parameters.intervalMaximum
            latency = parameters.latency
            timeout = parameters.timeout
        }

        package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
            try coder.field("Interval_Min", &intervalMinimum)
            try coder.field("Interval_Max", &intervalMaximum)
            try coder.field("Latency", &latency)
            try coder.field("Timeout", &timeout)
        }
    }

    /// The longest name in octets (12.1).
    package static let maximumNameLength = 248

    /// The name as it is now.
    package private(set) var deviceName: String
    /// The appearance as it is now.
    package private(set) var appearance: UInt16
    /// Called when a client has changed the name.
    package var onNameChange: ((String) -> Void)?
    /// Called when a client has changed the appearance.
    package var onAppearanceChange: ((UInt16) -> Void)?
    /// What opens the encrypted data that the device advertises, as it is now; nil when the characteristic is left out.
    package internal(set) var keyMaterial: EncryptedDataKeyMaterial?
    /// Asked when a client whose link is authenticated, but not authorized, reads the key material: whether it may have it
    /// this time (10.5). Who is to be indicated changes as well is authorized by ``SecureLink/isAuthorized``. Without it
    /// the read is refused.
    package var authorize: ((GATTServerSession, _ answer: @escaping (_ isAllowed: Bool) -> Void) -> Void)?

    /// Where the key material is, if it is anywhere.
    let keyMaterialHandle: UInt16?
    /// Whether a change of the key material waits for room in a queue.
    var owesIndication = false
    /// Who may read the rest of the key material without being asked about again: 24 octets take two requests on a link with
    /// the least MTU.
    weak var reader: GATTServerSession?
    private let nameHandle: UInt16
    private let appearanceHandle: UInt16

    /// Publishes the service.
    package init(_ configuration: Configuration, in database: GATTDatabase) throws(GATTDatabaseError) {
        guard configuration.deviceName.utf8.count <= Self.maximumNameLength else {
            throw .valueTooLong(GATTUUID.deviceName)
        }
        deviceName = configuration.deviceName
        appearance = configuration.appearance
        keyMaterial = configuration.keyMaterial
        let definition = configuration.definition
        let published = try database.add(definition)
        keyMaterialHandle = definition.characteristics.firstIndex { $0.uuid == GATTUUID.encryptedDataKeyMaterial }
            .map { published.characteristics[$0].value }
        nameHandle = published.characteristics[0].value
        appearanceHandle = published.characteristics[1].value
    }

    /// Answers a read of one of its values.
    ///
    /// - Returns: Whether it was one; if not, somebody else has to answer.
    package func answer(_ request: GATTReadRequest) -> Bool {
        switch request.handle {
        case nameHandle: request.respond(with: PacketBuffer(Array(deviceName.utf8)))
        case appearanceHandle: request.respond(with: [UInt8(truncatingIfNeeded: appearance), UInt8(appearance >> 8)])
        case keyMaterialHandle: answerKeyMaterial(request)
        default: return false
        }
        return true
    }

    /// Answers a write of one of its values, whole or in parts, each over what is there by then (Core Vol 3 Part F 3.4.6.3).
    ///
    /// - Returns: Whether it was one; if not, somebody else has to answer.
    package func answer(_ request: GATTWriteRequest) -> Bool {
        guard let handle = request.writes.first?.handle, handle == nameHandle || handle == appearanceHandle,
            request.writes.allSatisfy({ $0.handle == handle })
        else { return false }
        var value =
            handle == nameHandle
            ? Array(deviceName.utf8) : [UInt8(truncatingIfNeeded: appearance), UInt8(appearance >> 8)]
        for write in request.writes {
            guard write.offset <= value.count else {
                request.respond(.invalidOffset)
                return true
            }
            value = Array(value.prefix(write.offset)) + write.value.bytes
        }
        let refusal = handle == nameHandle ? setName(value) : setAppearance(value)
        request.respond(refusal)
        return true
    }

    private func setName(_ octets: [UInt8]) -> ATTErrorCode? {
        guard octets.count <= Self.maximumNameLength else { return .invalidAttributeValueLength }
        guard let name = String(validating: octets, as: UTF8.self) else { return .valueNotAllowed }
        deviceName = name
        onNameChange?(name)
        return nil
    }

    private func setAppearance(_ octets: [UInt8]) -> ATTErrorCode? {
        guard octets.count == 2 else { return .invalidAttributeValueLength }
        appearance = UInt16(octets[0]) | UInt16(octets[1]) << 8
        onAppearanceChange?(appearance)
        return nil
    }
}

extension GenericAccessService.Configuration {
    /// The service, name and appearance first. Those two are asked for, since they may change.
    var definition: ServiceDefinition {
        var service = ServiceDefinition.genericAccess(deviceName: deviceName, appearance: appearance)
        for (index, isWritable) in [isNameWritable, isAppearanceWritable].enumerated() {
            service.characteristics[index].source = .asked
            guard isWritable else { continue }
            service.characteristics[index].properties.insert(.write)
            service.characteristics[index].permissions.write = SecurityLevel.none
        }
        if let preferredParameters { add(GATTUUID.preferredParameters, preferredParameters.encoded(), to: &service) }
        if let resolvesAddresses { add(GATTUUID.centralAddressResolution, [resolvesAddresses ? 1 : 0], to: &service) }
        // 0: only resolvable private addresses are used (12.5). Other values are reserved.
        if usesOnlyResolvableAddresses { add(GATTUUID.resolvablePrivateAddressOnly, [0], to: &service) }
        let levels = securityLevels.filter(\.isValid).flatMap(\.octets)
        if !levels.isEmpty { add(GATTUUID.securityLevels, PacketBuffer(levels), to: &service) }
        if keyMaterial != nil { service.characteristics.append(.encryptedDataKeyMaterial) }
        return service
    }

    private func add(_ uuid: BluetoothUUID, _ value: PacketBuffer, to service: inout ServiceDefinition) {
        service.characteristics.append(
            CharacteristicDefinition(uuid, properties: .read, permissions: .readable, source: .fixed(value))
        )
    }
}

extension GATTUUID {
    /// The connection parameters that a peripheral prefers.
    package static let preferredParameters: BluetoothUUID = 0x2A04
    /// Whether a central can resolve private addresses.
    package static let centralAddressResolution: BluetoothUUID = 0x2AA6
    /// That a device uses nothing but resolvable private addresses.
    package static let resolvablePrivateAddressOnly: BluetoothUUID = 0x2AC9
    /// The security that the services of a device require.
    package static let securityLevels: BluetoothUUID = 0x2BF5
    /// What opens the encrypted data that a device advertises.
    package static let encryptedDataKeyMaterial: BluetoothUUID = 0x2B88
}
