import Foundation
import HCI
import StandInKernel
import StandInUSB
import Synchronization
import TestBasics
import Testing

@testable import HCITransports

@Suite struct USBFinderTests {
    private static let dongle = StandInUSB.controller()
    private static let other = StandInUSB.controller(vendor: 0x0A12, product: 1, ports: [4, 1])
    private static let own = USBDevice.Class(0xFF, 1, 1)

    private func finder(
        _ usb: StandInUSB,
        _ kernel: StandInKernel = StandInKernel(),
        _ files: TemporaryDirectory? = nil
    )
        -> USBFinder
    {
        let path = files?.path ?? "/nowhere"
        return USBFinder(calls: usb, adapters: KernelAdapters(calls: kernel, sysfs: path, proc: path))
    }

    // MARK: Endpoints

    @Test("Core Vol 4 Part B 2.1: endpoints are used as a complete set of one interface, or not at all")
    func endpointsAreACompleteSet() {
        let all = Self.dongle.endpoints
        for left in 0..<3 {
            var device = Self.dongle
            device.endpoints.remove(at: left)
            #expect(USBEndpoints.sets(of: device).isEmpty, "without \(all[left])")
            // An endpoint of another interface or another alternate setting does not count.
            for (interface, alternate) in [(UInt8(2), UInt8(0)), (0, 2)] {
                var moved = Self.dongle
                (moved.endpoints[left].interface, moved.endpoints[left].alternate) = (interface, alternate)
                #expect(USBEndpoints.sets(of: moved).isEmpty, "with \(all[left]) elsewhere")
            }
        }
        #expect(
            USBEndpoints.sets(of: Self.dongle).map { [$0.interruptIn?.address, $0.bulkIn.address, $0.bulkOut.address] }
                == [[0x81, 0x82, 0x02]]
        )
    }

    @Test("Core 6.2 Vol 4 Part B: Bulk Serialization Mode is preferred where a Bluetooth interface offers it")
    func bulkSerializationModeIsPreferred() {
        let serialized = StandInUSB.controller(isSerialized: true)
        #expect(USBEndpoints.sets(of: serialized).map(\.isSerialized) == [true, false])
        // For another class, the meaning of the setting is unknown.
        let own = StandInUSB.controller(isSerialized: true, interfaceClass: Self.own)
        #expect(USBEndpoints.sets(of: own).map(\.isSerialized) == [false])
    }

    // MARK: Device selection

    @Test func controllersAreNamedInFourWays() throws {
        let hidden = StandInUSB.controller(vendor: 0x0B05, product: 0x17CB, ports: [9], interfaceClass: Self.own)
        let choices: [(String, USBChoice, String)] = [
            ("usb", .first, "1-2"), ("usb:1", .number(1), "1-4.1"),
            ("usb:0a12:0001", .product(vendor: 0x0A12, product: 1), "1-4.1"),
            ("usb:1-4.1", .place("1-4.1"), "1-4.1"),
            // A device of another class than Bluetooth's has to be named.
            ("usb:0b05:17cb", .product(vendor: 0x0B05, product: 0x17CB), "1-9"), ("usb:1-9", .place("1-9"), "1-9"),
        ]
        for (text, choice, place) in choices {
            #expect(try ControllerAddress(text) == .usb(choice))
            #expect(ControllerAddress.usb(choice).description == text)
            let usb = StandInUSB([Self.other, hidden, Self.dongle])
            #expect(try finder(usb).claim(choice).device.place == place, "\(text)")
        }
        for text in [
            "usb:", "usb:x", "usb:1-", "usb:-1", "usb:1-2..3", "usb:12345:1", "usb:1:2:3", "usbx", "usb:1-2-3", "usb:٣",
        ] {
            #expect(throws: ControllerAddress.ParseError.self) { try ControllerAddress(text) }
        }
    }

    @Test func oneThatIsPluggedInAgainIsKnownAgain() throws {
        let usb = StandInUSB([Self.dongle, Self.other])
        let finder = finder(usb)
        #expect(try finder.claim(.number(1)).device.place == "1-4.1")
        // The first device is gone, and this one has a new address on its bus.
        var again = Self.other
        again.address = 99
        usb.state.withLock { $0.devices = [again] }
        #expect(try finder.claim(.number(1)).device.address == 99)
    }

    @Test func whyNoneCanBeHadIsTold() throws {
        let usb = StandInUSB()
        #expect(throws: USBError.noControllers) { try finder(usb).claim(.first) }
        usb.state.withLock { $0.devices = [Self.dongle] }
        let missing = USBError.noSuchController(.number(3), known: ["usb:1-2 (1209:0b1e)"])
        #expect(throws: missing) { try finder(usb).claim(.number(3)) }
        for (code, error) in [
            (USBCallError.access, USBError.noPermission(Self.dongle)), (.noDevice, .gone(Self.dongle)),
            (.busy, .busy(Self.dongle)),
            (.init(-1), .failed(asked: "opening it", of: Self.dongle, .init(-1))),
        ] {
            usb.state.withLock { $0.openErrors = [code] }
            #expect(throws: error) { try finder(usb).claim(.first) }
        }
        #expect("\(USBError.noPermission(Self.dongle))".contains("harald install --udev"))
        usb.state.withLock { $0.listError = .noLibrary }
        #expect(throws: USBError.noLibrary) { try finder(usb).claim(.first) }
        #expect("\(USBError.noLibrary)".contains("apt install libusb-1.0-0"))
        var poor = Self.dongle
        poor.endpoints.removeFirst()
        #expect(throws: USBError.incomplete(poor)) { try finder(StandInUSB([poor])).claim(.first) }
    }

    @Test func theNextIsTakenWhereTheFirstCannotBeHad() throws {
        let usb = StandInUSB([Self.dongle, Self.other])
        usb.state.withLock { $0.openErrors = [.busy] }
        #expect(try finder(usb).claim(.first).device.place == "1-4.1")
        usb.state.withLock { $0.openErrors = [.busy, .access] }
        #expect(throws: USBError.noneUsable([.busy(Self.dongle), .noPermission(Self.other)])) {
            try finder(usb).claim(.first)
        }
    }

    @Test func aLibraryThatIsNotThereIsTold() {
        #expect(throws: USBCallError.noLibrary) { try LibUSB(name: "libharald-nothing.so.7").devices() }
        // A library that exists, but is not libusb.
        #expect(throws: USBCallError.noLibrary) { try LibUSB(name: "libc.so.6").devices() }
    }

    // MARK: The kernel's driver

    @Test("the kernel's driver is detached once it has loaded firmware, not before")
    func theDriverIsDetachedWhenItIsReady() throws {
        let files = try TemporaryDirectory.kernelFiles()
        try files.addUSBAdapter("hci0", port: "1-2", product: "Dongle")
        let kernel = StandInKernel([0: .init(address: 0, bus: 1)])
        kernel.state.withLock { $0.manages = false }
        let usb = StandInUSB([Self.dongle], driven: [0])
        // The adapter has no address until it is ready, and it never becomes ready.
        _ = try finder(usb, kernel, files).claim(.first)
        #expect(kernel.state.withLock { $0.paused } == UInt32(USBFinder.maximumPolls) * USBFinder.pause)
        #expect(usb.takeAsked() == ["open 1-2", "detach 0", "claim 0"])
        // The management interface lists the adapter, so it is ready at the first look.
        kernel.state.withLock { ($0.manages, $0.paused) = (true, 0) }
        usb.state.withLock { $0.driven = [0] }
        _ = try finder(usb, kernel, files).claim(.first)
        #expect(kernel.state.withLock { $0.paused } == 0)
    }

    @Test("a driver that is bound a little later is awaited, but not for ever")
    func aDriverThatComesLaterIsAwaited() throws {
        let files = try TemporaryDirectory.kernelFiles()
        try files.addUSBAdapter("hci0", port: "1-2", product: "Dongle")
        let kernel = StandInKernel([0: .init(bus: 1)])
        let usb = StandInUSB([Self.dongle], driven: [0])
        usb.state.withLock { $0.looksUntilDriven = 3 }
        _ = try finder(usb, kernel, files).claim(.first)
        #expect(usb.takeAsked() == ["open 1-2", "detach 0", "claim 0"])
        kernel.state.withLock { $0.paused = 0 }
        usb.state.withLock { $0.looksUntilDriven = 1_000 }
        _ = try finder(usb, kernel, files).claim(.first)
        #expect(usb.takeAsked() == ["open 1-2", "claim 0"])
        #expect(kernel.state.withLock { $0.paused } == UInt32(USBFinder.driverPolls) * USBFinder.pause)
    }

    @Test func devicesInUseThroughTheKernelAreNotTaken() throws {
        let files = try TemporaryDirectory.kernelFiles()
        try files.addUSBAdapter("hci0", port: "1-2", product: "Dongle")
        let usb = StandInUSB([Self.dongle], driven: [0])
        let kernel = StandInKernel([0: .init(bus: 1, isUp: true, isTaken: true)])
        let error = USBError.held(Self.dongle, .busy("hci0", .program))
        #expect(throws: error) { try finder(usb, kernel, files).claim(.first) }
        #expect(usb.takeAsked() == ["open 1-2", "close"])
        #expect(usb.state.withLock { $0.driven } == [0])
    }

    @Test("waiting for a driver that never finishes is abandoned when the device is to be reset")
    func aResetEndsTheWaitForTheDriver() async throws {
        let files = try TemporaryDirectory.kernelFiles()
        try files.addUSBAdapter("hci0", port: "1-2", product: "Dongle")
        let kernel = StandInKernel([0: .init(address: 0, bus: 1)])
        let (waits, continuation) = AsyncStream<Void>.makeStream()
        let goOn = DispatchSemaphore(value: 0)
        let isOver = Mutex(false)
        kernel.state.withLock { state in
            state.manages = false
            state.onPause = {
                continuation.yield()
                if !isOver.withLock({ $0 }) { goOn.wait() }
            }
        }
        let usb = StandInUSB([Self.dongle], driven: [0])
        let finder = finder(usb, kernel, files)
        let (ends, ended) = AsyncStream<Result<String, USBError>>.makeStream()
        let (resets, reset) = AsyncStream<DeviceReset>.makeStream()
        Thread.detachNewThread {
            ended.yield(Result { () throws(USBError) in try finder.claim(.first).device.place })
        }
        for await _ in waits { break }
        Thread.detachNewThread { reset.yield(finder.reset(.first)) }
        while !finder.isToReset { await Task.yield() }
        // The reset has not begun, so the device still belongs to the waiting transport.
        #expect(usb.takeAsked() == ["open 1-2"])
        isOver.withLock { $0 = true }
        goOn.signal()
        for await end in ends {
            #expect(end == .failure(.beingReset(Self.dongle)))
            break
        }
        for await result in resets {
            #expect(result == .done)
            break
        }
        #expect(kernel.state.withLock { $0.paused } == USBFinder.pause)
        #expect(
            usb.takeAsked() == [
                "close", "open 1-2", "detach 0", "claim 0", "release 0", "reset", "attach 0", "close",
            ]
        )
        // The device is available again.
        kernel.state.withLock { $0.manages = true }
        #expect(try finder.claim(.first).device == Self.dongle)
    }

    @Test("of several matching devices, the last one opened is reset")
    func theOneThatWasTakenIsReset() throws {
        let usb = StandInUSB([Self.dongle, Self.other])
        let finder = finder(usb)
        #expect(finder.reset(.first) == .done)
        #expect(usb.takeAsked().first == "open 1-2")
        usb.state.withLock { $0.openErrors = [.busy] }
        #expect(try finder.claim(.first).device == Self.other)
        _ = usb.takeAsked()
        #expect(finder.reset(.first) == .done)
        #expect(usb.takeAsked().first == "open 1-4.1")
        guard case .failed(let reason) = finder.reset(.place("7-7")) else { return #expect(Bool(false)) }
        #expect(reason.contains("usb:7-7"))
    }

    @Test func aDriverGetsBackWhatCannotBeTaken() throws {
        let usb = StandInUSB([Self.dongle], driven: [0])
        usb.state.withLock { $0.claimErrors = [.busy] }
        let kernel = StandInKernel(openError: 97)
        #expect(throws: USBError.busy(Self.dongle)) { try finder(usb, kernel).claim(.first) }
        #expect(usb.takeAsked() == ["open 1-2", "detach 0", "claim 0", "attach 0", "close"])
    }

    @Test func aModeThatTheControllerRefusesIsNotUsed() throws {
        let usb = StandInUSB([StandInUSB.controller(isSerialized: true)])
        #expect(try finder(usb).claim(.first).endpoints.isSerialized)
        #expect(usb.takeAsked().last == "select 1 of 0")
        usb.state.withLock { $0.selectErrors = [.pipe] }
        #expect(try !finder(usb).claim(.first).endpoints.isSerialized)
        #expect(usb.takeAsked().suffix(2) == ["select 1 of 0", "select 0 of 0"])
    }
}
