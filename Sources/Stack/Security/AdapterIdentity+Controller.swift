import BluetoothTypes
import HCI
import HCIHost

extension AdapterIdentity {
    /// Creates the identity of a controller, to which the bonds of a store belong (AB-H08).
    package init(_ controller: ControllerInformation) {
        self.init(
            address: controller.publicAddress ?? .none,
            company: controller.companyIdentifier,
            place: controller.place
        )
    }
}
