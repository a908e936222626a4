import EventLoops
import HCI
import Radio

extension VirtualController {
    /// Creates a controller at one end of an HCI transport. It carries out the commands of ``CommandTable``.
    ///
    /// - Parameters:
    ///   - transport: The controller's end of the transport to the host.
    ///   - node: The radio node, for exclusive use by the controller.
    ///   - loop: The event loop of the radio.
    ///   - random: The source of addresses, delays and backoff. `split` one off for each controller.
    ///   - configuration: The properties of the controller.
    package convenience init(
        transport: any HCITransport,
        node: RadioNode,
        loop: any EventLoop,
        random: RandomSource,
        configuration: VirtualControllerConfiguration
    ) {
        self.init(
            transport: transport,
            node: node,
            loop: loop,
            random: random,
            configuration: configuration,
            carryOut: CommandTable.shared.carryOut
        )
    }
}
