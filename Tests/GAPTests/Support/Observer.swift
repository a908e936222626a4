import GAP

/// A device in the Observer role: receives advertisements (Core Vol 3 Part C 9.1.2).
final class Observer {
    private let access: GenericAccess

    init(_ access: GenericAccess) {
        self.access = access
    }

    /// Starts scanning in place of the current scan.
    ///
    /// - Parameters:
    ///   - settings: The scan settings.
    ///   - onSighting: Called with every advertisement received.
    ///   - onEnd: Called when the scan ends by itself.
    /// - Throws: ``GAPError/busy`` while another role scans, ``GAPError/notReady`` without a controller.
    func observe(
        _ settings: ScanSettings,
        onSighting: @escaping (Sighting) -> Void,
        onEnd: @escaping (GAPError) -> Void = { _ in }
    ) throws(GAPError) {
        try access.scan(settings, for: self, onSighting: onSighting, onEnd: onEnd)
    }

    /// Stops scanning, without a call of `onEnd`.
    func stop() {
        access.endScan(for: self)
    }
}
