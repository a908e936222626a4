import GAP

/// The scan of a tool that has a system of its own. It receives every advertisement, including those that the system
/// keeps from apps, with addresses and undecoded data.
package struct OpenScan {
    package typealias Start = () -> Void
    package typealias Receive = (Sighting) -> Void
    package typealias End = (GAPError) -> Void

    let settings: ScanSettings
    let onStart: Start
    let onSighting: Receive
    let onEnd: End

    /// Creates a scan whose functions are called on the loop of the system.
    ///
    /// - Parameters:
    ///   - settings: The scan settings, which prevail over those of apps.
    ///   - onStart: Called when the scan starts, each time Bluetooth is switched on.
    ///   - onSighting: Called with every advertisement received.
    ///   - onEnd: Called when the scan ends by itself, with ``GAPError/notReady`` if the controller is gone.
    package init(
        _ settings: ScanSettings,
        onStart: @escaping Start,
        onSighting: @escaping Receive,
        onEnd: @escaping End
    ) {
        self.settings = settings
        self.onStart = onStart
        self.onSighting = onSighting
        self.onEnd = onEnd
    }
}
