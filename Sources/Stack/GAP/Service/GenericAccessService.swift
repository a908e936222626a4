import ATT
import BluetoothTypes
import GATT
import HCI
import HCIHost
import L2CAP
import Security

/// The Generic Access service of a device (Core Vol 3 Part C 12).
///
/// The owner of the GATT server passes each read and write to ``answer(_:)-(GATTReadRequest)`` and its counterpart
/// first.
package final class GenericAccessService {
    /// The contents and permissions of the service.
    package struct Configuration: Hashable, Sendable {
        /// The device name, up to ``GenericAccessService/maximumNameLength`` octets of UTF-8.
        package var deviceName: String
        /// Whether clients may write the name.
        package var isNameWritable = false
        /// The appearance, a value from Bluetooth Assigned Numbers 2.6; 0 for unknown.
        package var appearance: UInt16 = 0
        /// Whether clients may write the appearance.
        package var isAppearanceWritable = false
        /// The preferred connection parameters as peripheral; nil to omit the characteristic.
        package var preferredParameters: PreferredParameters?
        /// Whether the device resolves private addresses as central; nil to omit the characteristic.
        package var resolvesAddresses: Bool?
        /// Whether the device uses only resolvable private addresses with bonded peers. If false, the characteristic is
        /// omitted (12.5).
        package var usesOnlyResolvableAddresses = false
        /// The highest security that the services of the device require, for clients that secure the link in advance;
        /// empty to omit the characteristic (12.7). Levels that the specification does not define are skipped.
        package var securityLevels: [LESecurity] = []
        /// The key material of encrypted advertising data; nil to omit the characteristic (12.6).
        package var keyMaterial: EncryptedDataKeyMaterial?

        /// Creates a configuration with a read-only name and an unknown appearance.
        package init(deviceName: String) {
            self.deviceName = deviceName
        }
    }

    /// The preferred connection parameters of a peripheral (12.3).
    package struct PreferredParameters: PacketFields, Hashable, Sendable {
        /// The minimum connection interval, in units of 1.25 ms; 0xFFFF for no preference.
        package var intervalMinimum: UInt16 = 0xFFFF
        /// The maximum connection interval, in units of 1.25 ms; 0xFFFF for no preference.
        package var intervalMaximum: UInt16 = 0xFFFF
        /// The peripheral latency, in connection events, 0 to 499.
        package var latency: UInt16 = 0
        /// The supervision timeout, in units of 10 ms; 0xFFFF for no preference.
        package var timeout: UInt16 = 0xFFFF

        /// Creates parameters without any preference.
        package init() {}

        /// Creates preferences for the given parameters.
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

    /// The maximum length of the name, in octets (12.1).
    package static let maximumNameLength = 248

    /// The current name, at most ``maximumNameLength`` octets of UTF-8.
    package private(set) var deviceName: String
    /// The current appearance, a number assigned by the Bluetooth SIG.
    package private(set) var appearance: UInt16
    /// Called when a client has changed the name.
    package var onNameChange: ((String) -> Void)?
    /// Called when a client has changed the appearance.
    package var onAppearanceChange: ((UInt16) -> Void)?
    /// The current key material of encrypted advertising data; nil if the characteristic was omitted.
    package private(set) var keyMaterial: EncryptedDataKeyMaterial?
    /// Called when a client whose link is authenticated but not authorized reads the key material. Answer whether this
    /// read is allowed (10.5).
    ///
    /// If nil, such reads are refused. To include a client in indications of changes, use ``SecureLink/isAuthorized``.
    package var authorize: ((GATTServerSession, _ answer: @escaping (_ isAllowed: Bool) -> Void) -> Void)?

    /// The handle of the key material; nil if the characteristic was omitted.
    private let keyMaterialHandle: UInt16?
    /// Whether the indication of a change is pending for lack of room.
    private var owesIndication = false
    /// The client that may read the rest of the key material without another authorization: 24 octets take two requests
    /// at the minimum MTU.
    private weak var reader: GATTServerSession?
    private let nameHandle: UInt16
    private let appearanceHandle: UInt16

    /// Publishes the service in a database.
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

    /// Answers a read of one of the service's values.
    ///
    /// - Returns: False if the handle belongs to another owner, which must answer.
    package func answer(_ request: GATTReadRequest) -> Bool {
        switch request.handle {
        case nameHandle: request.respond(with: PacketBuffer(Array(deviceName.utf8)))
        case appearanceHandle: request.respond(with: [UInt8(truncatingIfNeeded: appearance), UInt8(appearance >> 8)])
        case keyMaterialHandle: answerKeyMaterial(request)
        default: return false
        }
        return true
    }

    /// Answers a write of one of the service's values, complete or in parts, each applied to the result of those before
    /// (Core Vol 3 Part F 3.4.6.3).
    ///
    /// - Returns: False if the handle belongs to another owner, which must answer.
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

/// The key material of the device's encrypted advertising data (Core Vol 3 Part C 12.6). Clients can read it over
/// authenticated and authorized links, but not write it.
extension GenericAccessService {
    /// Changes the key material and indicates it to the subscribed clients whose links are authenticated and
    /// authorized.
    ///
    /// Does nothing if the characteristic was omitted. Data already being advertised is not encrypted again.
    package func change(_ material: EncryptedDataKeyMaterial, on server: GATTServer) {
        guard keyMaterialHandle != nil, material != keyMaterial else { return }
        keyMaterial = material
        reader = nil
        owesIndication = true
        indicateKeyMaterial(on: server)
    }

    /// Indicates a change that is pending for lack of room. The owner of the server calls this when there is room
    /// again.
    package func indicateKeyMaterial(on server: GATTServer) {
        guard owesIndication, let keyMaterialHandle, let keyMaterial else { return }
        let clients = server.sessions.filter(\.linkSecurity.isAuthorized)
        owesIndication = !server.update(keyMaterial.octets, of: keyMaterialHandle, for: clients)
    }

    /// Answers a read for which the server has already checked authentication. As the user may take time to decide, the
    /// link is checked again afterwards.
    private func answerKeyMaterial(_ request: GATTReadRequest) {
        let isContinued = request.offset > 0 && request.session === reader
        if isContinued || request.session.linkSecurity.isAuthorized { return tellKeyMaterial(request) }
        guard let authorize else { return request.respond(.failure(.insufficientAuthorization)) }
        authorize(request.session) { [weak self] isAllowed in
            guard isAllowed, let self else { return request.respond(.failure(.insufficientAuthorization)) }
            if let refusal = request.session.linkSecurity.attributeRefusal(of: .authenticated) {
                return request.respond(.failure(refusal))
            }
            reader = request.session
            tellKeyMaterial(request)
        }
    }

    private func tellKeyMaterial(_ request: GATTReadRequest) {
        guard let keyMaterial else { return request.respond(.failure(.unlikelyError)) }
        request.respond(with: keyMaterial.octets)
    }
}

extension GATTReadRequest {
    /// Responds with the requested part of a value.
    fileprivate func respond(with value: PacketBuffer) {
        respond(offset > value.count ? .failure(.invalidOffset) : .success(value.suffix(after: offset)))
    }
}

extension CharacteristicDefinition {
    /// The service itself handles authorization, which may depend on the user.
    fileprivate static var encryptedDataKeyMaterial: CharacteristicDefinition {
        CharacteristicDefinition(
            GATTUUID.encryptedDataKeyMaterial,
            properties: [.read, .indicate],
            permissions: AttributePermissions(read: .authenticated),
            indication: .authenticated
        )
    }
}

extension GenericAccessService.Configuration {
    /// The service definition, which begins with name and appearance. These two are read from the delegate, since they
    /// can change.
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
    /// Peripheral Preferred Connection Parameters.
    package static let preferredParameters: BluetoothUUID = 0x2A04
    /// The Central Address Resolution characteristic.
    package static let centralAddressResolution: BluetoothUUID = 0x2AA6
    /// Resolvable Private Address Only.
    package static let resolvablePrivateAddressOnly: BluetoothUUID = 0x2AC9
    /// LE GATT Security Levels.
    package static let securityLevels: BluetoothUUID = 0x2BF5
    /// Encrypted Data Key Material.
    package static let encryptedDataKeyMaterial: BluetoothUUID = 0x2B88
}
