import BluetoothTypes
import HCI

/// What a virtual controller is like.
package struct VirtualControllerConfiguration: Sendable {
    /// The public address.
    package var publicAddress: BluetoothAddress
    /// The version of the specification that it tells.
    package var version = SpecificationVersion.v5_3
    /// The maker that it tells; 0xFFFF is for tests.
    package var companyIdentifier: UInt16 = 0xFFFF
    /// The maker's revision.
    package var subversion: UInt16 = 1
    /// The features, of those that there are (``VirtualController/supportedFeatures``). Fewer make an older controller.
    package var features = VirtualController.supportedFeatures
    /// The longest ACL packet that the host may send, 27 to 251 octets.
    package var aclPacketLength: UInt16 = 251
    /// ACL packets that the controller stores, for all links together.
    package var aclPacketCount: UInt8 = 16
    /// Links at the same time, in both roles together.
    package var maximumLinks = 20
    /// Devices on the accept list.
    package var acceptListSize: UInt8 = 32
    /// Peers on the resolving list.
    package var resolvingListSize: UInt8 = 32
    /// The transmit power in dBm, -127 to 20.
    package var transmitPower: Int8 = 0
    /// How good the sleep clock is; others widen their windows by it.
    package var clockAccuracy = LEClockAccuracy.ppm50
    /// By how many parts in a million the sleep clock really is slow; a fast one is below 0. Within what is declared a
    /// link holds.
    package var clockDrift = 0.0
    /// What it does otherwise than the specification says.
    package var quirks: Set<ControllerQuirk> = []

    /// A controller with this public address and every feature.
    package init(publicAddress: BluetoothAddress) {
        self.publicAddress = BluetoothAddress(publicAddress.value, kind: .publicDevice)
    }
}
