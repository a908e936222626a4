import Diagnosis

/// The rule by which udev lets users open Bluetooth controllers on USB: whoever sits at the machine, and the service of the machine.
struct UdevRule: Hashable {
    /// After the rules that find out what a device is, and before those that let the user of the seat in (73-seat-late.rules of systemd).
    static let name = MachineFacts.usbRule.name
    static let directory = MachineFacts.usbRule.directory

    /// The group of the service of the machine; nil where there is none.
    let account: String?

    /// What the file says.
    var text: String {
        let assignments = ["TAG+=\"uaccess\""] + (account.map { ["GROUP=\"\($0)\"", "MODE=\"0660\""] } ?? [])
        // By the class of the device, or by that of an interface where a device is more than a controller (Core Vol 4 Part B 3).
        let matches = [
            "ATTR{bDeviceClass}==\"e0\", ATTR{bDeviceSubClass}==\"01\", ATTR{bDeviceProtocol}==\"01\"",
            "ENV{ID_USB_INTERFACES}==\"*:e00101:*\"",
        ]
        let lines = matches.map { match in
            (["ACTION!=\"remove\", SUBSYSTEM==\"usb\", ENV{DEVTYPE}==\"usb_device\", \(match)"] + assignments)
                .joined(separator: ", ")
        }
        return (["# Bluetooth controllers on USB may be opened by users; harald install --udev wrote this."] + lines)
            .joined(separator: "\n") + "\n"
    }

    /// What is left to do.
    var nextSteps: [String] {
        [
            "now, as root:",
            "  udevadm control --reload && udevadm trigger --subsystem-match=usb      or plug the controller in again",
        ]
    }
}
