/// The udev rule that opens USB Bluetooth controllers: to the user who is logged in at the machine, or to the
/// machine-wide service alone.
///
/// Raw access to a controller is around all permissions and policies of a service. Beside the service of a machine, it
/// is therefore for that service, whose group of its own no user of Bluetooth has to join (AB-T03).
struct UdevRule: Hashable {
    /// Sorts after the rules that identify a device, and before the one that grants access to the seat's user
    /// (73-seat-late.rules of systemd).
    static let name = MachineFacts.usbRule.name
    static let directory = MachineFacts.usbRule.directory

    /// The group of the machine-wide service. No user belongs to it.
    static let group = "harald-usb"

    /// Whether the rule is for the machine-wide service, rather than for the user at the machine.
    let isOfMachine: Bool

    var text: String {
        let assignments = isOfMachine ? ["GROUP=\"\(Self.group)\"", "MODE=\"0660\""] : ["TAG+=\"uaccess\""]
        // By the class of the device, or of an interface for a composite device (Core Vol 4 Part B 3).
        let matches = [
            "ATTR{bDeviceClass}==\"e0\", ATTR{bDeviceSubClass}==\"01\", ATTR{bDeviceProtocol}==\"01\"",
            "ENV{ID_USB_INTERFACES}==\"*:e00101:*\"",
        ]
        let lines = matches.map { match in
            (["ACTION!=\"remove\", SUBSYSTEM==\"usb\", ENV{DEVTYPE}==\"usb_device\", \(match)"] + assignments)
                .joined(separator: ", ")
        }
        let who = isOfMachine ? "the Bluetooth service" : "users"
        return (["# Lets \(who) open USB Bluetooth controllers. Written by `harald install --udev`."] + lines)
            .joined(separator: "\n") + "\n"
    }

    /// The commands for a rule in a directory where udev does not look (udev(7)).
    func nextSteps(from directory: String) -> [String] {
        let copying = "  cp \(UnitProgram.shellWord("\(directory)/\(Self.name)")) \(Self.directory)"
        return [nextSteps[0], copying] + nextSteps.dropFirst()
    }

    var nextSteps: [String] {
        ["next steps, as root:"] + (isOfMachine ? [Self.groupStep] : []) + [
            "  udevadm control --reload && udevadm trigger --subsystem-match=usb      or plug the controller in again"
        ]
            // Both options together are easily read as "everything".
            + (isOfMachine
                ? ["  harald install --machine --controller usb      for the units, which --udev does not write"] : [])
    }

    /// The command that makes the group. systemd gives the service the groups of its account.
    static let groupStep = "  groupadd --system \(group) && usermod --append --groups \(group) \(ServiceUnits.account)"
}
