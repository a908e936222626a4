import Foundation
import HCITransports
import StandInKernel
import Testing

@testable import Diagnosis

/// Another machine, below a directory.
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
            facts.adapters == .found([]) && facts.driverless.isEmpty && !facts.mayTakeAdapters && !facts.bluetoothdRuns
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

    @Test func filesAreSeen() throws {
        for (name, value) in [("bInterfaceClass", "e0"), ("bInterfaceSubClass", "01"), ("bInterfaceProtocol", "01")] {
            try write(value + "\n", to: "/sys/bus/usb/devices/1-2:1.0/\(name)")
            try write(value + "\n", to: "/sys/bus/usb/devices/1-3:1.0/\(name)")
        }
        try write("", to: "/sys/bus/usb/devices/1-3:1.0/driver")
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
        #expect(facts.driverless == ["1-2"] && facts.mayTakeAdapters && facts.bluetoothdRuns && facts.isContainer)
        #expect(facts.switches == [.init("hci1", isSoft: true), .init("hci0")])
        #expect(facts.ports == [.init("/dev/ttyACM0", isOpen: true)])
        try write("CapEff:\t0000003fffffefff\n", to: "/proc/self/status")
        #expect(!self.facts().mayTakeAdapters)
    }
}
