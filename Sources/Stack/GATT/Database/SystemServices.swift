import BluetoothTypes

extension ServiceDefinition {
    /// Returns the Generic Access service (Core Vol 3 Part C 12). Its characteristics are, in order, the device name,
    /// truncated to 248 octets, and the appearance.
    package static func genericAccess(deviceName: String, appearance: UInt16) -> ServiceDefinition {
        let shown = [UInt8(truncatingIfNeeded: appearance), UInt8(appearance >> 8)]
        return ServiceDefinition(
            GATTUUID.genericAccess,
            characteristics: [
                CharacteristicDefinition(
                    GATTUUID.deviceName,
                    properties: .read,
                    permissions: .readable,
                    source: .fixed(PacketBuffer(Array(deviceName.utf8.prefix(248))))
                ),
                CharacteristicDefinition(
                    GATTUUID.appearance,
                    properties: .read,
                    permissions: .readable,
                    source: .fixed(PacketBuffer(shown))
                ),
            ]
        )
    }

    /// Returns the Generic Attribute service (Core Vol 3 Part G 7): Service Changed, Client Supported Features,
    /// Database Hash and, if `features` is not empty, Server Supported Features.
    package static func genericAttribute(features: ServerFeatures = []) -> ServiceDefinition {
        var characteristics = [
            CharacteristicDefinition(
                GATTUUID.serviceChanged,
                properties: .indicate,
                permissions: AttributePermissions()
            ),
            CharacteristicDefinition(
                GATTUUID.clientSupportedFeatures,
                properties: [.read, .write],
                permissions: AttributePermissions(read: SecurityLevel.none, write: SecurityLevel.none)
            ),
            CharacteristicDefinition(GATTUUID.databaseHash, properties: .read, permissions: .readable),
        ]
        if !features.isEmpty {
            characteristics.append(
                CharacteristicDefinition(
                    GATTUUID.serverSupportedFeatures,
                    properties: .read,
                    permissions: .readable,
                    source: .fixed([features.rawValue])
                )
            )
        }
        return ServiceDefinition(GATTUUID.genericAttribute, characteristics: characteristics)
    }
}
