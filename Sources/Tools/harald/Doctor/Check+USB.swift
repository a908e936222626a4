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
            let what = "this USB Bluetooth controller has no driver, because btusb is not loaded"
            return Finding(
                .problem,
                "no-driver",
                at: place,
                what,
                do: "sudo modprobe btusb, then run harald doctor again"
            )
        }
        let what = """
            no driver is bound to this USB Bluetooth controller, although btusb is loaded: a program that used it was killed before it could \
            return it, or btusb rejected it
            """
        let remedy = """
            return it with harald scan --controller usb:\(controller.place) --timeout 1, or with: echo \(controller.place):1.\(controller.interface) \
            | sudo tee /sys/bus/usb/drivers/btusb/bind; if btusb rejects it, see sudo dmesg | grep -i bluetooth
            """
        return Finding(.problem, "driver-detached", at: place, what, do: remedy)
    }

    private static func use(of controller: MachineFacts.USBController, _ facts: MachineFacts) -> Finding? {
        guard controller.driver == MachineFacts.USBController.programs, !facts.service.works else { return nil }
        return Finding(
            .problem,
            "held",
            at: "usb-\(controller.place)",
            "another program has exclusive access to it through USB",
            do: "stop that program, or share the controller: harald service"
        )
    }

    /// Access to the USB device only matters when the kernel has no adapter for it: programs otherwise use the adapter
    /// or the service.
    private static func rights(on controller: MachineFacts.USBController, _ facts: MachineFacts) -> Finding? {
        guard let node = controller.node, !node.isOpen, !facts.service.works else { return nil }
        let what = "this user may not open the controller usb:\(controller.place)"
        let remedy = facts.usbRulePath.map { path in
            facts.usbRuleIsOfService
                ? """
                \(path) grants access to the machine-wide service alone, which programs of members of the group harald use: \
                sudo harald install --machine --controller usb
                """
                : """
                \(path) grants access to the logged-in user; apply it with sudo udevadm control --reload && \
                sudo udevadm trigger --subsystem-match=usb, or plug the controller in again
                """
        }
        let rule = "sudo harald install --udev, then plug it in again; or run the program as root"
        return Finding(
            controller.driver == nil ? .problem : .note,
            "usb-rights",
            at: node.path,
            what,
            do: remedy ?? rule
        )
    }
}
