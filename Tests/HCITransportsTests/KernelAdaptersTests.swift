import BluetoothTypes
import StandInKernel
import Synchronization
import TestBasics
import Testing

@testable import HCITransports

@Suite struct KernelAdaptersTests {
    @Test func adaptersAreListedWithWhatIsKnownOfThem() throws {
        let files = try TemporaryDirectory.kernelFiles()
        try files.addUSBAdapter("hci1", port: "1-2", product: "CSR8510 A10")
        try files.write("1\n", to: "devices/virtual/bluetooth/hci0/rfkill0/soft")
        try files.link("class/bluetooth/hci0", to: "../../devices/virtual/bluetooth/hci0")
        try files.write("x", to: "devices/platform/soc/serial0/serial0-0/bluetooth/hci2/type")
        try files.link("class/bluetooth/hci2", to: "../../devices/platform/soc/serial0/serial0-0/bluetooth/hci2")
        let kernel = StandInKernel([
            0: .init(address: 0), 1: .init(address: 0x0011_2233_4455, bus: 1, isUp: true),
            2: .init(address: 3, bus: 3, isUp: true, isTaken: true),
        ])
        let adapters = try KernelAdapters(calls: kernel, sysfs: files.path, proc: files.path).list()
        #expect(adapters.map(\.name) == ["hci0", "hci1", "hci2"])
        #expect(
            adapters.map(\.address) == [0, 0x0011_2233_4455, 3].map { $0 == 0 ? nil : .init($0, kind: .publicDevice) }
        )
        #expect(adapters.map(\.bus) == ["virtual", "USB", "UART"])
        #expect(adapters.map(\.product) == [nil, "CSR8510 A10", nil])
        #expect(adapters.map(\.attachment) == [nil, "usb-1-2", "serial0-0"])
        #expect(adapters.map(\.place) == ["hci0", "hci:usb-1-2", "hci:serial0-0"])
        #expect(adapters.map(\.isUp) == [false, true, true])
        #expect(adapters.map(\.isBlocked) == [true, false, false])
        #expect(adapters.map(\.holder) == [.nobody, .kernel, .program])
    }

    @Test func withoutManagementNobodyIsTakenForAProgram() throws {
        let files = try TemporaryDirectory.kernelFiles()
        let kernel = StandInKernel([0: .init(isUp: true, isTaken: true)])
        kernel.state.withLock { $0.manages = false }
        let adapters = try KernelAdapters(calls: kernel, sysfs: files.path, proc: files.path).list()
        #expect(adapters.map(\.holder) == [.kernel])
    }

    @Test func theListOfManagementIsReadAndNothingElseIsTakenForIt() {
        let list: [UInt8] = [1, 0, 0xFF, 0xFF, 13, 0, 0x3C, 0, 0, 2, 0, 0, 0, 0, 1, 5, 1, 0, 1]
        #expect(KernelAdapters.indices(list) == [0, 0x105])
        for count in list.indices { #expect(KernelAdapters.indices(Array(list.prefix(count))) == nil) }
        for (place, value) in [(0, UInt8(2)), (6, 3), (8, 0x0D)] {
            var other = list
            other[place] = value
            #expect(KernelAdapters.indices(other) == nil)
        }
    }

    @Test func shortEntriesAreNoAdapters() {
        #expect(KernelAdapter([UInt8](repeating: 0, count: 20), index: 0) == nil)
        #expect(KernelAdapter([UInt8](repeating: 0, count: 21), index: 5)?.name == "hci5")
    }
}
