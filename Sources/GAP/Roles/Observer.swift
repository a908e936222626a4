/// Listens to what others advertise (Core Vol 3 Part C 9.1.2).
package final class Observer {
    private let access: GenericAccess

    /// An observer that does not listen.
    package init(_ access: GenericAccess) {
        self.access = access
    }

    /// Listens, in the place of how it listened before.
    ///
    /// - Parameters:
    ///   - settings: Passive or active, where, and for how long.
    ///   - onSighting: Called with everything that is heard.
    ///   - onEnd: Called when it ends by itself: with nil when its time is over.
    /// - Throws: ``GAPError/busy`` while another role scans, ``GAPError/notReady`` without a controller.
    package func observe(
        _ settings: ScanSettings,
        onSighting: @escaping (Sighting) -> Void,
        onEnd: @escaping (GAPError?) -> Void = { _ in }
    ) throws(GAPError) {
        try access.scan(settings, for: self, onSighting: onSighting, onEnd: onEnd)
    }

    /// Listens no longer.
    package func stop() {
        access.endScan(for: self)
    }
}
