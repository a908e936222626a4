import CUSB
import Synchronization

/// A device opened through libusb.
final class LibUSBConnection: USBConnection {
    /// The time limit of one wait for events, in milliseconds.
    private static let longestWait: Int32 = 60_000
    /// `LIBUSB_TRANSFER_ADD_ZERO_PACKET`.
    private static let addsEmptyPacket: UInt8 = 8

    // Safe: set once. libusb locks what these point to. They are valid until `close`, after which nothing is called.
    private struct Pointers: @unchecked Sendable {
        let (table, context, handle): (OpaquePointer, OpaquePointer, OpaquePointer)
    }

    // Safe: only accessed under the lock. A transfer is removed under the lock before it is freed.
    private struct Transfers: @unchecked Sendable {
        var next: UInt64 = 0
        var underWay: [UInt64: OpaquePointer] = [:]
    }

    /// The context of a transfer, passed through C.
    private final class Carried: Sendable {
        let connection: LibUSBConnection
        let number: UInt64
        let isRead: Bool
        let completion: @Sendable (USBOutcome) -> Void

        init(
            _ connection: LibUSBConnection,
            _ number: UInt64,
            isRead: Bool,
            _ completion: @escaping @Sendable (USBOutcome) -> Void
        ) {
            (self.connection, self.number, self.isRead, self.completion) = (connection, number, isRead, completion)
        }
    }

    private let pointers: Pointers
    private let transfers = Mutex(Transfers())

    init(_ library: LibUSB.Library, context: OpaquePointer, handle: OpaquePointer) {
        pointers = Pointers(table: library.table, context: context, handle: handle)
    }

    func isDriverActive(_ interface: UInt8) throws(USBCallError) -> Bool {
        try LibUSB.check(harald_usb_driver_active(pointers.table, pointers.handle, Int32(interface))) == 1
    }

    func detachDriver(_ interface: UInt8) throws(USBCallError) {
        try LibUSB.check(harald_usb_detach_driver(pointers.table, pointers.handle, Int32(interface)))
    }

    func attachDriver(_ interface: UInt8) throws(USBCallError) {
        try LibUSB.check(harald_usb_attach_driver(pointers.table, pointers.handle, Int32(interface)))
    }

    func claim(_ interface: UInt8) throws(USBCallError) {
        try LibUSB.check(harald_usb_claim(pointers.table, pointers.handle, Int32(interface)))
    }

    func release(_ interface: UInt8) throws(USBCallError) {
        try LibUSB.check(harald_usb_release(pointers.table, pointers.handle, Int32(interface)))
    }

    func select(_ alternate: UInt8, of interface: UInt8) throws(USBCallError) {
        try LibUSB.check(harald_usb_select(pointers.table, pointers.handle, Int32(interface), Int32(alternate)))
    }

    func clearHalt(_ endpoint: UInt8) throws(USBCallError) {
        try LibUSB.check(harald_usb_clear_halt(pointers.table, pointers.handle, endpoint))
    }

    func reset() throws(USBCallError) { try LibUSB.check(harald_usb_reset(pointers.table, pointers.handle)) }

    // MARK: Transfers

    func submit(_ transfer: USBTransfer, completion: @escaping @Sendable (USBOutcome) -> Void) throws(USBCallError) {
        // A completion on another thread waits for the lock, so it finds its transfer registered.
        let result = transfers.withLock { transfers in
            transfers.next += 1
            let number = transfers.next
            let carried = Unmanaged.passRetained(Carried(self, number, isRead: transfer.isRead, completion))
            var pointer: OpaquePointer?
            let result = begin(transfer, carried.toOpaque(), &pointer)
            if result < 0 { carried.release() } else { transfers.underWay[number] = pointer }
            return result
        }
        try LibUSB.check(result)
    }

    private func begin(_ transfer: USBTransfer, _ context: UnsafeMutableRawPointer, _ pointer: inout OpaquePointer?)
        -> Int32
    {
        func submit(_ octets: UnsafePointer<UInt8>?, _ count: Int) -> Int32 {
            harald_usb_submit(
                pointers.table,
                pointers.handle,
                transfer.kind.rawValue,
                transfer.endpoint,
                transfer.marksEnd ? Self.addsEmptyPacket : 0,
                transfer.timeout,
                octets,
                Int32(count),
                context,
                { LibUSBConnection.completed($0, $1, $2, $3) },
                &pointer
            )
        }
        switch transfer.content {
        case .read(let count): return submit(nil, count)
        case .write(let octets): return octets.withUnsafeBufferPointer { submit($0.baseAddress, $0.count) }
        }
    }

    /// Called by libusb from `handleEvents`, once for each transfer.
    private static func completed(
        _ context: UnsafeMutableRawPointer?,
        _ status: Int32,
        _ octets: UnsafePointer<UInt8>?,
        _ count: Int32
    ) {
        guard let context else { return }
        // Balances the retain in `submit`.
        let carried = Unmanaged<Carried>.fromOpaque(context).takeRetainedValue()
        _ = carried.connection.transfers.withLock { $0.underWay.removeValue(forKey: carried.number) }
        carried.completion(outcome(status, octets, Int(count), isRead: carried.isRead))
    }

    /// Translates a value of `enum libusb_transfer_status`.
    private static func outcome(_ status: Int32, _ octets: UnsafePointer<UInt8>?, _ count: Int, isRead: Bool)
        -> USBOutcome
    {
        switch status {
        // The data is only valid until this returns.
        case 0: isRead ? .read(Array(UnsafeBufferPointer(start: octets, count: count))) : .written(count)
        case 2: .timedOut
        case 3: .cancelled
        case 4: .stalled
        case 5: .gone
        case 6: .failed(-8)
        default: .failed(-1)
        }
    }

    func cancelAll() {
        // Completed transfers are no longer listed, and none is freed while the lock is held.
        transfers.withLock { transfers in
            for pointer in transfers.underWay.values { harald_usb_cancel(pointer) }
        }
    }

    func handleEvents() { _ = harald_usb_handle_events(pointers.table, pointers.context, Self.longestWait) }

    func interrupt() { harald_usb_interrupt(pointers.table, pointers.context) }

    func close() {
        harald_usb_close(pointers.table, pointers.handle)
        harald_usb_end(pointers.table, pointers.context)
    }
}

extension USBTransfer {
    fileprivate var isRead: Bool {
        if case .read = content { true } else { false }
    }
}
