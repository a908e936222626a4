import BluetoothTypes

/// Return parameters that end in a bitmap of capabilities. Some controllers omit trailing octets of it (quirk 12);
/// omitted bits count as 0.
package protocol BitmapResponse: HCIResponse {}

extension ReadLocalSupportedCommands.Response: BitmapResponse {}
extension ReadLocalSupportedFeatures.Response: BitmapResponse {}
extension LEReadLocalSupportedFeatures.Response: BitmapResponse {}

extension PacketBuffer {
    /// The octets followed by zeros, more than any return parameters have.
    package var withZerosBehind: PacketBuffer { PacketBuffer(bytes + [UInt8](repeating: 0, count: 255)) }
}
