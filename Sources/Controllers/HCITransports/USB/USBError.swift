/// The reason why a USB controller cannot be claimed. Its description says what to do.
package enum USBError: Error, Hashable, Sendable {
    /// libusb is not installed.
    case noLibrary
    /// There is no Bluetooth controller on USB.
    case noControllers
    /// No controller matches the choice.
    case noSuchController(USBChoice, known: [String])
    /// Controllers exist, but none is usable. Has the reason for each.
    indirect case noneUsable([USBError])
    /// This process lacks the permission.
    case noPermission(USBDevice)
    /// Another program holds it.
    case busy(USBDevice)
    /// Another user holds it through the kernel's driver.
    case held(USBDevice, UserChannelError)
    /// It is about to be reset.
    case beingReset(USBDevice)
    /// It was unplugged in the meantime.
    case gone(USBDevice)
    /// It has no interface with all of a controller's endpoints.
    case incomplete(USBDevice)
    /// libusb reports another error.
    case failed(asked: String, of: USBDevice?, USBCallError)

    /// Translates an error of libusb. `asked` names the operation that failed.
    init(_ error: USBCallError, asked: String, of device: USBDevice? = nil) {
        switch (error, device) {
        case (.noLibrary, _): self = .noLibrary
        case (.access, let device?): self = .noPermission(device)
        case (.busy, let device?): self = .busy(device)
        case (.noDevice, let device?): self = .gone(device)
        default: self = .failed(asked: asked, of: device, error)
        }
    }
}

extension USBError: CustomStringConvertible {
    /// The failure and its remedy, in words for the user.
    package var description: String {
        switch self {
        case .noLibrary:
            """
            USB controllers need the library libusb-1.0.so.0, which is not installed: apt install libusb-1.0-0 on Debian and Ubuntu, \
            dnf install libusb1 on Fedora, apk add libusb on Alpine; or use the kernel's driver, as hci0
            """
        case .noControllers:
            "no USB Bluetooth controller found; plug one in, or name it by vendor and product (lsusb), such as usb:1209:0b1e"
        case .noSuchController(let choice, let known) where known.isEmpty:
            "there is no \(choice), nor any other USB Bluetooth controller; lsusb lists the devices"
        case .noSuchController(let choice, let known):
            "there is no \(choice); available: \(known.joined(separator: ", "))"
        case .noneUsable(let reasons):
            "no USB controller is usable: \(reasons.map(\.description).joined(separator: "; "))"
        case .noPermission(let device):
            """
            this process may not open \(Self.name(device)): install a udev rule with sudo harald install --udev, then plug it in again; \
            or run this as root
            """
        case .busy(let device):
            "another program uses \(Self.name(device)); stop it, or share the controller with harald service"
        case .held(_, let reason): "\(reason)"
        case .beingReset(let device): "\(Self.name(device)) is being reset; try again in a few seconds"
        case .gone(let device): "\(Self.name(device)) has been unplugged; plug it in again"
        case .incomplete(let device):
            """
            \(Self.name(device)) has no interface with the endpoints of a Bluetooth controller (interrupt in, bulk in, bulk out); it is \
            another kind of device, or needs firmware: use it through the kernel's driver, as hci0
            """
        case .failed(let asked, let device, let error):
            "\(asked) failed\(device.map { " for \(Self.name($0))" } ?? ""): \(error.words); plug it in again, or see the kernel log (dmesg)"
        }
    }

    private static func name(_ device: USBDevice) -> String { "usb:\(device.place) (\(device.name))" }
}
