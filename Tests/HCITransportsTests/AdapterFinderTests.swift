import BluetoothTypes
import EventLoops
import Foundation
import HCI
import HCITransports
import StandInKernel
import Synchronization
import TestBasics
import Testing

@Suite struct AdapterFinderTests {
    private func finder(_ kernel: StandInKernel, _ files: TemporaryDirectory) -> AdapterFinder {
        AdapterFinder(KernelAdapters(calls: kernel, sysfs: files.path, proc: files.path))
    }

    @Test func theKernelsOwnHostGivesUpAnAdapterFirst() throws {
        let kernel = StandInKernel([0: .init(isUp: true)])
        let taken = try finder(kernel, try TemporaryDirectory.kernelFiles()).claim(.number(0))
        #expect(taken.name == "hci0")
        #expect(taken.place == "hci0")
        #expect(kernel.takeAsked() == ["down hci0", "bind hci0"])
        #expect(kernel.binding(of: taken.socket) == HCIBinding(adapter: 0, channel: 1))
        kernel.close(taken.socket)
    }

    @Test(
        "each kernel error is reported with advice",
        arguments: [
            (EPERM, UserChannelError.noPermission("hci0"), "setcap cap_net_admin+ep"),
            (ERFKILL, .blocked("hci0"), "rfkill unblock bluetooth"),
            (EBUSY, .busy("hci0", .nobody), "try again"),
            (ENODEV, .noSuchAdapter("hci0", known: []), "harald controllers"),
            (EAFNOSUPPORT, .noBluetooth, "modprobe bluetooth"),
            (EIO, .failed("hci0", asked: "claiming it", code: EIO), "dmesg"),
        ]
    )
    func kernelErrorsAreReported(code: Int32, error: UserChannelError, advice: String) throws {
        for isAtBind in [true, false] {
            let kernel = StandInKernel([0: .init()])
            kernel.state.withLock {
                let errors = [Int32](repeating: code, count: 10)
                if isAtBind { $0.bindErrors = errors } else { $0.downErrors = errors }
            }
            let finder = finder(kernel, try TemporaryDirectory.kernelFiles())
            #expect(throws: error) { try finder.claim(.number(0)) }
            #expect(error.description.contains(advice))
            // The socket of the failed attempt is closed.
            #expect(kernel.takeAsked().contains("down hci0"))
        }
    }

    @Test func aDeviceIsResetByItsPortWhereThatMayBe() throws {
        let kernel = StandInKernel([0: .init(bus: 1)])
        let files = try TemporaryDirectory.kernelFiles()
        try files.addUSBAdapter("hci0", port: "1-2", product: "Dongle")
        try files.write("1\n", to: "devices/pci0000:00/0000:00:14.0/usb1/1-2/busnum")
        try files.write("12\n", to: "devices/pci0000:00/0000:00:14.0/usb1/1-2/devnum")
        #expect(finder(kernel, files).reset("hci0") == .done)
        #expect(kernel.takeAsked() == ["reset /dev/bus/usb/001/012"])
        // Resetting the port needs permission.
        kernel.state.withLock { $0.portErrors = [EACCES] }
        #expect(finder(kernel, files).reset("hci0") == .done)
        #expect(kernel.takeAsked() == ["reset /dev/bus/usb/001/012", "up hci0", "down hci0"])
    }

    @Test func aDeviceThatIsNotOnUSBIsBroughtUpAnew() throws {
        let kernel = StandInKernel([0: .init(bus: 3)])
        let files = try TemporaryDirectory.kernelFiles()
        #expect(finder(kernel, files).reset("hci0") == .done)
        #expect(kernel.takeAsked() == ["up hci0", "down hci0"])
        kernel.state.withLock { $0.upErrors = [ETIMEDOUT] }
        guard case .failed(let reason) = finder(kernel, files).reset("hci0") else {
            return recordIssue("nothing failed")
        }
        #expect(reason.contains("bringing it up again"))
        #expect(finder(kernel, files).reset("hci9") == .failed(reason: "hci9 is gone"))
    }

    @Test func aKernelWithoutBluetoothIsTold() throws {
        let kernel = StandInKernel(openError: EAFNOSUPPORT)
        let finder = finder(kernel, try TemporaryDirectory.kernelFiles())
        #expect(throws: UserChannelError.noBluetooth) { try finder.claim(.first) }
        #expect(UserChannelError.noBluetooth.description.contains("in a container"))
    }

    @Test func aMachineWithoutAnAdapterIsTold() throws {
        let finder = finder(StandInKernel(), try TemporaryDirectory.kernelFiles())
        #expect(throws: UserChannelError.noAdapters) { try finder.claim(.number(0)) }
    }

