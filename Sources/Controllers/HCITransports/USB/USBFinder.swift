import HCI
import Synchronization

/// Claims a USB controller, from the kernel's driver if one is attached. Recognizes a controller that it claimed before
/// when it is plugged in again.
package final class USBFinder: Sendable {
    /// The maximum number of polls for the driver to attach and to finish its initialization. Loading firmware takes
    /// seconds.
    static let maximumPolls = 100
    /// The number of polls in which a driver may still attach to a device that was just plugged in.
    static let driverPolls = 5
    /// The pause between two polls, in milliseconds.
    static let pause: UInt32 = 100

    /// A controller that was claimed for this process, with its open device.
    package struct Claimed: Sendable {
        package var device: USBDevice
        package var connection: any USBConnection
        package var endpoints: USBEndpoints
    }

    let calls: any USBCalls
    private let adapters: KernelAdapters
    // The controller that was claimed last.
    let last = Mutex<USBDevice?>(nil)
    // Held while a device is claimed, from the first poll to the end, and while one is reset, until it is back with its
    // driver.
    private let turn = Mutex<Void>(())
    // The number of resets that wait for `turn`.
    private let resets = Mutex(0)
    var isToReset: Bool { resets.withLock { $0 > 0 } }

    /// - Parameters:
    ///   - calls: Access to the devices of this machine, or of another.
    ///   - adapters: The kernel's adapters on the same machine.
    package init(calls: any USBCalls = LibUSB.shared, adapters: KernelAdapters = KernelAdapters()) {
        self.calls = calls
        self.adapters = adapters
    }

    /// Returns the Bluetooth controllers, by bus and place.
    package func list() throws(USBError) -> [USBDevice] {
        try devices().filter(\.isBluetooth)
    }

    func devices() throws(USBError) -> [USBDevice] {
        do throws(USBCallError) {
            return try calls.devices().sorted { ($0.bus, $0.place) < ($1.bus, $1.place) }
        } catch {
            throw USBError(error, asked: "listing devices")
        }
    }

    /// Claims the chosen controller. Blocks for seconds while the kernel's driver loads firmware, so do not call it on
    /// a loop.
    package func claim(_ choice: USBChoice) throws(USBError) -> Claimed {
        try turn.withLock { _ throws(USBError) in try claimFirst(of: choice) }
    }

    /// Makes a claim in progress give up, then runs `body` with exclusive access.
    func inTurn(_ body: () throws(USBError) -> DeviceReset) throws(USBError) -> DeviceReset {
        resets.withLock { $0 += 1 }
        return try turn.withLock { _ throws(USBError) in
            resets.withLock { $0 -= 1 }
            return try body()
        }
    }

    private func claimFirst(of choice: USBChoice) throws(USBError) -> Claimed {
        let all = try devices()
        let candidates = candidates(for: choice, among: all)
        let known = all.filter(\.isBluetooth).map { "usb:\($0.place) (\($0.name))" }
        guard !candidates.isEmpty else {
            if choice == .first { throw .noControllers }
            throw .noSuchController(choice, known: known)
        }
        var reasons: [USBError] = []
        for device in candidates {
            do throws(USBError) {
                let claimed = try claim(device)
                last.withLock { $0 = device }
                return claimed
            } catch {
                reasons.append(error)
            }
        }
        if reasons.count == 1, let reason = reasons.first { throw reason }
        throw .noneUsable(reasons)
    }

    func candidates(for choice: USBChoice, among all: [USBDevice]) -> [USBDevice] {
        let controllers = all.filter(\.isBluetooth)
        switch choice {
        case .first: return controllers
        case .number(let number):
            // Positions change when another controller is unplugged. Prefer the controller that was claimed before.
            let again = last.withLock { last in last.flatMap { last in controllers.first { Self.isSame($0, last) } } }
            return [again ?? (controllers.indices.contains(number) ? controllers[number] : nil)].compactMap { $0 }
        case .product(let vendor, let product): return all.filter { ($0.vendor, $0.product) == (vendor, product) }
        case .place(let place): return all.filter { $0.place == place }
        }
    }

    static func isSame(_ one: USBDevice, _ other: USBDevice) -> Bool {
        (one.vendor, one.product, one.place) == (other.vendor, other.product, other.place)
    }

    private func claim(_ device: USBDevice) throws(USBError) -> Claimed {
        let sets = USBEndpoints.sets(of: device)
        guard let endpoints = sets.last else { throw .incomplete(device) }
        let connection = try open(device)
        do throws(USBError) {
            try wait(for: device, connection, endpoints.interface)
            try claim(endpoints.interface, of: device, connection)
        } catch {
            connection.close()
            throw error
        }
        return Claimed(device: device, connection: connection, endpoints: chosen(sets, connection) ?? endpoints)
    }

    func open(_ device: USBDevice) throws(USBError) -> any USBConnection {
        do throws(USBCallError) {
            return try calls.open(device)
        } catch {
            throw USBError(error, asked: "opening it", of: device)
        }
    }

    /// Returns the first set whose alternate setting the device accepts. Setting 0 needs no selection if there is no
    /// other.
    private func chosen(_ sets: [USBEndpoints], _ connection: any USBConnection) -> USBEndpoints? {
        sets.first {
            ($0.isSerialized || sets.count > 1) ? (try? connection.select($0.alternate, of: $0.interface)) != nil : true
        }
    }

    func claim(_ interface: UInt8, of device: USBDevice, _ connection: any USBConnection) throws(USBError) {
        var isDetached = false
        do throws(USBCallError) {
            if try connection.isDriverActive(interface) {
                try connection.detachDriver(interface)
                isDetached = true
            }
            try connection.claim(interface)
        } catch {
            if isDetached { try? connection.attachDriver(interface) }
            throw USBError(error, asked: "claiming it", of: device)
        }
    }

    /// Waits until the kernel's driver has loaded the controller's firmware, which then serves this process too. Gives
    /// up waiting for a driver that never finishes, and proceeds.
    private func wait(for device: USBDevice, _ connection: any USBConnection, _ interface: UInt8) throws(USBError) {
        for look in 0..<Self.maximumPolls {
            guard !isToReset else { throw .beingReset(device) }
            // Without a driver, there is no firmware to wait for.
            let isActive = (try? connection.isDriverActive(interface)) ?? false
            guard isActive || look < Self.driverPolls else { return }
            if isActive {
                // Without Bluetooth in the kernel, this is some other driver.
                guard let known = try? adapters.list() else { return }
                if let adapter = known.first(where: { $0.attachment == "usb-\(device.place)" }), adapter.isInitialized {
                    return try refuseHeld(device, adapter)
                }
            }
            adapters.calls.pause(milliseconds: Self.pause)
        }
    }

    /// Throws if a user holds the adapter: a device in use is never claimed.
    private func refuseHeld(_ device: USBDevice, _ adapter: KernelAdapter) throws(USBError) {
        guard [.nobody, .kernel].contains(adapter.holder) else {
            throw .held(device, .busy(adapter.name, adapter.holder))
        }
    }

    /// Throws if a user holds the device through the kernel's driver: a device in use is not reset.
    func refuseHeld(_ device: USBDevice) throws(USBError) {
        guard let adapter = (try? adapters.list())?.first(where: { $0.attachment == "usb-\(device.place)" }) else {
            return
        }
        try refuseHeld(device, adapter)
    }
}
