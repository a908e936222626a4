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
    /// It was unplugged.
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
    /// What happened and what to do, for the user.
    package var description: String {
        switch self {
        case .noLibrary:
            """
            controllers on USB need the library libusb-1.0.so.0, which is not installed: apt install libusb-1.0-0 on Debian and Ubuntu, \
            dnf install libusb1 on Fedora, apk add libusb on Alpine; or use the kernel's driver, as hci0
            """
        case .noControllers:
            "there is no Bluetooth controller on USB; plug one in, or name it by its numbers (lsusb), as usb:1209:0b1e"
        case .noSuchController(let choice, let known) where known.isEmpty:
            "there is no \(choice), nor any other Bluetooth controller on USB; lsusb lists what is plugged in"
        case .noSuchController(let choice, let known):
            "there is no \(choice); there is \(known.joined(separator: ", "))"
        case .noneUsable(let reasons):
            "no controller on USB can be used: \(reasons.map(\.description).joined(separator: "; "))"
        case .noPermission(let device):
            """
            this process may not open \(Self.name(device)): write a udev rule with harald install --udev, as root, then plug it in again; \
            or run this as root
            """
        case .busy(let device):
            "another program has \(Self.name(device)); end it, or share the controller by harald service"
        case .held(_, let reason): "\(reason)"
        case .beingReset(let device): "\(Self.name(device)) is being reset; it can be had again in some seconds"
        case .gone(let device): "\(Self.name(device)) has been unplugged; plug it in again"
        case .incomplete(let device):
            """
            \(Self.name(device)) has no interface with the endpoints of a Bluetooth controller (interrupt in, bulk in, bulk out); it is \
            another device, or waits for firmware: use it by the kernel's driver, as hci0
            """
        case .failed(let asked, let device, let error):
            "\(asked) fails\(device.map { " for \(Self.name($0))" } ?? ""): \(error.words); plug it in again, or see what the kernel says (dmesg)"
        }
    }

    private static func name(_ device: USBDevice) -> String { "usb:\(device.place) (\(device.name))" }
}
