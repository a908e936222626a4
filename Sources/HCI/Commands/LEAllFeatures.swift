import BluetoothTypes

/// LE Read All Local Supported Features (Core Vol 4 Part E 7.8.128): reads what the link layer can do, on all pages.
package struct LEReadAllLocalSupportedFeatures: HCICommand {
    /// Octets of all pages together: 8 of page 0, and 24 of each of the ten others.
    package static let featureOctets = 248

    package struct Response: HCIResponse {
        package var status = HCIStatus.success
        /// The last page with a bit that is set.
        package var maxPage: UInt8 = 0
        /// The pages, 248 octets, least significant first; the first eight are those of ``LEReadLocalSupportedFeatures``.
        package var features: PacketBuffer = []

        package init() {}

        /// Features of page 0 alone.
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

    package static var opcode: Opcode { Opcode(group: 0x08, command: 0x0087) }
    package static var name: String { "LE Read All Local Supported Features" }
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 47, bit: 2) }

    package init() {}

    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {}
}
