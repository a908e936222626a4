import HCITransports

/// A snapshot of everything on a machine that affects Bluetooth. Plain values; ``LinuxFacts`` collects them.
struct MachineFacts: Hashable, Sendable {
    /// A Bluetooth adapter of the kernel.
    struct Adapter: Hashable, Sendable {
        var name: String
        /// The kind of bus, such as "USB".
        var bus: String
        var holder: KernelAdapter.Holder

        init(_ name: String, bus: String = "USB", holder: KernelAdapter.Holder = .nobody) {
            (self.name, self.bus, self.holder) = (name, bus, holder)
        }
    }

    /// An rfkill switch, from `/sys/class/rfkill`.
    struct RadioSwitch: Hashable, Sendable {
        /// `hci0`, or the name that the manufacturer chose.
        var name: String
        /// Whether software has blocked the radio.
        var isSoft: Bool
        /// Whether a hardware switch or key has blocked the radio.
        var isHard: Bool

        init(_ name: String, isSoft: Bool = false, isHard: Bool = false) {
            (self.name, self.isSoft, self.isHard) = (name, isSoft, isHard)
        }
    }

    /// A device file through which a controller is reached.
    struct Node: Hashable, Sendable {
        var path: String
        /// Whether this process may read and write it.
        var isOpen: Bool

        init(_ path: String, isOpen: Bool) { (self.path, self.isOpen) = (path, isOpen) }
    }

    /// A Bluetooth controller on USB, with or without a kernel adapter.
    struct USBController: Hashable, Sendable {
        /// The driver name of an interface that a program has claimed through libusb (`drivers/usb/core/devio.c` of
        /// Linux).
        static let programs = "usbfs"

        /// The bus and port path, such as `1-2`.
        var place: String
        /// The number of the first Bluetooth interface; the others follow it.
        var interface: Int
        /// The driver bound to that interface; nil for none.
        var driver: String?
        /// The device node through which programs open it; nil where there is none, as in a container.
        var node: Node?

        init(_ place: String, interface: Int = 0, driver: String? = "btusb", node: Node? = nil) {
            (self.place, self.interface, self.driver, self.node) = (place, interface, driver, node)
        }
    }

    /// The kernel log, if this process may read it.
    enum Log: Hashable, Sendable {
        case unreadable
        case lines([String])
    }

    /// The result of the search for adapters.
    enum Adapters: Hashable, Sendable {
        case found([Adapter])
        /// The kernel has no Bluetooth, or none for this network namespace (EAFNOSUPPORT).
        case noBluetooth
        case failed(String)
    }

    var adapters = Adapters.found([])
    var usb: [USBController] = []
    /// Whether the kernel driver for USB controllers (btusb) is loaded.
    var hasUSBDriver = true
    /// The path of the udev rule that lets users or the service open such controllers; nil if there is none.
    var usbRulePath: String?
    /// Whether that rule is for the machine-wide service, and not for users.
    var usbRuleIsOfService = false
    /// Whether this process may claim an adapter (CAP_NET_ADMIN).
    var mayTakeAdapters = false
    var isContainer = false
    var bluetoothdRuns = false
    var switches: [RadioSwitch] = []
    var log = Log.unreadable
    /// Serial ports to which a controller may be attached.
    var ports: [Node] = []
    var service = ServiceFacts.none
    /// The capabilities of the controller that was queried; nil when none was.
    var controller: ControllerFacts?
    /// The controller that was queried directly: the named one, or a free one; nil for none.
    var askedController: ControllerAddress?
    /// Why the named controller, or a free one, could not be queried.
    var controllerError: String?

    static let socketOfMachine = "/run/harald/service"

    /// The udev rule that `harald install --udev` writes.
    static let usbRule = (directory: "/etc/udev/rules.d", name: "70-harald-usb.rules")

    /// Where a udev rule may be (udev(7)); a package has it in one of the last two.
    static let usbRulePaths = ["/etc", "/run", "/usr/lib", "/lib"].map { "\($0)/udev/rules.d/\(usbRule.name)" }
}

/// The state of the service, from the places where its socket may be.
enum ServiceFacts: Hashable, Sendable {
    case none
    /// A socket exists, but no process listens on it.
    case dead(path: String)
    /// A socket exists, but this process may not open it.
    case closed(path: String)
    /// A process accepts connections, but does not answer as a service does.
    case silent(path: String, reason: String)
    /// The service reports its state (`poweredOn` and so on), the failure, and what would help.
    case answers(path: String, state: String, failure: String?, advice: String?)

    /// Whether the service runs and its controller is powered on.
    var works: Bool {
        if case .answers(_, "poweredOn", _, _) = self { true } else { false }
    }
}

/// The capabilities of a controller that matter for a diagnosis.
struct ControllerFacts: Hashable, Sendable {
    var name: String
    /// The HCI version number: 8 is 4.2.
    var version: Int
    var company = 0xFFFF
    var hasExtendedAdvertising = true
    var hasLongPackets = true
    var buffers = 8
    /// The size of the resolving list, in peers.
    var resolvingListSize = 8
}
