import Foundation
import HCITransports
import StandInKernel
import TestBasics
import Testing

@testable import harald

/// Another machine's files, below a directory.
@Suite struct LinuxFactsTests {
    private let files = TemporaryDirectory.uncreated()

    private func facts(_ kernel: StandInKernel = StandInKernel()) -> MachineFacts {
        let adapters = KernelAdapters(calls: kernel, sysfs: files.file("sys"), proc: files.file("proc"))
        return LinuxFacts(adapters: adapters, root: files.path, log: { .lines(["x"]) }).facts()
    }

    @Test func anEmptyMachineIsSeen() {
        let facts = facts()
        #expect(facts.adapters == .found([]))
        #expect(facts.usb.isEmpty)
        #expect(!facts.hasUSBDriver)
        #expect(facts.usbRulePath == nil)
        #expect(!facts.mayTakeAdapters)
        #expect(!facts.bluetoothdRuns)
        #expect(facts.switches.isEmpty)
        #expect(facts.log == .lines(["x"]))
        #expect(facts.ports.isEmpty)
        #expect(!facts.isContainer)
    }

    @Test func kernelAnswersAreReported() {
        #expect(facts(StandInKernel(openError: EAFNOSUPPORT)).adapters == .noBluetooth)
        #expect(
            facts(StandInKernel([0: .init(isUp: true)])).adapters
                == .found([.init("hci0", bus: "virtual", holder: .kernel)])
        )
        guard case .failed = facts(StandInKernel(openError: EIO)).adapters else { return #expect(Bool(false)) }
    }

    /// Adds a USB interface, for Bluetooth by default.
    private func addInterface(_ name: String, driver: String? = nil, protocol number: String = "01") throws {
        let path = "sys/bus/usb/devices/\(name)"
        for (file, value) in [("Class", "e0"), ("SubClass", "01"), ("Protocol", number)] {
            try files.write(value + "\n", to: "\(path)/bInterface\(file)")
        }
        guard let driver else { return }
        try FileManager.default.createSymbolicLink(
            atPath: files.file("\(path)/driver"),
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
            try files.write(value + "\n", to: "sys/bus/usb/devices/2-1.4/\(name)")
        }
        #expect(
            facts().usb == [
                .init("1-2", driver: nil), .init("1-3"), .init("2-1.4", interface: 2, driver: "usbfs"),
            ]
        )
        try files.write("", to: "dev/bus/usb/002/117")
        try files.write("", to: "sys/bus/usb/drivers/btusb/bind")
        // A package's, which one of the machine's own has precedence over.
        let rule = "udev/rules.d/70-harald-usb.rules"
        try files.write("", to: "lib/\(rule)")
        #expect(facts().usbRulePath == "/lib/\(rule)")
        #expect(!facts().usbRuleIsOfService)
        for (text, isOfService) in [("GROUP=\"harald-usb\"", true), ("TAG+=\"uaccess\", GROUP=\"x\"", false)] {
            try files.write(text, to: "lib/\(rule)")
            #expect(facts().usbRuleIsOfService == isOfService)
        }
        try files.write("", to: "etc/\(rule)")
        let facts = facts()
        #expect(facts.usb.last?.node == .init("/dev/bus/usb/002/117", isOpen: true))
        #expect(facts.hasUSBDriver)
        #expect(facts.usbRulePath == "/etc/\(rule)")
    }

    @Test func filesAreSeen() throws {
        try files.write("Name:\tx\nCapEff:\t0000000000001000\n", to: "proc/self/status")
        try files.write("bluetoothd\n", to: "proc/77/comm")
        for (name, soft) in [("rfkill9", "1"), ("rfkill10", "0")] {
            try files.write("bluetooth\n", to: "sys/class/rfkill/\(name)/type")
            try files.write("hci\(soft)\n", to: "sys/class/rfkill/\(name)/name")
            try files.write(soft, to: "sys/class/rfkill/\(name)/soft")
            try files.write("0", to: "sys/class/rfkill/\(name)/hard")
        }
        try files.write("wlan\n", to: "sys/class/rfkill/rfkill11/type")
        for port in ["ttyACM10", "ttyACM9", "ttyUSB0"] { try files.write("", to: "dev/\(port)") }
        try files.write("", to: ".dockerenv")
        let facts = facts()
        #expect(facts.mayTakeAdapters)
        #expect(facts.bluetoothdRuns)
        #expect(facts.isContainer)
        #expect(facts.switches == [.init("hci1", isSoft: true), .init("hci0")])
        // In the order of their numbers.
        #expect(facts.ports.map(\.path) == ["/dev/ttyACM9", "/dev/ttyACM10", "/dev/ttyUSB0"])
        #expect(facts.ports.allSatisfy { $0.isOpen })
        try files.write("CapEff:\t0000003fffffefff\n", to: "proc/self/status")
        #expect(!self.facts().mayTakeAdapters)
    }
}
