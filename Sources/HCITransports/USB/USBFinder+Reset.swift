import HCI
import Synchronization

extension USBFinder {
    /// Resets the device of a controller that nobody uses, as if it were plugged in again, and gives it to the kernel's driver, which begins with it
    /// anew. Whoever waits for that driver to take the controller meanwhile gives up. Takes seconds: not on a loop.
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
        // Another program that has it by USB is asked for it in vain; what it uses is not reset.
        try claim(interface, of: device, connection)
        try? connection.release(interface)
        defer { try? connection.attachDriver(interface) }
        return connection.resetDevice()
    }
}

extension USBConnection {
    /// Resets the device, whose interfaces nobody has.
    func resetDevice() -> DeviceReset {
        do throws(USBCallError) {
            try reset()
            return .done
        } catch .notFound {
            // It has been reset, and is another one to the kernel now: what it says of itself has changed, or it came back late.
            return .done
        } catch {
            return .failed(reason: "resetting the USB port fails: \(error.words); plug the controller in again")
        }
    }
}
