import HCI
import Synchronization

extension USBFinder {
    /// Resets the device of a free controller, as if it were plugged in again, and attaches the kernel's driver, which
    /// initializes it again. Blocks for seconds, so do not call it on a loop.
    ///
    /// A ``claim(_:)`` in progress that waits for the driver gives up.
    package func reset(_ choice: USBChoice) -> DeviceReset {
        do throws(USBError) {
            let all = try devices()
            let candidates = candidates(for: choice, among: all)
            let again = last.withLock { last in last.flatMap { last in candidates.first { Self.isSame($0, last) } } }
            guard let device = again ?? candidates.first else { throw .noSuchController(choice, known: []) }
            return try inTurn { () throws(USBError) in try reset(device) }
        } catch {
            return .failed(reason: error.description)
        }
    }

    private func reset(_ device: USBDevice) throws(USBError) -> DeviceReset {
        guard let interface = USBEndpoints.sets(of: device).last?.interface else { throw .incomplete(device) }
        try refuseHeld(device)
        let connection = try open(device)
        defer { connection.close() }
        // Claiming fails if another program holds the interface. A device in use is not reset.
        try claim(interface, of: device, connection)
        try? connection.release(interface)
        defer { try? connection.attachDriver(interface) }
        return connection.resetDevice()
    }
}

extension USBConnection {
    /// Resets the device, none of whose interfaces may be claimed.
    func resetDevice() -> DeviceReset {
        do throws(USBCallError) {
            try reset()
            return .done
        } catch .notFound {
            // The reset succeeded, but the device enumerated as a new one: its descriptors changed, or it came back
            // late.
            return .done
        } catch {
            return .failed(reason: "resetting the USB port failed: \(error.words); plug the controller in again")
        }
    }
}
