import HCITransports

extension ControllerAddress {
    /// Whether the controller is used through its USB device, without an adapter of the kernel.
    var isUSB: Bool { if case .usb = self { true } else { false } }
}

/// The system resources that a process needs to reach a controller: the least that a unit must grant.
struct ControllerReach: Hashable {
    /// The address families for any kind of controller. libusb uses netlink to detect devices that are plugged in.
    static let allFamilies = ["AF_UNIX", "AF_BLUETOOTH", "AF_INET", "AF_INET6", "AF_NETLINK"]
    /// USB devices, through which a failed controller is reset.
    private static let usbDevices = "char-usb_device"

    var capabilities: [String] = []
    var families = ["AF_UNIX"]
    /// Devices in the form of DeviceAllow= (systemd.resource-control(5)).
    var devices: [String] = []
    var isRemote = false
    /// The path of the controller's file; nil if it has none.
    var path: String?

    init(_ controller: ControllerAddress) {
        switch controller {
        case .adapter:
            capabilities = ["CAP_NET_ADMIN"]
            families += ["AF_BLUETOOTH", "AF_NETLINK"]
            devices = [Self.usbDevices]
        case .usb:
            families += ["AF_BLUETOOTH", "AF_NETLINK"]
            devices = [Self.usbDevices]
        case .serial(let options):
            devices = [options.path]
            path = options.path
        case .unix(let path): self.path = path
        case .tcp:
            families += ["AF_INET", "AF_INET6"]
            isRemote = true
        case .capture(let path): self.path = path
        case .standard: break
        }
    }
}
