import BluetoothTypes

/// Return parameters whose end are bits for what the controller can do. Some controllers leave the last of them out (quirk 12);
/// what is not there it cannot do.
package protocol BitmapResponse: HCIResponse {}

extension ReadLocalSupportedCommands.Response: BitmapResponse {}
extension ReadLocalSupportedFeatures.Response: BitmapResponse {}
extension LEReadLocalSupportedFeatures.Response: BitmapResponse {}

extension PacketBuffer {
    /// The octets with zeros behind them, more than any return parameters have.
    package var withZerosBehind: PacketBuffer { PacketBuffer(bytes + [UInt8](repeating: 0, count: 255)) }
}
