import BluetoothTypes
import ServiceEvents
import ServiceMessages

/// 12.16: an advertisement that does not fit, so that a service moves to the overflow area, where only Apple's devices
/// that look for it find it, or the name is shortened (behaviours 7.21, 7.22).
struct OverfullAdvertisement: PeripheralDetector {
    mutating func accept(
        _ step: PeripheralStep,
        _ picture: PeripheralPicture,
        _ context: AppContext,
        _ findings: inout Findings
    ) {
        guard case .requested(.startAdvertising(let request)) = step, !context.isHidden else { return }
        let content = AdvertisingContent(localName: request.localName, services: request.services)
        let plan = AdvertisingPlanner.plan(for: [content])
        if !plan.overflow.isEmpty {
            findings.add(
                .fittingAdvertisement,
                attribute: 0,
                "advertised \(count(request.services.count, "service")), of which \(plan.overflow.count) did not fit and "
                    + "went to the overflow area: \(plan.overflow.prefix(4).map(\.words).joined(separator: ", "))"
            )
        }
        if let shortened = plan.shortenedName {
            findings.add(
                .fittingAdvertisement,
                attribute: 1,
                "advertised a name that was shortened to \"\(shortened)\""
            )
        }
    }
}
