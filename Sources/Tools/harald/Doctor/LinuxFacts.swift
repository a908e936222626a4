import Foundation
import HCITransports

/// Facts about this machine, or about the machine whose file tree is below `root`.
///
/// Collecting them changes nothing and needs no privileges. What is not accessible is left out.
struct LinuxFacts {
    static let maximumEntries = 4_096
    /// CAP_NET_ADMIN, the capability to claim adapters (`include/uapi/linux/capability.h`).
    private static let networkRight = 12

    private let adapters: KernelAdapters
    private let root: String
    private let log: @Sendable () -> MachineFacts.Log

    /// - Parameter root: The prefix of `/sys`, `/proc` and so on.
    init(
        adapters: KernelAdapters = KernelAdapters(),
        root: String = "",
        log: @escaping @Sendable () -> MachineFacts.Log = KernelMessages.read
    ) {
        (self.adapters, self.root, self.log) = (adapters, root, log)
    }

    func facts() -> MachineFacts {
        var facts = MachineFacts()
        facts.adapters = kernelAdapters()
        facts.usb = controllers()
        facts.hasUSBDriver = FileManager.default.fileExists(atPath: root + "/sys/bus/usb/drivers/btusb")
        facts.usbRulePath = MachineFacts.usbRulePaths.first { FileManager.default.fileExists(atPath: root + $0) }
        facts.usbRuleIsOfService = facts.usbRulePath.map(isOfService) ?? false
        facts.mayTakeAdapters = mayTakeAdapters()
        facts.isContainer = ["/.dockerenv", "/run/.containerenv"].contains {
            FileManager.default.fileExists(atPath: root + $0)
        }
        facts.bluetoothdRuns = entries("/proc").contains {
            $0.allSatisfy(\.isNumber) && text("/proc/\($0)/comm") == "bluetoothd"
        }
        facts.switches = switches()
        facts.log = log()
        facts.ports = entries("/dev").filter { $0.hasPrefix("ttyACM") || $0.hasPrefix("ttyUSB") }.map { name in
            .init("/dev/\(name)", isOpen: access("\(root)/dev/\(name)", R_OK | W_OK) == 0)
        }
        return facts
    }

    private func kernelAdapters() -> MachineFacts.Adapters {
        do throws(UserChannelError) {
            return .found(try adapters.list().map { .init($0.name, bus: $0.bus, holder: $0.holder) })
        } catch .noBluetooth {
            return .noBluetooth
        } catch {
            return .failed("\(error)")
        }
    }

    /// Returns the USB devices that have a Bluetooth interface (class E0, subclass 01, protocol 01: Core Vol 4 Part B
    /// 3). The lowest-numbered interface represents the device; the others, for voice, follow it.
    private func controllers() -> [MachineFacts.USBController] {
        let devices = "/sys/bus/usb/devices"
        var first: [String: Int] = [:]
        for name in entries(devices) {
            // 1-2:1.0 is place, configuration, interface.
            let parts = name.split(separator: ":")
            guard parts.count == 2, let number = parts[1].split(separator: ".").last.flatMap({ Int($0) }),
                text("\(devices)/\(name)/bInterfaceClass") == "e0",
                text("\(devices)/\(name)/bInterfaceSubClass") == "01",
                text("\(devices)/\(name)/bInterfaceProtocol") == "01"
            else { continue }
            let place = String(parts[0])
            first[place] = min(first[place] ?? number, number)
        }
        return first.sorted { $0.key < $1.key }.map { place, interface in
            let link = "\(root)\(devices)/\(place):1.\(interface)/driver"
            let driver = try? FileManager.default.destinationOfSymbolicLink(atPath: link)
            return .init(
                place,
                interface: interface,
                driver: driver?.split(separator: "/").last.map(String.init),
                node: node(of: "\(devices)/\(place)")
            )
        }
    }

    /// Returns the device node, such as `/dev/bus/usb/001/002`.
    private func node(of device: String) -> MachineFacts.Node? {
        let numbers = ["busnum", "devnum"].compactMap { text("\(device)/\($0)").flatMap { UInt8($0) } }
        guard numbers.count == 2 else { return nil }
        let parts = numbers.map { String("00\($0)".suffix(3)) }
        let path = "/dev/bus/usb/\(parts[0])/\(parts[1])"
        guard FileManager.default.fileExists(atPath: root + path) else { return nil }
        return .init(path, isOpen: access(root + path, R_OK | W_OK) == 0)
    }

    /// Whether a udev rule has a group, and nothing for the user at the machine.
    private func isOfService(rule path: String) -> Bool {
        let octets = FileManager.default.contents(atPath: root + path) ?? Data()
        let text = String(decoding: octets.prefix(4_096), as: UTF8.self)
        return text.contains("GROUP=") && !text.contains("uaccess")
    }

    private func mayTakeAdapters() -> Bool {
        guard let status = FileManager.default.contents(atPath: "\(root)/proc/self/status") else { return false }
        let lines = String(decoding: status, as: UTF8.self).split(separator: "\n")
        guard let line = lines.first(where: { $0.hasPrefix("CapEff:") }), let word = line.split(separator: "\t").last,
            let rights = UInt64(word, radix: 16)
        else { return false }
        return rights >> Self.networkRight & 1 == 1
    }

    private func switches() -> [MachineFacts.RadioSwitch] {
        entries("/sys/class/rfkill").compactMap { name in
            let path = "/sys/class/rfkill/\(name)"
            guard text("\(path)/type") == "bluetooth" else { return nil }
            return .init(
                text("\(path)/name") ?? name,
                isSoft: text("\(path)/soft") == "1",
                isHard: text("\(path)/hard") == "1"
            )
        }
    }

    /// Returns the names in a directory, those that end in numbers in the order of these.
    private func entries(_ path: String) -> [String] {
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: root + path)) ?? []).prefix(
            Self.maximumEntries
        )
        return names.sorted { $0.compare($1, options: .numeric) == .orderedAscending }
    }

    /// Returns the content of a file that holds one line, as sysfs and procfs files do.
    private func text(_ path: String) -> String? {
        guard let octets = FileManager.default.contents(atPath: root + path) else { return nil }
        return String(decoding: octets.prefix(256), as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
