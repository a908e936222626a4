import Foundation
import HCITransports
import StandInKernel
import Testing

@testable import Diagnosis

/// Another machine's files, below a directory.
@Suite final class LinuxFactsTests {
    private let root = NSTemporaryDirectory() + "harald-machine-\(UUID())"

    deinit { try? FileManager.default.removeItem(atPath: root) }

    private func write(_ text: String, to path: String) throws {
        let url = URL(fileURLWithPath: root + path)
        try FileManager.default.createDirectory(at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    private func facts(_ kernel: StandInKernel = StandInKernel()) -> MachineFacts {
        let adapters = KernelAdapters(calls: kernel, sysfs: root + "/sys", proc: root + "/proc")
        return LinuxFacts(adapters: adapters, root: root, log: { .lines(["x"]) }).facts()
    }

    @Test func anEmptyMachineIsSeen() {
        let facts = facts()
        #expect(
            facts.adapters == .found([]) && facts.usb.isEmpty && !facts.hasUSBDriver && !facts.hasUSBRule
                && !facts.mayTakeAdapters && !facts.bluetoothdRuns
        )
        #expect(facts.switches.isEmpty && facts.log == .lines(["x"]) && facts.ports.isEmpty && !facts.isContainer)
    }

    @Test func whatTheKernelSaysOfAdaptersIsSeen() {
        #expect(facts(StandInKernel(openError: EAFNOSUPPORT)).adapters == .noBluetooth)
        #expect(
            facts(StandInKernel([0: .init(isUp: true)])).adapters
                == .found([.init("hci0", bus: "virtual", holder: .kernel)])
        )
        guard case .failed = facts(StandInKernel(openError: EIO)).adapters else { return #expect(Bool(false)) }
    }

    /// Adds a USB interface, for Bluetooth by default.
    private func addInterface(_ name: String, driver: String? = nil, protocol number: String = "01") throws {
        let path = "/sys/bus/usb/devices/\(name)"
        for (file, value) in [("Class", "e0"), ("SubClass", "01"), ("Protocol", number)] {
            try write(value + "\n", to: "\(path)/bInterface\(file)")
        }
        guard let driver else { return }
        let link = "\(root)\(path)/driver"
        try FileManager.default.createSymbolicLink(
            atPath: link,
            withDestinationPath: "../../../bus/usb/drivers/\(driver)"
        )
    }

    @Test func controllersOnUSBAreSeen() throws {
        try addInterface("1-2:1.0")
        try addInterface("1-2:1.1", driver: "btusb")
        try addInterface("1-3:1.0", driver: "btusb")
        try addInterface("1-3:1.1")
        try addInterface("2-1.4:1.3", driver: "usbfs")
        try addInterface("2-1.4:1.2", driver: "usbfs")
        // An AMP controller, and a device that is not configured.
        try addInterface("3-1:1.0", protocol: "04")
        try addInterface("usb1")
        for (name, value) in [("busnum", "2"), ("devnum", "117")] {
            try write(value + "\n", to: "/sys/bus/usb/devices/2-1.4/\(name)")
        }
        #expect(
            facts().usb == [
                .init("1-2", driver: nil), .init("1-3"), .init("2-1.4", interface: 2, driver: "usbfs"),
            ]
        )
        try write("", to: "/dev/bus/usb/002/117")
        try write("", to: "/sys/bus/usb/drivers/btusb/bind")
        try write("", to: "/etc/udev/rules.d/70-harald-usb.rules")
        let facts = facts()
        #expect(facts.usb.last?.node == .init("/dev/bus/usb/002/117", isOpen: true))
        #expect(facts.hasUSBDriver && facts.hasUSBRule)
    }

    @Test func filesAreSeen() throws {
        try write("Name:\tx\nCapEff:\t0000000000001000\n", to: "/proc/self/status")
        try write("bluetoothd\n", to: "/proc/77/comm")
        for (name, soft) in [("rfkill0", "1"), ("rfkill1", "0")] {
            try write("bluetooth\n", to: "/sys/class/rfkill/\(name)/type")
            try write("hci\(soft)\n", to: "/sys/class/rfkill/\(name)/name")
            try write(soft, to: "/sys/class/rfkill/\(name)/soft")
            try write("0", to: "/sys/class/rfkill/\(name)/hard")
        }
        try write("wlan\n", to: "/sys/class/rfkill/rfkill2/type")
        try write("", to: "/dev/ttyACM0")
        try write("", to: "/.dockerenv")
        let facts = facts()
        #expect(facts.mayTakeAdapters && facts.bluetoothdRuns && facts.isContainer)
        #expect(facts.switches == [.init("hci1", isSoft: true), .init("hci0")])
        #expect(facts.ports == [.init("/dev/ttyACM0", isOpen: true)])
        try write("CapEff:\t0000003fffffefff\n", to: "/proc/self/status")
        #expect(!self.facts().mayTakeAdapters)
    }
}
