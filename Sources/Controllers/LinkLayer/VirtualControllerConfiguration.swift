import BluetoothTypes
import HCI

/// The properties of a virtual controller.
package struct VirtualControllerConfiguration: Sendable {
    package var publicAddress: BluetoothAddress
    /// The version of the specification that the controller reports.
    package var version = SpecificationVersion.v5_3
    /// The company identifier that the controller reports; 0xFFFF is reserved for tests.
    package var companyIdentifier: UInt16 = 0xFFFF
    /// The manufacturer's revision that the controller reports.
    package var subversion: UInt16 = 1
    /// The LE features, a subset of ``VirtualController/supportedFeatures`` and
    /// ``VirtualController/soundingFeatures``. Remove some to simulate an older controller.
    package var features = VirtualController.supportedFeatures
    /// The maximum length of an ACL packet from the host, 27 to 251 octets.
    package var aclPacketLength: UInt16 = 251
    /// The number of ACL packets that the controller buffers, for all links together.
    package var aclPacketCount: UInt8 = 16
    /// The maximum number of simultaneous links in both roles together.
    package var maximumLinks = 20
    /// The capacity of the filter accept list, in devices.
    package var acceptListSize: UInt8 = 32
    /// The capacity of the resolving list, in peers.
    package var resolvingListSize: UInt8 = 32
    /// The transmit power in dBm, -127 to 20.
    package var transmitPower: Int8 = 0
    /// The declared accuracy of the sleep clock, by which peers widen their receive windows.
    package var clockAccuracy = LEClockAccuracy.ppm50
    /// How much the sleep clock actually runs slow, in parts per million; negative if it runs fast. A drift within
    /// ``clockAccuracy`` does not break a link.
    package var clockDrift = 0.0
    /// The number of antennas for Channel Sounding, 1 to 4.
    package var antennas: UInt8 = 1
    /// The ways in which the controller deviates from the specification.
    package var quirks: Set<ControllerQuirk> = []

    /// Creates the configuration of a controller with every feature.
    package init(publicAddress: BluetoothAddress) {
        self.publicAddress = BluetoothAddress(publicAddress.value, kind: .publicDevice)
    }

    /// Makes this the configuration of a controller that supports Channel Sounding, of version 6.0.
    package mutating func addChannelSounding() {
        features.formUnion(VirtualController.soundingFeatures)
        version = .v6_0
    }

    /// The PHYs that the features include.
    var supportedPHYs: LEPHYs {
        var phys: LEPHYs = .le1M
        if features.contains(.phy2M) { phys.insert(.le2M) }
        if features.contains(.phyCoded) { phys.insert(.coded) }
        return phys
    }

    /// The data length that the controller's links can receive.
    var receiveLength: DataLength {
        guard features.contains(.dataLengthExtension) else {
            return DataLength(rxOctets: DataLength.minimumOctets, rxTime: DataLength.minimumTime)
        }
        let isCoded = features.contains(.phyCoded)
        return DataLength(
            rxOctets: DataLength.maximumOctets,
            rxTime: isCoded ? DataLength.maximumTimeCoded : DataLength.maximumTimeUncoded
        )
    }
}
