import HCITransports
import Testing

@testable import harald

/// Each finding, on fictitious machines.
@Suite struct DiagnosisTests {
    /// A machine without problems: a free adapter, a user with the necessary rights, and an empty log.
    private static var sound: MachineFacts {
        var facts = MachineFacts()
        facts.adapters = .found([.init("hci0")])
        facts.mayTakeAdapters = true
        facts.log = .lines([])
        facts.controller = ControllerFacts(name: "hci0", version: 12)
        return facts
    }

    private func codes(_ change: (inout MachineFacts) -> Void) -> [String] {
        var facts = Self.sound
        change(&facts)
        return Diagnosis(of: facts).findings.map(\.code)
    }

    private func finding(_ change: (inout MachineFacts) -> Void) throws -> Finding {
        var facts = Self.sound
        change(&facts)
        let diagnosis = Diagnosis(of: facts)
        try #require(diagnosis.findings.count == 1)
        return diagnosis.findings[0]
    }

    @Test func ofASoundMachineNothingIsFound() {
        let diagnosis = Diagnosis(of: Self.sound)
        #expect(diagnosis.findings.isEmpty)
        #expect(diagnosis.isSound)
        #expect(diagnosis.lines.count == 1)
    }

    @Test func aKernelWithoutBluetoothIsFound() throws {
        #expect(try finding { $0.adapters = .noBluetooth }.code == "no-kernel-bluetooth")
        let inside = try finding {
            $0.adapters = .noBluetooth
            $0.isContainer = true
        }
        #expect(inside.code == "namespace")
        #expect(inside.remedy?.contains("--network host") == true)
    }

    @Test func aMachineWithoutAnAdapterIsToldWhatWouldHelp() throws {
        let found = try finding { $0.adapters = .found([]) }
        #expect(found.code == "no-adapter")
        #expect(found.severity == .problem)
        #expect(found.remedy?.contains("tcp:HOST:PORT") == true)
        let other = try finding {
            $0.adapters = .found([])
            $0.usb = [.init("1-2", driver: nil)]
            $0.hasUSBDriver = false
        }
        #expect(other.code == "no-driver")
        #expect(other.place == "usb-1-2")
        #expect(other.remedy?.contains("modprobe btusb") == true)
        #expect(try finding { $0.adapters = .failed("no") }.code == "adapters")
    }

    @Test("a USB controller that a killed program used has no driver, and the finding has the commands that bind one")
    func aControllerWithoutItsDriverIsFound() throws {
        let found = try finding {
            $0.adapters = .found([])
            $0.usb = [.init("1-2.4", interface: 2, driver: nil)]
        }
        #expect(found.code == "driver-detached")
        #expect(found.place == "usb-1-2.4")
        #expect(found.severity == .problem)
        #expect(found.what.contains("killed"))
        #expect(found.remedy?.contains("--controller usb:1-2.4 ") == true)
        #expect(found.remedy?.contains("echo 1-2.4:1.2 | sudo tee /sys/bus/usb/drivers/btusb/bind") == true)
        // Another adapter makes no difference.
        #expect(codes { $0.usb = [.init("1-1"), .init("1-2", driver: nil)] } == ["driver-detached"])
        #expect(codes { $0.usb = [.init("1-1")] } == [])
    }

    @Test func aControllerThatAProgramHasByUSBIsFound() throws {
        let found = try finding {
            $0.adapters = .found([])
            $0.usb = [.init("1-2", driver: "usbfs")]
        }
        #expect(found.code == "held")
        #expect(found.place == "usb-1-2")
        #expect(found.what.contains("through USB"))
        let shared = codes {
            $0.adapters = .found([])
            $0.usb = [.init("1-2", driver: "usbfs")]
            $0.service = .answers(path: "/s", state: "poweredOn", failure: nil, advice: nil)
        }
        #expect(shared == ["service"])
    }

