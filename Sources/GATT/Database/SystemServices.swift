import BluetoothTypes

extension ServiceDefinition {
    /// The Generic Access service (Core Vol 3 Part C 12): the characteristics are the name, up to 248 octets of it, and
    /// the appearance, in this order.
    public static func genericAccess(deviceName: String, appearance: UInt16) -> ServiceDefinition {
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

    /// The Generic Attribute service (Core Vol 3 Part G 7): Service Changed and Client Supported Features. There is no
    /// Database Hash.
    public static let genericAttribute = ServiceDefinition(
        GATTUUID.genericAttribute,
        characteristics: [
            CharacteristicDefinition(
                GATTUUID.serviceChanged,
                properties: .indicate,
                permissions: AttributePermissions()
            ),
            CharacteristicDefinition(
                GATTUUID.clientSupportedFeatures,
                properties: [.read, .write],
                permissions: AttributePermissions(read: SecurityRequirement.none, write: SecurityRequirement.none)
            ),
        ]
    )
}
