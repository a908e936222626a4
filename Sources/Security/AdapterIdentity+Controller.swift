import BluetoothTypes
import Bonds
import HCI
import HCIHost

extension AdapterIdentity {
    /// The adapter that a controller is: what the bonds of a store belong to (AB-H08).
    package init(_ controller: ControllerInformation) {
        self.init(
            address: controller.publicAddress ?? .none,
            company: controller.companyIdentifier,
            place: controller.place
        )
    }
}
