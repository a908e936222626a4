/// Tells what the apps of a system cost the battery. Used on the system's loop.
///
/// The module RadioEnergy has the implementation. The service's program passes it to
/// ``BluetoothSystem/energySource`` if its user asks for it, so that apps with a service of their own do not link it.
package protocol EnergySource: AnyObject {
    /// The charge so far, by app.
    var status: EnergyStatus { get }
}
