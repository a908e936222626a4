import BluetoothService
import BluetoothTypes
import CoreBluetooth

/// The notice about a device name that does not fit into its advertisement.
enum ShortenedName {
    /// Returns what is advertised of a name.
    ///
    /// - Parameter services: The services that are advertised beside the name.
    static func advertised(_ name: String, with services: [CBUUID]) -> String { shortened(name, services) ?? name }

    /// Returns nil for a name that fits.
    private static func shortened(_ name: String, _ services: [CBUUID]) -> String? {
        let content = AdvertisingContent(
            localName: name,
            services: services.compactMap { BluetoothUUID($0.uuidString) }
        )
        return AdvertisingPlanner.plan(for: [content]).shortenedName
    }

    /// Returns nil for a name that fits.
    ///
    /// - Parameter services: The services that are advertised beside the name.
    static func notice(_ name: String, with services: [CBUUID]) -> String? {
        guard let shown = shortened(name, services) else { return nil }
        let whole = count(name.utf8.count, "octet")
        let fit = "\(shown.isEmpty ? "none" : "\(shown.utf8.count)") of its \(whole) fit into the advertisement"
        let fate = shown.isEmpty ? "not advertised" : "shortened to \(shown.quotedName)"
        return "the name is \(fate): \(fit)"
    }
}