    @Test("missing rights on a USB controller are found, with the udev rule that grants them, or its current state")
    func missingRightsOnUSBAreFound() throws {
        let closed = MachineFacts.Node("/dev/bus/usb/001/002", isOpen: false)
        let note = try finding { $0.usb = [.init("1-2", node: closed)] }
        #expect(note.code == "usb-rights")
        #expect(note.place == closed.path)
        #expect(note.severity == .note)
        #expect(note.what.contains("usb:1-2"))
        #expect(note.remedy?.contains("harald install --udev") == true)
        let rule = try finding {
            $0.usb = [.init("1-2", node: closed)]
            $0.usbRulePath = "/lib/udev/rules.d/70-harald-usb.rules"
        }
        #expect(rule.remedy?.hasPrefix("/lib/udev/rules.d/70-harald-usb.rules grants") == true)
        #expect(rule.remedy?.contains("udevadm trigger") == true)
        let ofService = try finding {
            $0.usb = [.init("1-2", node: closed)]
            ($0.usbRulePath, $0.usbRuleIsOfService) = ("/lib/udev/rules.d/70-harald-usb.rules", true)
        }
        #expect(ofService.remedy?.contains("the machine-wide service alone") == true)
        #expect(ofService.remedy?.contains("udevadm") == false)
        // There is no other way to the controller.
        var facts = Self.sound
        facts.usb = [.init("1-2", driver: nil, node: closed)]
        #expect(
            Diagnosis(of: facts).findings.map { "\($0.severity) \($0.code)" }
                == ["problem driver-detached", "problem usb-rights"]
        )
        #expect(codes { $0.usb = [.init("1-2", node: .init("/n", isOpen: true))] } == [])
        let served = codes {
            $0.usb = [.init("1-2", node: closed)]
            $0.service = .answers(path: "/s", state: "poweredOn", failure: nil, advice: nil)
        }
        #expect(served == ["service"])
    }

    @Test func workingServicesNeedNoAdapter() {
        var facts = Self.sound
        (facts.adapters, facts.mayTakeAdapters) = (.found([]), false)
        facts.service = .answers(path: "/s", state: "poweredOn", failure: nil, advice: nil)
        #expect(Diagnosis(of: facts).isSound)
        facts.adapters = .found([.init("hci0", holder: .program)])
        #expect(Diagnosis(of: facts).isSound)
        facts.adapters = .noBluetooth
        #expect(Diagnosis(of: facts).isSound)
    }

    @Test func switchesOfRadiosAreFound() {
        #expect(codes { $0.switches = [.init("hci0")] } == [])
        #expect(codes { $0.switches = [.init("hci0", isSoft: true)] } == ["rfkill-soft"])
        #expect(codes { $0.switches = [.init("acer", isHard: true)] } == ["rfkill-hard"])
        #expect(codes { $0.switches = [.init("hci0", isSoft: true, isHard: true)] } == ["rfkill-hard", "rfkill-soft"])
    }

    @Test func adapterHoldersAreFound() throws {
        let daemon = try finding { $0.adapters = .found([.init("hci0", holder: .bluetoothd)]) }
        #expect(daemon.code == "bluetoothd")
        #expect(daemon.place == "hci0")
        #expect(daemon.remedy?.contains("systemctl") == true)
        #expect(codes { $0.adapters = .found([.init("hci0", holder: .program)]) } == ["held"])
        #expect(codes { $0.adapters = .found([.init("hci0", holder: .kernel)]) } == [])
        // bluetoothd runs, and holds no adapter.
        let note = try finding { $0.bluetoothdRuns = true }
        #expect(note.code == "bluetoothd-runs")
        #expect(note.severity == .note)
    }

    @Test func missingRightsAreFound() throws {
        let found = try finding { $0.mayTakeAdapters = false }
        #expect(found.code == "rights")
        #expect(found.remedy?.contains("setcap cap_net_admin+ep") == true)
        let port = try finding {
            $0.ports = [.init("/dev/ttyACM0", isOpen: false), .init("/dev/ttyACM1", isOpen: true)]
        }
        #expect(port.place == "/dev/ttyACM0")
        #expect(port.severity == .note)
    }

    static let services: [(ServiceFacts, String, Bool)] = [
        (.dead(path: "/s"), "service-dead", false), (.closed(path: "/s"), "service-closed", false),
        (.silent(path: "/s", reason: "r"), "service-silent", false),
        (.answers(path: "/s", state: "poweredOn", failure: nil, advice: nil), "service", true),
        (.answers(path: "/s", state: "poweredOff", failure: nil, advice: nil), "service-off", false),
        (.answers(path: "/s", state: "unsupported", failure: "f", advice: "unplug"), "service-unsupported", false),
    ]

    @Test(arguments: services)
    func serviceAnswersAreReported(service: ServiceFacts, code: String, isSound: Bool) throws {
        let found = try finding { $0.service = service }
        #expect(found.code == code)
        #expect((found.severity == .note) == isSound)
        #expect(found.place == "/s")
        if code == "service-dead" { #expect(found.remedy?.contains("systemctl --user status") == true) }
        if code == "service-unsupported" { #expect(found.what.contains("f") && found.remedy == "unplug") }
    }

    @Test func aControllerThatDoesNotWorkIsFound() throws {
        let found = try finding {
            $0.controller = nil
            $0.controllerError = "hci0: it does not answer"
        }
        #expect(found.severity == .problem)
        #expect(found.remedy?.contains("unplug") == true)
        let remote = try finding {
            $0.askedController = try? ControllerAddress("tcp:127.0.0.1:1")
            $0.controllerError = "nothing listens"
        }
        #expect(remote.remedy == "start it, or check the host and port")
        let works = try finding { $0.askedController = try? ControllerAddress("tcp:127.0.0.1:1") }
        #expect(works.severity == .note)
    }

    @Test func weakControllersAreFoundAndAreNothingWrong() {
        func weak(_ change: (inout ControllerFacts) -> Void) -> [String] {
            codes { facts in
                var controller = ControllerFacts(name: "hci0", version: 12)
                change(&controller)
                facts.controller = controller
            }
        }
        #expect(weak { $0.version = 7 } == ["old"])
        #expect(weak { $0.version = 8 } == [])
        #expect(weak { $0.hasLongPackets = false } == ["short-packets"])
        #expect(weak { $0.hasExtendedAdvertising = false } == ["legacy-advertising"])
        #expect(weak { $0.buffers = 2 } == ["few-buffers"])
        #expect(weak { $0.resolvingListSize = 0 } == ["no-resolving-list"])
        #expect(weak { $0.company = 10 } == ["maker"])
        var facts = Self.sound
        facts.controller?.buffers = 1
        #expect(Diagnosis(of: facts).isSound)
    }

    @Test func theWorstComesFirst() {
        let found = codes {
            $0.bluetoothdRuns = true
            $0.controller?.buffers = 1
            $0.switches = [.init("hci0", isSoft: true)]
        }
        #expect(found == ["rfkill-soft", "few-buffers", "bluetoothd-runs"])
    }
}