    @Test func availableAdaptersAreListed() throws {
        let finder = finder(StandInKernel([1: .init(), 3: .init()]), try TemporaryDirectory.kernelFiles())
        let error = UserChannelError.noSuchAdapter("hci0", known: ["hci1", "hci3"])
        #expect(throws: error) { try finder.claim(.number(0)) }
        #expect(error.description == "there is no adapter hci0; available: hci1, hci3")
    }

    @Test func adaptersOfBluetoothdAreNotTaken() throws {
        let kernel = StandInKernel([0: .init(isUp: true)])
        let files = try TemporaryDirectory.kernelFiles()
        try files.write("bluetoothd\n", to: "417/comm")
        let finder = finder(kernel, files)
        #expect(throws: UserChannelError.busy("hci0", .bluetoothd)) { try finder.claim(.number(0)) }
        #expect(kernel.takeAsked() == [])
        // An adapter that bluetoothd has powered off is not in use.
        kernel.state.withLock { $0.adapters[0]?.isUp = false }
        kernel.close(try finder.claim(.number(0)).socket)
        #expect(UserChannelError.busy("hci0", .bluetoothd).description.contains("systemctl stop bluetooth"))
    }

    @Test func adaptersOfOtherProgramsAreReported() throws {
        let kernel = StandInKernel([0: .init(isUp: true, isTaken: true)])
        let finder = finder(kernel, try TemporaryDirectory.kernelFiles())
        #expect(throws: UserChannelError.busy("hci0", .program)) { try finder.claim(.number(0)) }
    }

    @Test func anAdapterWhoseDriverIsAtWorkIsWaitedFor() throws {
        let kernel = StandInKernel([0: .init()])
        kernel.state.withLock { $0.bindErrors = [EBUSY, EBUSY] }
        kernel.close(try finder(kernel, try TemporaryDirectory.kernelFiles()).claim(.number(0)).socket)
        #expect(kernel.state.withLock { $0.paused } == 400)
    }

