import BluetoothTypes
import HCI

/// What the host learnt about its controller when it brought it up.
package struct ControllerInformation: Hashable, Sendable {
    /// Where it is attached, as the host knows it (``HCITransport/place``); empty where it does not.
    package var place = ""
    /// The public address; nil when the controller has none.
    package var publicAddress: BluetoothAddress?
    /// The version of HCI.
    package var version = SpecificationVersion.v4_0
    /// The maker, by the number that the Bluetooth SIG gave it; 0xFFFF when it is not known.
    package var companyIdentifier: UInt16 = 0xFFFF
    /// The maker's revision of HCI.
    package var revision: UInt16 = 0
    /// The maker's revision of the link layer.
    package var subversion: UInt16 = 0
    /// The commands that the controller knows.
    package var supportedCommands = SupportedCommands()
    /// What the controller can do besides LE.
    package var features: LMPFeatures = []
    /// What the link layer can do.
    package var leFeatures: LEFeatures = []
    /// Which states the link layer can be in, and in which at once.
    package var leStates: LEStates = []
    /// The longest ACL payload that a buffer of the controller takes, and the line to it, in octets.
    package var aclBufferSize = 0
    /// How many ACL packets the controller holds.
    package var aclBufferCount = 0
    /// What the controller has been told that the host has room for; nil when it does not count what it sends up.
    package var hostBuffers: HostBuffers?
    /// How many devices the filter accept list holds.
    package var acceptListSize = 0
    /// How many peers the resolving list holds; 0 without the privacy feature.
    package var resolvingListSize = 0
    /// The longest link-layer payload that can be sent, in octets.
    package var maxTxOctets: UInt16 = 27
    /// The longest time for sending a link-layer packet, in µs.
    package var maxTxTime: UInt16 = 328
    /// The longest link-layer payload that can be received, in octets.
    package var maxRxOctets: UInt16 = 27
    /// The longest time for receiving a link-layer packet, in µs.
    package var maxRxTime: UInt16 = 328
    /// How many octets can be advertised: 31 with legacy advertising.
    package var maxAdvertisingDataLength = 31
    /// The number of advertising sets; nil when the controller was not asked, as one that is driven with the legacy commands is not.
    package var advertisingSets: Int?
    /// What is done otherwise with this controller, since it does not do what it says.
    package var fallbacks: Set<ControllerFallback> = []
    /// The range of the transmit power in dBm, if the controller tells.
    package var transmitPower: ClosedRange<Int8>?

    /// What is true of every controller.
    package init() {}

    /// Whether the controller knows the command.
    package func supports(_ command: any HCICommand.Type) -> Bool {
        supportedCommands.contains(command)
    }

    /// Whether the host is to advertise, scan and connect with the extended commands: the controller has the feature and every one
    /// of ``extendedCommands``, and does not say that it has no advertising set.
    ///
    /// One question for all three, since a controller refuses legacy commands after extended ones, and the other way round,
    /// until it is reset (Core Vol 4 Part E 3.1.1).
    package var supportsExtendedAdvertising: Bool {
        if fallbacks.contains(.legacyCommands) { return false }
        if fallbacks.contains(.extendedCommands) { return leFeatures.contains(.extendedAdvertising) }
        return claimsExtendedAdvertising
    }

    /// Whether it says that it can do all of that.
    package var claimsExtendedAdvertising: Bool {
        leFeatures.contains(.extendedAdvertising) && advertisingSets != 0 && Self.extendedCommands.allSatisfy(supports)
    }

    /// Notes what is done otherwise.
    package mutating func take(_ fallbacks: Set<ControllerFallback>) {
        self.fallbacks = fallbacks
        if fallbacks.contains(.noCodedPHY) { leFeatures.remove(.phyCoded) }
        if fallbacks.contains(.extendedCommands) { advertisingSets = advertisingSets.map { max(1, $0) } }
    }

    /// The commands without which the host stays with the legacy ones.
    package static let extendedCommands: [any HCICommand.Type] = [
        LESetAdvertisingSetRandomAddress.self, LESetExtendedAdvertisingParameters.self,
        LESetExtendedAdvertisingData.self, LESetExtendedScanResponseData.self, LESetExtendedAdvertisingEnable.self,
        LESetExtendedScanParameters.self, LESetExtendedScanEnable.self, LEExtendedCreateConnection.self,
    ]
}
