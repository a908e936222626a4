import HCI
import Synchronization

/// Takes a controller on USB, from the kernel's driver where that has it. One that was taken before is known again where it is plugged in again.
package final class USBFinder: Sendable {
    /// How often it is looked whether a driver has got there, and whether it has done what it does at first. Firmware takes a driver seconds.
    static let maximumLooks = 100
    /// How often it is looked for a driver that may still come to what was plugged in just now.
    static let driverLooks = 5
    /// Milliseconds between two looks.
    static let pause: UInt32 = 100

    /// What has been taken.
    package struct Taken: Sendable {
        package var device: USBDevice
        package var connection: any USBConnection
        package var endpoints: USBEndpoints
    }

    let calls: any USBCalls
    private let adapters: KernelAdapters
    // What was taken last.
    let last = Mutex<USBDevice?>(nil)
    // Who takes a device has it from the first look until it is taken, and who resets one until it has gone back.
    private let turn = Mutex<Void>(())
    // How many resets have not begun: they wait for their turn.
    private let resets = Mutex(0)
    var isToReset: Bool { resets.withLock { $0 > 0 } }

    /// On what is plugged into this machine, or elsewhere.
    package init(calls: any USBCalls = LibUSB.shared, adapters: KernelAdapters = KernelAdapters()) {
        self.calls = calls
        self.adapters = adapters
    }

    /// The controllers that there are, in the order of their places.
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

    /// Takes the controller that is meant. The kernel's driver may load firmware meanwhile, for seconds: not on a loop.
    package func take(_ choice: USBChoice) throws(USBError) -> Taken {
        try turn.withLock { _ throws(USBError) in try takeFirst(of: choice) }
    }

    /// Has whoever takes a device give up, and then does something that nobody is to meet in the middle.
    func inTurn(_ body: () throws(USBError) -> DeviceReset) throws(USBError) -> DeviceReset {
        resets.withLock { $0 += 1 }
        return try turn.withLock { _ throws(USBError) in
            resets.withLock { $0 -= 1 }
            return try body()
        }
    }

    private func takeFirst(of choice: USBChoice) throws(USBError) -> Taken {
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
                let taken = try take(device)
                last.withLock { $0 = device }
                return taken
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
            // Numbers move when one is unplugged; what was taken is meant.
            let again = last.withLock { last in last.flatMap { last in controllers.first { Self.isSame($0, last) } } }
            return [again ?? (controllers.indices.contains(number) ? controllers[number] : nil)].compactMap { $0 }
        case .product(let vendor, let product): return all.filter { ($0.vendor, $0.product) == (vendor, product) }
        case .place(let place): return all.filter { $0.place == place }
        }
    }

    static func isSame(_ one: USBDevice, _ other: USBDevice) -> Bool {
        (one.vendor, one.product, one.place) == (other.vendor, other.product, other.place)
    }

    private func take(_ device: USBDevice) throws(USBError) -> Taken {
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
        return Taken(device: device, connection: connection, endpoints: chosen(sets, connection) ?? endpoints)
    }

    func open(_ device: USBDevice) throws(USBError) -> any USBConnection {
        do throws(USBCallError) {
            return try calls.open(device)
        } catch {
            throw USBError(error, asked: "opening it", of: device)
        }
    }

    /// The first setting that the device takes. That which it has at first it has anyway.
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
            throw USBError(error, asked: "taking it", of: device)
        }
    }

    /// Waits until the kernel's driver has what it loads into the controller, so that it is there for us too. A driver that never finishes has
    /// nothing more to give.
    private func wait(for device: USBDevice, _ connection: any USBConnection, _ interface: UInt8) throws(USBError) {
        for look in 0..<Self.maximumLooks {
            guard !isToReset else { throw .beingReset(device) }
            // Without such a driver nobody loads anything.
            let isActive = (try? connection.isDriverActive(interface)) ?? false
            guard isActive || look < Self.driverLooks else { return }
            if isActive {
                // This kernel has no Bluetooth, so the driver is another.
                guard let known = try? adapters.list() else { return }
                if let adapter = known.first(where: { $0.attachment == "usb-\(device.place)" }), adapter.isInitialized {
                    return try refuseHeld(device, adapter)
                }
            }
            adapters.calls.pause(milliseconds: Self.pause)
        }
    }

    /// What a person uses is not taken away.
    private func refuseHeld(_ device: USBDevice, _ adapter: KernelAdapter) throws(USBError) {
        guard [.nobody, .kernel].contains(adapter.holder) else {
            throw .held(device, .busy(adapter.name, adapter.holder))
        }
    }

    /// Nor reset, where the kernel's driver has it for somebody.
    func refuseHeld(_ device: USBDevice) throws(USBError) {
        guard let adapter = (try? adapters.list())?.first(where: { $0.attachment == "usb-\(device.place)" }) else {
            return
        }
        try refuseHeld(device, adapter)
    }
}
