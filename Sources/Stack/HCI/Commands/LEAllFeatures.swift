import BluetoothTypes

/// LE Read All Local Supported Features (Core Vol 4 Part E 7.8.128): reads the link-layer features of all pages.
package struct LEReadAllLocalSupportedFeatures: ParameterlessCommand {
    /// The length of all pages, in octets: 8 for page 0, and 24 for each of the ten others.
    package static let featureOctets = 248

    package struct Response: HCIResponse {
        package var status = HCIStatus.success
        /// The last page with a feature bit set.
        package var maxPage: UInt8 = 0
        /// The pages, 248 octets, least significant first. The first eight are those of
        /// ``LEReadLocalSupportedFeatures``.
        package var features: PacketBuffer = []

        package init() {}

        /// Creates a response with features of page 0 only.
        package init(page0 features: LEFeatures) {
            let octets = (0..<8).map { UInt8(truncatingIfNeeded: features.rawValue >> UInt64(8 * $0)) }
            let rest = [UInt8](repeating: 0, count: LEReadAllLocalSupportedFeatures.featureOctets - octets.count)
            self.features = PacketBuffer(octets + rest)
        }

        package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
            try coder.field("Status", &status)
            try coder.field("Max_Page", &maxPage)
            try coder.bytes("LE_Features", &features, count: LEReadAllLocalSupportedFeatures.featureOctets)
        }
    }

    package static let entry = CommandEntry(.le, 0x87, "LE Read All Local Supported Features", bit: (47, 2))

    package init() {}
}
