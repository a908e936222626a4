/// The libusb calls, one function each. Tests substitute other devices.
package protocol USBCalls: Sendable {
    /// Returns the devices that are plugged in.
    func devices() throws(USBCallError) -> [USBDevice]
    /// Opens a device, with an event loop of its own.
    func open(_ device: USBDevice) throws(USBCallError) -> any USBConnection
}

/// An open device. Its methods may be called from any thread, unless noted otherwise.
package protocol USBConnection: Sendable {
    /// Whether a kernel driver is bound to an interface.
    func isDriverActive(_ interface: UInt8) throws(USBCallError) -> Bool
    /// Detaches the kernel driver from an interface.
    func detachDriver(_ interface: UInt8) throws(USBCallError)
    /// Attaches the kernel driver to an interface.
    func attachDriver(_ interface: UInt8) throws(USBCallError)
    /// Claims an interface for this process.
    func claim(_ interface: UInt8) throws(USBCallError)
    /// Releases an interface that this process has claimed.
    func release(_ interface: UInt8) throws(USBCallError)
    /// Selects an alternate setting of an interface.
    func select(_ alternate: UInt8, of interface: UInt8) throws(USBCallError)
    /// Clears the halt of a stalled endpoint.
    func clearHalt(_ endpoint: UInt8) throws(USBCallError)
    /// Resets the device, as if it were plugged in again.
    func reset() throws(USBCallError)
    /// Submits a transfer. Unless this throws, `completion` is called once, from ``handleEvents()``.
    func submit(_ transfer: USBTransfer, completion: @escaping @Sendable (USBOutcome) -> Void) throws(USBCallError)
    /// Cancels all pending transfers. They complete as cancelled, or as done.
    func cancelAll()
    /// Waits for events or an interruption, and calls completions. On a single thread only.
    func handleEvents()
    /// Makes a call of ``handleEvents()`` on another thread return.
    func interrupt()
    /// Closes the device. No transfer may be pending, and no method may be called afterwards.
    func close()
}

package struct USBTransfer: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        /// Data for the device. For a control transfer, this includes the setup packet.
        case write([UInt8])
        /// The number of octets to read.
        case read(Int)
    }

    package var kind: USBDevice.Endpoint.Kind
    /// The endpoint address, including the direction.
    package var endpoint: UInt8
    package var content: Content
    /// Whether a zero-length packet ends the transfer when its last packet is full (USB 2.0 5.8.3).
    package var marksEnd = false
    /// The time limit in milliseconds; 0 for none.
    package var timeout: UInt32 = 0
}

/// The result of a transfer.
package enum USBOutcome: Hashable, Sendable {
    /// The octets received, possibly fewer than requested.
    case read([UInt8])
    /// The number of octets sent, without the setup packet.
    case written(Int)
    /// The endpoint has stalled: the device refuses the transfer.
    case stalled
    /// Cancelled by this process.
    case cancelled
    /// The time limit passed.
    case timedOut
    /// The device was unplugged.
    case gone
    /// A bus error, as a libusb error code.
    case failed(Int32)
}

/// The error of a libusb call.
package struct USBCallError: Error, Hashable, Sendable {
    package static let access = USBCallError(-3)
    package static let noDevice = USBCallError(-4)
    package static let notFound = USBCallError(-5)
    package static let busy = USBCallError(-6)
    package static let pipe = USBCallError(-9)
    /// libusb is not installed. Not one of libusb's own codes.
    package static let noLibrary = USBCallError(-1_000)

    package var code: Int32

    package init(_ code: Int32) { self.code = code }

    /// The meaning of `enum libusb_error`.
    package var words: String {
        switch code {
        case -1: "input/output error"
        case -2: "invalid parameter"
        case -3: "access denied"
        case -4: "the device was unplugged"
        case -5: "not found"
        case -6: "busy"
        case -7: "timed out"
        case -8: "buffer overflow"
        case -9: "the endpoint stalled"
        case -11: "out of memory"
        case -12: "not supported on this system"
        default: "libusb error \(code)"
        }
    }
}