    @Test func theFirstThatCanBeHadIsTaken() throws {
        let kernel = StandInKernel([
            0: .init(address: 1, isUp: true, isTaken: true), 1: .init(address: 2), 2: .init(address: 3),
        ])
        let finder = finder(kernel, try TemporaryDirectory.kernelFiles())
        let first = try finder.claim(.first)
        let second = try finder.claim(.first)
        #expect([first.name, second.name] == ["hci1", "hci2"])
        let reasons = (0...2).map { UserChannelError.busy("hci\($0)", .program) }
        #expect(throws: UserChannelError.noneUsable(reasons)) { try finder.claim(.first) }
        #expect(
            UserChannelError.noneUsable(reasons).description.hasPrefix(
                "no adapter is usable: another program has exclusive access to hci0;"
            )
        )
        kernel.close(first.socket)
        kernel.close(second.socket)
    }

    @Test("an adapter with a new number is recognised, and another one under the old number is not mistaken for it")
    func anAdapterIsFoundUnderItsNewNumber() throws {
        let kernel = StandInKernel([0: .init(address: 7)])
        let finder = finder(kernel, try TemporaryDirectory.kernelFiles())
        kernel.close(try finder.claim(.number(0)).socket)
        kernel.state.withLock { $0.adapters = [0: .init(address: 9), 1: .init(address: 7)] }
        let taken = try finder.claim(.number(0))
        #expect(taken.name == "hci1")
        kernel.close(taken.socket)
    }

    @Test func anAdapterIsChosenByAddressAndByPlace() throws {
        let files = try TemporaryDirectory.kernelFiles()
        try files.addUSBAdapter("hci1", port: "1-2.3", product: "Dongle")
        let address = BluetoothAddress(7, kind: .publicDevice)
        let kernel = StandInKernel([0: .init(address: 9), 1: .init(address: 7, bus: 1)])
        let finder = finder(kernel, files)
        for choice in [AdapterChoice.address(address), .attachment("usb-1-2.3")] {
            let taken = try finder.claim(choice)
            #expect(taken.name == "hci1")
            #expect(taken.place == "hci:usb-1-2.3")
            kernel.close(taken.socket)
        }
        let error = UserChannelError.noSuchAdapter("hci:usb-9-9", known: ["hci0", "hci1"])
        #expect(throws: error) { try finder.claim(.attachment("usb-9-9")) }
    }

    /// Records what is kept, as text.
    private final class Keeper: AdapterKeeper {
        private let said = Mutex<[String]>([])

        func keep(_ socket: Int32) { said.withLock { $0.append("keep \(socket)") } }
        func forget() { said.withLock { $0.append("forget") } }

        func take() -> [String] {
            said.withLock { said in
                defer { said = [] }
                return said
            }
        }
    }

    @Test("an adapter kept across a crash is reused once, without the packets meant for its predecessor")
    func anAdapterThatWasKept() throws {
        let (kernel, files, keeper) = (
            StandInKernel([0: .init(), 1: .init()]), try TemporaryDirectory.kernelFiles(), Keeper()
        )
        let adapters = KernelAdapters(calls: kernel, sysfs: files.path, proc: files.path)
        let first = try AdapterFinder(adapters, keeper: keeper).claim(.number(1))
        #expect(keeper.take() == ["keep \(first.socket)"])
        let controller = try #require(kernel.controller(of: 1))
        for octet in 0..<3 as Range<UInt8> { _ = Foundation.send(controller, [4, 0x10, 1, octet], 4, 0) }
        _ = kernel.takeAsked()
        let finder = AdapterFinder(adapters, kept: first.socket, keeper: keeper)
        #expect(try finder.claim(.first) == first)
        // It was not bound or kept anew, and has nothing to read.
        #expect(kernel.takeAsked().isEmpty)
        #expect(keeper.take().isEmpty)
        #expect(!kernel.wait(for: first.socket, milliseconds: 0))
        let second = try finder.claim(.first)
        #expect(second.name == "hci0" && keeper.take() == ["keep \(second.socket)"])
        for socket in [first.socket, second.socket] { kernel.close(socket) }
    }

    @Test(
        "a kept socket that is not an adapter, belongs to another one, or is dead is released, and the right adapter opened",
        arguments: [nil, 1, 0] as [UInt16?]
    )
    func otherKeptSocketsAreReleased(adapter: UInt16?) throws {
        let (kernel, files, keeper) = (
            StandInKernel([0: .init(), 1: .init()]), try TemporaryDirectory.kernelFiles(), Keeper()
        )
        let adapters = KernelAdapters(calls: kernel, sysfs: files.path, proc: files.path)
        let kept = try adapter.map { try AdapterFinder(adapters).claim(.number($0)).socket } ?? kernel.openSocket()
        if adapter == 0 { shutdown(try #require(kernel.controller(of: 0)), Int32(SHUT_RDWR)) }
        _ = kernel.takeAsked()
        let taken = try AdapterFinder(adapters, kept: kept, keeper: keeper).claim(.number(0))
        #expect(taken.name == "hci0" && keeper.take() == ["forget", "keep \(taken.socket)"])
        #expect(kernel.takeAsked() == (adapter.map { ["close hci\($0)"] } ?? []) + ["down hci0", "bind hci0"])
        kernel.close(taken.socket)
    }

    @Test("a kept socket of the right adapter that is not its user channel is released")
    func keptSocketsOfOtherChannelsAreReleased() throws {
        let (kernel, files, keeper) = (StandInKernel([0: .init()]), try TemporaryDirectory.kernelFiles(), Keeper())
        let adapters = KernelAdapters(calls: kernel, sysfs: files.path, proc: files.path)
        let kept = try kernel.openSocket()
        // The raw channel, with which the kernel's own host keeps running (bind(2) of `AF_BLUETOOTH`).
        kernel.state.withLock { $0.bindings[kept] = HCIBinding(adapter: 0, channel: 0) }
        let taken = try AdapterFinder(adapters, kept: kept, keeper: keeper).claim(.number(0))
        #expect(keeper.take() == ["forget", "keep \(taken.socket)"] && kernel.takeAsked().contains("bind hci0"))
        kernel.close(taken.socket)
    }

    @Test("an adapter is no longer kept once its transport is closed or ends", arguments: [false, true])
    func aLineThatEndsIsNotKept(isUnplugged: Bool) async throws {
        let (kernel, files, keeper) = (StandInKernel([0: .init()]), try TemporaryDirectory.kernelFiles(), Keeper())
        let adapters = KernelAdapters(calls: kernel, sysfs: files.path, proc: files.path)
        let finder = ControllerFinder(adapters, keeper: keeper)
        let loop = NIOEventLoop()
        let (ends, continuation) = AsyncStream<HCITransportError>.makeStream()
        let line = loop.make {
            let line = ControllerTransport(.adapter(.number(0)), loop: loop, finder: finder)
            line.onClose = { continuation.yield($0) }
            // Waits until the transport is open.
            line.send(HCIPacket(Reset()))
            return line
        }
        while kernel.state.withLock({ $0.written.isEmpty }) { await Task.yield() }
        #expect(keeper.take().map { $0.prefix(4) } == ["keep"])
        if isUnplugged {
            shutdown(try #require(kernel.controller(of: 0)), Int32(SHUT_RDWR))
            for await _ in ends { break }
        } else {
            line.with { $0.close() }
        }
        #expect(keeper.take() == ["forget"])
    }
}
