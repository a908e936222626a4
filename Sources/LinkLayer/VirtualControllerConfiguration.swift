import BluetoothTypes
import HCI

/// What a virtual controller is like.
public struct VirtualControllerConfiguration: Sendable {
    /// The public address.
    public var publicAddress: BluetoothAddress
    /// The version of the specification that it tells.
    public var version = SpecificationVersion.v5_3
    /// The maker that it tells; 0xFFFF is for tests.
    public var companyIdentifier: UInt16 = 0xFFFF
    /// The maker's revision.
    public var subversion: UInt16 = 1
    /// The features, of those that there are (``VirtualController/supportedFeatures``). Fewer make an older controller.
    public var features = VirtualController.supportedFeatures
    /// The longest ACL packet that the host may send, 27 to 251 octets.
    public var aclPacketLength: UInt16 = 251
    /// ACL packets that the controller stores, for all links together.
    public var aclPacketCount: UInt8 = 16
    /// Links at the same time, in both roles together.
    public var maximumLinks = 20
    /// Devices on the accept list.
    public var acceptListSize: UInt8 = 32
    /// Peers on the resolving list.
    public var resolvingListSize: UInt8 = 32
    /// The transmit power in dBm, -127 to 20.
    public var transmitPower: Int8 = 0
    /// How good the sleep clock is; others widen their windows by it.
    public var clockAccuracy = LEClockAccuracy.ppm50
    /// By how many parts in a million the sleep clock really is slow; a fast one is below 0. Within what is declared a
    /// link holds.
    public var clockDrift = 0.0

    /// A controller with this public address and every feature.
    public init(publicAddress: BluetoothAddress) {
        self.publicAddress = BluetoothAddress(publicAddress.value, kind: .publicDevice)
    }
}
