import BluetoothTypes
import Foundation

/// Lists the kernel's adapters. Needs no privileges.
package struct KernelAdapters: Sendable {
    /// The time limit for the kernel's list of managed adapters, in milliseconds.
    private static let timeoutMilliseconds: Int32 = 1_000

    let calls: any KernelCalls
    private let sysfs: String
    private let proc: String

    /// - Parameters:
    ///   - calls: The kernel of this machine, or of another.
    ///   - sysfs: The path of the sysfs file system.
    ///   - proc: The path of the proc file system.
    package init(calls: any KernelCalls = LinuxCalls(), sysfs: String = "/sys", proc: String = "/proc") {
        self.calls = calls
        self.sysfs = sysfs
        self.proc = proc
    }

    /// Returns all adapters, by number.
    package func list() throws(UserChannelError) -> [KernelAdapter] {
        let socket: Int32
        do throws(ErrorNumber) {
            socket = try calls.openSocket()
        } catch {
            throw UserChannelError(error, of: "hci", asked: "opening a socket")
        }
        defer { calls.close(socket) }
        let indices: [UInt16]
        do throws(ErrorNumber) {
            indices = try calls.adapters(by: socket)
        } catch {
            throw UserChannelError(error, of: "hci", asked: "listing the adapters")
        }
        guard !indices.isEmpty else { return [] }
        let managed = managedAdapters()
        let hasDaemon = isRunning("bluetoothd")
        // Skips adapters that have disappeared meanwhile.
        return indices.sorted().compactMap { index in
            guard let octets = try? calls.information(on: index, by: socket),
                var adapter = KernelAdapter(octets, index: index)
            else { return nil }
            describe(&adapter)
            // The management interface lists an adapter from the time its driver is ready until a program claims it.
            adapter.isInitialized = managed?.contains(index) ?? (adapter.address != nil) || adapter.isUp
            if adapter.isUp {
                let isManaged = managed?.contains(index) ?? true
                adapter.holder = !isManaged ? .program : hasDaemon ? .bluetoothd : .kernel
            }
            return adapter
        }
    }

    // MARK: sysfs and procfs

    private func describe(_ adapter: inout KernelAdapter) {
        let directory = "\(sysfs)/class/bluetooth/\(adapter.name)"
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        adapter.isBlocked = names.filter { $0.hasPrefix("rfkill") }.contains { name in
            ["soft", "hard"].contains { text(of: "\(directory)/\(name)/\($0)") == "1" }
        }
        // ../../devices/…/usb1/1-2/1-2:1.0/bluetooth/hci0
        guard let path = try? FileManager.default.destinationOfSymbolicLink(atPath: directory) else { return }
        let parts = path.split(separator: "/").map(String.init)
        guard parts.count >= 3, parts.suffix(2).first == "bluetooth", !parts.contains("virtual") else { return }
        let device = parts[parts.count - 3]
        guard adapter.bus == "USB", let port = device.split(separator: ":").first else {
            return adapter.attachment = device
        }
        adapter.attachment = "usb-\(port)"
        adapter.product = text(of: "\(directory)/device/../product")
        adapter.node = node(of: "\(directory)/device/..")
    }

    /// Returns the device node, such as `/dev/bus/usb/001/002`, of the device with this sysfs directory.
    private func node(of directory: String) -> String? {
        let numbers = ["busnum", "devnum"].compactMap { text(of: "\(directory)/\($0)").flatMap { UInt($0) } }
        guard numbers.count == 2 else { return nil }
        return String(format: "/dev/bus/usb/%03lu/%03lu", numbers[0], numbers[1])
    }

    /// Returns the content of a file that holds one line, as sysfs and procfs files do.
    private func text(of path: String) -> String? {
        guard let octets = FileManager.default.contents(atPath: path) else { return nil }
        let line = String(decoding: octets.prefix(256), as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
        return line.isEmpty ? nil : line
    }

    private func isRunning(_ program: String) -> Bool {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: proc)) ?? []
        return names.contains { $0.allSatisfy(\.isNumber) && text(of: "\(proc)/\($0)/comm") == program }
    }

    // MARK: Bluetooth management

    /// Returns the adapters that the kernel's host manages or could manage. Adapters claimed through the user channel
    /// are not among them. Returns nil if the kernel does not tell.
    ///
    /// This management command changes no adapter. Read Controller Information would change how an adapter behaves that
    /// has never been managed.
    private func managedAdapters() -> Set<UInt16>? {
        guard let socket = try? calls.openSocket() else { return nil }
        defer { calls.close(socket) }
        do throws(ErrorNumber) {
            try calls.bind(socket, to: 0xFFFF, channel: .control)
            // Read Extended Controller Index List (doc/mgmt-api.txt of BlueZ): opcode, no adapter, no parameters.
            try calls.write([0x3C, 0x00, 0xFF, 0xFF, 0x00, 0x00], to: socket)
            // Other events may come first.
            for _ in 0..<16 {
                guard calls.wait(for: socket, milliseconds: Self.timeoutMilliseconds) else { return nil }
                if let found = Self.indices(try calls.read(socket, atMost: 4_096)) { return found }
            }
        } catch {
            return nil
        }
        return nil
    }

    /// Returns the adapter numbers in the Command Complete event for that command; nil for any other event.
    static func indices(_ event: [UInt8]) -> Set<UInt16>? {
        // Event, adapter, length; opcode, status, count; then number, type and bus of each adapter.
        guard event.count >= 11, event[0...1] == [0x01, 0x00], event[6...8] == [0x3C, 0x00, 0x00] else { return nil }
        let count = Int(event[9]) | Int(event[10]) << 8
        guard event.count >= 11 + 4 * count else { return nil }
        return Set((0..<count).map { UInt16(event[11 + 4 * $0]) | UInt16(event[12 + 4 * $0]) << 8 })
    }
}
