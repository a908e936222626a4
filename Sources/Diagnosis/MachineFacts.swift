import HCITransports

/// What was seen of a machine, as far as it matters to Bluetooth. Plain values: who asks is ``FactSource``.
package struct MachineFacts: Hashable, Sendable {
    /// An adapter that the kernel has.
    package struct Adapter: Hashable, Sendable {
        package var name: String
        /// How it is attached: "USB".
        package var bus: String
        package var holder: KernelAdapter.Holder

        package init(_ name: String, bus: String = "USB", holder: KernelAdapter.Holder = .nobody) {
            (self.name, self.bus, self.holder) = (name, bus, holder)
        }
    }

    /// A switch of radios (rfkill).
    package struct RadioSwitch: Hashable, Sendable {
        /// `hci0`, or what the machine's maker calls it.
        package var name: String
        /// Switched off by software.
        package var isSoft: Bool
        /// Switched off by a key or a slider of the machine.
        package var isHard: Bool

        package init(_ name: String, isSoft: Bool = false, isHard: Bool = false) {
            (self.name, self.isSoft, self.isHard) = (name, isSoft, isHard)
        }
    }

    /// A file that leads to a controller.
    package struct Node: Hashable, Sendable {
        package var path: String
        /// Whether this process may read and write it.
        package var isOpen: Bool

        package init(_ path: String, isOpen: Bool) { (self.path, self.isOpen) = (path, isOpen) }
    }

    /// A Bluetooth controller on USB, whether or not the kernel has an adapter of it.
    package struct USBController: Hashable, Sendable {
        /// The driver of a program that has an interface by USB, as libusb gives it one (`drivers/usb/core/devio.c` of Linux).
        package static let programs = "usbfs"

        /// Where it is plugged in: `1-2`.
        package var place: String
        /// The number of its interface, of which the others follow.
        package var interface: Int
        /// Which driver has that interface; nil for none.
        package var driver: String?
        /// By which programs open it; nil where there is no such file, as in a container.
        package var node: Node?

        package init(_ place: String, interface: Int = 0, driver: String? = "btusb", node: Node? = nil) {
            (self.place, self.interface, self.driver, self.node) = (place, interface, driver, node)
        }
    }

    /// The kernel's messages.
    package enum Log: Hashable, Sendable {
        case unreadable
        case lines([String])
    }

    /// What became of the search for adapters.
    package enum Adapters: Hashable, Sendable {
        case found([Adapter])
        /// The kernel has no Bluetooth, or none for this network namespace (EAFNOSUPPORT).
        case noBluetooth
        /// It says something else.
        case failed(String)
    }

    package var adapters = Adapters.found([])
    package var usb: [USBController] = []
    /// Whether the kernel's driver for such controllers is loaded (btusb).
    package var hasUSBDriver = true
    /// Whether there is the rule for udev that lets users open them.
    package var hasUSBRule = false
    /// Whether this process may take an adapter (CAP_NET_ADMIN).
    package var mayTakeAdapters = false
    package var isContainer = false
    package var bluetoothdRuns = false
    package var switches: [RadioSwitch] = []
    package var log = Log.unreadable
    /// Serial ports at which there may be a controller.
    package var ports: [Node] = []
    package var service = ServiceFacts.none
    /// A controller that could be asked.
    package var controller: ControllerFacts?
    /// Why one that was named, or that is free, could not be asked.
    package var controllerError: String?

    /// The rule that `harald install --udev` writes.
    package static let usbRule = (directory: "/etc/udev/rules.d", name: "70-harald-usb.rules")

    static var usbRulePath: String { "\(usbRule.directory)/\(usbRule.name)" }

    package init() {}
}

/// What was seen of a service at the places where there may be one.
package enum ServiceFacts: Hashable, Sendable {
    /// There is no socket.
    case none
    /// There is one, and nobody listens.
    case dead(path: String)
    /// There is one, which this process may not open.
    case closed(path: String)
    /// Somebody listens, and does not answer as a service does.
    case silent(path: String, reason: String)
    /// It says how it is: `poweredOn` and so on, why not, and what would help.
    case answers(path: String, state: String, failure: String?, advice: String?)

    /// Whether there is one that works.
    var works: Bool {
        if case .answers(_, "poweredOn", _, _) = self { true } else { false }
    }
}

/// What a controller can do, as far as it is of interest.
package struct ControllerFacts: Hashable, Sendable {
    /// Where it is.
    package var name: String
    /// The version of HCI by its number: 8 is 4.2.
    package var version: Int
    /// The maker by the number that the Bluetooth SIG gave it.
    package var company: Int
    package var hasExtendedAdvertising: Bool
    package var hasLongPackets: Bool
    /// Packets of data that it holds.
    package var buffers: Int
    /// Peers whose private addresses it resolves.
    package var resolvingListSize: Int

    package init(
        name: String,
        version: Int,
        company: Int = 0xFFFF,
        hasExtendedAdvertising: Bool = true,
        hasLongPackets: Bool = true,
        buffers: Int = 8,
        resolvingListSize: Int = 8
    ) {
        (self.name, self.version, self.company) = (name, version, company)
        (self.hasExtendedAdvertising, self.hasLongPackets) = (hasExtendedAdvertising, hasLongPackets)
        (self.buffers, self.resolvingListSize) = (buffers, resolvingListSize)
    }
}
