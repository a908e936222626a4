/// Claims controllers of this machine: from the kernel, or over USB from the kernel's driver.
///
/// Use one finder for all transports to the same controller, because it recognizes a controller that has reappeared in
/// another place.
package final class ControllerFinder: Sendable {
    /// Claims the kernel's adapters.
    package let kernel: AdapterFinder
    /// Claims the same controllers over USB.
    package let usb: USBFinder

    /// - Parameters:
    ///   - adapters: The adapters of this machine's kernel, or of another.
    ///   - kept: The socket of an adapter that a previous process claimed.
    ///   - keeper: Keeps sockets for the next process.
    ///   - usb: USB access; nil for this machine's libusb.
    package init(
        _ adapters: KernelAdapters = KernelAdapters(),
        kept: Int32? = nil,
        keeper: (any AdapterKeeper)? = nil,
        usb: (any USBCalls)? = nil
    ) {
        kernel = AdapterFinder(adapters, kept: kept, keeper: keeper)
        self.usb = USBFinder(calls: usb ?? LibUSB.shared, adapters: adapters)
    }
}
