import ServiceMessages

/// 12.3: a scan that names no services.
struct ScanWithoutServices: CentralDetector {
    mutating func accept(
        _ step: CentralStep,
        _ picture: CentralPicture,
        _ context: AppContext,
        _ findings: inout Findings
    ) {
        guard case .requested(.startScan(let scan)) = step, scan.services?.isEmpty != false else { return }
        findings.add(
            .scanForServices,
            context.isHidden
                ? "scanned in the background without naming a service, which finds nothing"
                : "scanned without naming a service"
        )
    }
}
