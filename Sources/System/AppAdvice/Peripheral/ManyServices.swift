import BluetoothTypes
import ServiceMessages

/// 12.26: many services, or services whose UUIDs alternate between 16 and 128 bits: a central needs more requests for
/// the table, since a response has UUIDs of one width only (Core Vol 3 Part F 3.4.4.10).
struct ManyServices: PeripheralDetector {
    mutating func accept(
        _ step: PeripheralStep,
        _ picture: PeripheralPicture,
        _ context: AppContext,
        _ findings: inout Findings
    ) {
        guard case .requested(.addService(let service)) = step else { return }
        let widths = (picture.services.map(\.uuid) + [service.uuid]).map { $0.shortValue != nil }
        if widths.count == AdviceThresholds.services + 1 {
            findings.add(
                .groupedServices,
                attribute: 0,
                "published more than \(count(AdviceThresholds.services, "service"))"
            )
        }
        guard Self.changes(widths) > 1, Self.changes(widths.dropLast()) < 2 else { return }
        findings.add(.groupedServices, attribute: 1, "published services with UUIDs of 16 and of 128 bits in turn")
    }

    private static func changes(_ widths: [Bool]) -> Int { zip(widths, widths.dropFirst()).count { $0 != $1 } }
}
