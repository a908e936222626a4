import CUSB
import HCI
import Synchronization

/// The machine's libusb-1.0, loaded on first use.
package final class LibUSB: USBCalls {
    /// The maximum number of devices to list. A bus has at most 127.
    static let maximumDevices = 512
    /// The library under the name that it has had since 2008.
    package static let shared = LibUSB()

    private let name: String
    private let library: Mutex<Library?> = Mutex(nil)

    /// - Parameter name: The file name of the shared library.
    package init(name: String = "libusb-1.0.so.0") { self.name = name }

    // Safe: a table of function pointers that is written once, before it is shared, and never freed. libusb may be
    // called from any thread.
    struct Library: @unchecked Sendable {
        let table: OpaquePointer
    }

    private func load() throws(USBCallError) -> Library {
        let found = library.withLock { library in
            if library == nil { library = harald_usb_load(name).map(Library.init) }
            return library
        }
        guard let found else { throw .noLibrary }
        return found
    }

    package func devices() throws(USBCallError) -> [USBDevice] {
        let library = try load()
        let context = try Self.begin(library)
        defer { harald_usb_end(library.table, context) }
        var found = [harald_usb_device](repeating: harald_usb_device(), count: Self.maximumDevices)
        let count = found.withUnsafeMutableBufferPointer {
            harald_usb_devices(library.table, context, $0.baseAddress, $0.count)
        }
        try Self.check(count)
        return found.prefix(Int(count)).map(USBDevice.init)
    }

    package func open(_ device: USBDevice) throws(USBCallError) -> any USBConnection {
        let library = try load()
        // A new context for each connection. Without udev, an existing context does not notice devices that are plugged
        // in later.
        let context = try Self.begin(library)
        var handle: OpaquePointer?
        let result = harald_usb_open(library.table, context, device.bus, device.address, &handle)
        guard result >= 0, let handle else {
            harald_usb_end(library.table, context)
            throw USBCallError(result)
        }
        return LibUSBConnection(library, context: context, handle: handle)
    }

    private static func begin(_ library: Library) throws(USBCallError) -> OpaquePointer {
        var context: OpaquePointer?
        let result = harald_usb_begin(library.table, &context)
        guard result >= 0, let context else { throw USBCallError(result) }
        return context
    }

    @discardableResult
    static func check(_ result: Int32) throws(USBCallError) -> Int32 {
        guard result >= 0 else { throw USBCallError(result) }
        return result
    }
}

extension USBDevice {
    fileprivate init(_ found: harald_usb_device) {
        // Swift imports C arrays as tuples.
        let ports = withUnsafeBytes(of: found.ports) { Array($0.prefix(Int(found.port_count))) }
        let endpoints = withUnsafeBytes(of: found.endpoints) {
            Array($0.bindMemory(to: harald_usb_endpoint.self).prefix(Int(found.endpoint_count)))
        }
        self.init(
            vendor: found.vendor,
            product: found.product,
            bus: found.bus,
            address: found.address,
            ports: ports,
            deviceClass: Class(found.device_class, found.subclass, found.protocol),
            endpoints: endpoints.compactMap(Endpoint.init)
        )
    }
}

extension USBDevice.Endpoint {
    fileprivate init?(_ found: harald_usb_endpoint) {
        guard let kind = Kind(rawValue: found.attributes & 0x03) else { return nil }
        self.init(
            interface: found.interface,
            alternate: found.alternate,
            interfaceClass: .init(found.interface_class, found.subclass, found.protocol),
            address: found.address,
            kind: kind,
            // The bits above are the number of packets per microframe (USB 2.0 9.6.6).
            size: Int(found.size & 0x07FF)
        )
    }
}
