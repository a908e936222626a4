import ServiceMessages

/// 12.18: a value that every device in range may write.
struct OpenWrites: PeripheralDetector {
    /// Write and Write Without Response, of `CBCharacteristicProperties`.
    private static let write: UInt16 = 0x0C
    /// The bit `writeEncryptionRequired` of `CBAttributePermissions`.
    private static let encryption: UInt8 = 0x08

    mutating func accept(
        _ step: PeripheralStep,
        _ picture: PeripheralPicture,
        _ context: AppContext,
        _ findings: inout Findings
    ) {
        guard case .requested(.addService(let service)) = step else { return }
        for each in service.characteristics
        where each.properties & Self.write != 0 && each.permissions & Self.encryption == 0 {
            findings.add(
                .protectedWrites,
                attribute: each.id.rawValue,
                "published \(each.uuid.words), which every device in range may write"
            )
        }
    }
}
