/// What is asked of USB devices: each function is one call of libusb. Tests put other devices in their place.
package protocol USBCalls: Sendable {
    /// What is plugged in.
    func devices() throws(USBCallError) -> [USBDevice]
    /// Opens a device, with events of its own.
    func open(_ device: USBDevice) throws(USBCallError) -> any USBConnection
}

/// A device that is open. From any thread, except where it is said otherwise.
package protocol USBConnection: Sendable {
    /// Whether a driver of the kernel has an interface.
    func isDriverActive(_ interface: UInt8) throws(USBCallError) -> Bool
    /// Takes an interface from the kernel's driver.
    func detachDriver(_ interface: UInt8) throws(USBCallError)
    /// Gives an interface to the kernel's driver.
    func attachDriver(_ interface: UInt8) throws(USBCallError)
    /// Takes an interface for this process.
    func claim(_ interface: UInt8) throws(USBCallError)
    /// Gives an interface back.
    func release(_ interface: UInt8) throws(USBCallError)
    /// Chooses a setting of an interface.
    func select(_ alternate: UInt8, of interface: UInt8) throws(USBCallError)
    /// Has an endpoint go on that has stalled.
    func clearHalt(_ endpoint: UInt8) throws(USBCallError)
    /// Resets the device, as if it were plugged in again.
    func reset() throws(USBCallError)
    /// Begins a transfer. `completion` is called once, by whoever handles events; not where this throws.
    func submit(_ transfer: USBTransfer, completion: @escaping @Sendable (USBOutcome) -> Void) throws(USBCallError)
    /// Ends all transfers that have not come back. They come back as cancelled, or done.
    func cancelAll()
    /// Waits until something has happened, or it is interrupted, and calls completions. On one thread alone.
    func handleEvents()
    /// Ends a wait for events.
    func interrupt()
    /// Ends the use of the device. No transfer may be left by then; nothing is called after that.
    func close()
}

/// A transfer.
package struct USBTransfer: Hashable, Sendable {
    package enum Content: Hashable, Sendable {
        /// Octets for the device; of a control transfer with what begins it.
        case write([UInt8])
        /// Room for so many from it.
        case read(Int)
    }

    package var kind: USBDevice.Endpoint.Kind
    /// The endpoint, with its direction.
    package var endpoint: UInt8
    package var content: Content
    /// Whether an empty packet marks the end where the last one is full (USB 2.0 5.8.3).
    package var marksEnd = false
    /// After how many milliseconds it has come to nothing; 0 for never.
    package var timeout: UInt32 = 0
}

/// What has become of a transfer.
package enum USBOutcome: Hashable, Sendable {
    /// What came.
    case read([UInt8])
    /// So many octets went, without what begins a control transfer.
    case written(Int)
    /// The endpoint refuses.
    case stalled
    /// It was ended from this side.
    case cancelled
    /// It has taken too long.
    case timedOut
    /// The device has been unplugged.
    case gone
    /// The bus says that something went wrong; the number is libusb's.
    case failed(Int32)
}

/// Why a call failed, as libusb numbers it.
package struct USBCallError: Error, Hashable, Sendable {
    package static let access = USBCallError(-3)
    package static let noDevice = USBCallError(-4)
    package static let notFound = USBCallError(-5)
    package static let busy = USBCallError(-6)
    package static let pipe = USBCallError(-9)
    /// There is no libusb: no number of its own.
    package static let noLibrary = USBCallError(-1_000)

    package var code: Int32

    package init(_ code: Int32) { self.code = code }

    /// `enum libusb_error`.
    package var words: String {
        switch code {
        case -1: "input/output error"
        case -2: "invalid parameter"
        case -3: "access denied"
        case -4: "the device is gone"
        case -5: "not found"
        case -6: "busy"
        case -7: "it took too long"
        case -8: "more octets than there was room for"
        case -9: "the device refuses"
        case -11: "no memory"
        case -12: "not supported here"
        default: "error \(code) of libusb"
        }
    }
}
