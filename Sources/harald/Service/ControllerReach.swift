import HCITransports

/// What a process needs of the system to reach a controller: the least that a unit can grant.
struct ControllerReach: Hashable {
    /// What a service may need for whichever controller. Netlink is for libusb, which hears by it what is plugged in.
    static let allFamilies = ["AF_UNIX", "AF_BLUETOOTH", "AF_INET", "AF_INET6", "AF_NETLINK"]
    /// USB devices, which a controller that fails is reset through.
    private static let usbDevices = "char-usb_device"

    var capabilities: [String] = []
    var families = ["AF_UNIX"]
    /// Devices, as DeviceAllow= names them (systemd.resource-control(5)).
    var devices: [String] = []
    /// Whether it is on a network.
    var isRemote = false
    /// The file of the controller, where it has one.
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
        case .standard: break
        }
    }
}
