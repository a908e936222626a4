import Diagnosis

/// The udev rule that opens USB Bluetooth controllers to the user who is logged in at the machine, and to the
/// machine-wide service.
struct UdevRule: Hashable {
    /// Sorts after the rules that identify a device, and before the one that grants access to the seat's user
    /// (73-seat-late.rules of systemd).
    static let name = MachineFacts.usbRule.name
    static let directory = MachineFacts.usbRule.directory

    /// The group of the machine-wide service; nil without one.
    let account: String?

    /// The text of the file.
    var text: String {
        let assignments = ["TAG+=\"uaccess\""] + (account.map { ["GROUP=\"\($0)\"", "MODE=\"0660\""] } ?? [])
        // By the class of the device, or of an interface for a composite device (Core Vol 4 Part B 3).
        let matches = [
            "ATTR{bDeviceClass}==\"e0\", ATTR{bDeviceSubClass}==\"01\", ATTR{bDeviceProtocol}==\"01\"",
            "ENV{ID_USB_INTERFACES}==\"*:e00101:*\"",
        ]
        let lines = matches.map { match in
            (["ACTION!=\"remove\", SUBSYSTEM==\"usb\", ENV{DEVTYPE}==\"usb_device\", \(match)"] + assignments)
                .joined(separator: ", ")
        }
        return (["# Lets users open USB Bluetooth controllers. Written by `harald install --udev`."] + lines)
            .joined(separator: "\n") + "\n"
    }

    /// The commands for a rule in a directory where udev does not look (udev(7)).
    func nextSteps(from directory: String) -> [String] {
        [nextSteps[0], "  cp \(directory)/\(Self.name) \(Self.directory)"] + nextSteps.dropFirst()
    }

    /// The commands that the user still has to run.
    var nextSteps: [String] {
        [
            "next steps, as root:",
            "  udevadm control --reload && udevadm trigger --subsystem-match=usb      or plug the controller in again",
        ]
            // Both options together are easily read as "everything".
            + (account == nil
                ? [] : ["  harald install --machine --controller usb      for the units, which --udev does not write"])
    }
}
