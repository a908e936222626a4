import HCITransports

// Checks of USB controllers, which programs claim through libusb.

extension Check {
    static func usb(_ facts: MachineFacts) -> [Finding] {
        facts.usb.flatMap { controller in
            [drive(of: controller, facts), use(of: controller, facts), rights(on: controller, facts)].compactMap { $0 }
        }
    }

    /// The kernel binds an interface to its driver when the device is plugged in or when a program asks. It does not
    /// rebind because the program that claimed the interface has exited.
    private static func drive(of controller: MachineFacts.USBController, _ facts: MachineFacts) -> Finding? {
        guard controller.driver == nil else { return nil }
        let place = "usb-\(controller.place)"
        guard facts.hasUSBDriver else {
            let what = "there is a Bluetooth controller on USB that no driver has"
            return Finding(.problem, "no-driver", at: place, what, do: "sudo modprobe btusb; then look again")
        }
        let what = """
            no driver has this Bluetooth controller on USB, though there is btusb: a program that used it has been killed and could not give it \
            back, or the driver has refused it
            """
        let remedy = """
            harald scan --controller usb:\(controller.place) --seconds 1 gives it back, as does: echo \(controller.place):1.\(controller.interface) \
            | sudo tee /sys/bus/usb/drivers/btusb/bind; where btusb refuses it, sudo dmesg | grep -i bluetooth says why
            """
        return Finding(.problem, "driver-detached", at: place, what, do: remedy)
    }

    private static func use(of controller: MachineFacts.USBController, _ facts: MachineFacts) -> Finding? {
        guard controller.driver == MachineFacts.USBController.programs, !facts.service.works else { return nil }
        return Finding(
            .problem,
            "held",
            at: "usb-\(controller.place)",
            "another program has it to itself, by USB",
            do: "end that program, or share the controller: harald service"
        )
    }

    /// Access to the USB device only matters when the kernel has no adapter for it: programs otherwise use the adapter
    /// or the service.
    private static func rights(on controller: MachineFacts.USBController, _ facts: MachineFacts) -> Finding? {
        guard let node = controller.node, !node.isOpen, !facts.service.works else { return nil }
        let what = "this user may not open the controller usb:\(controller.place)"
        let remedy =
            facts.hasUSBRule
            ? """
            \(MachineFacts.usbRulePath) lets in who sits at this machine, and the service: sudo udevadm control --reload && sudo udevadm trigger \
            --subsystem-match=usb, or plug it in again
            """
            : "sudo harald install --udev, then plug it in again; or run the program as root"
        return Finding(controller.driver == nil ? .problem : .note, "usb-rights", at: node.path, what, do: remedy)
    }
}
