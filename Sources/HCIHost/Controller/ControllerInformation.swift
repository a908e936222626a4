import BluetoothTypes
import HCI

/// The capabilities of a controller, as read during initialization.
package struct ControllerInformation: Hashable, Sendable {
    /// Where the controller is attached (``HCITransport/place``); empty if unknown.
    package var place = ""
    /// The public address, or nil if the controller has none.
    package var publicAddress: BluetoothAddress?
    /// The HCI version of the controller.
    package var version = SpecificationVersion.v4_0
    /// The manufacturer's company identifier, as assigned by the Bluetooth SIG; 0xFFFF if unknown.
    package var companyIdentifier: UInt16 = 0xFFFF
    /// The manufacturer's HCI revision.
    package var revision: UInt16 = 0
    /// The manufacturer's revision of the link layer.
    package var subversion: UInt16 = 0
    /// The commands that the controller claims to support.
    package var supportedCommands = SupportedCommands()
    /// The features of the controller other than those of LE.
    package var features: LMPFeatures = []
    /// The features of the link layer, page 0.
    package var leFeatures: LEFeatures = []
    /// The supported link-layer states and combinations of states.
    package var leStates: LEStates = []
    /// The longest ACL payload that both the controller's buffers and the transport carry, in octets.
    package var aclBufferSize = 0
    /// The number of ACL data buffers in the controller.
    package var aclBufferCount = 0
    /// The host buffers announced to the controller; nil if host flow control is off.
    package var hostBuffers: HostBuffers?
    /// The capacity of the filter accept list.
    package var acceptListSize = 0
    /// The capacity of the resolving list; 0 without LL privacy.
    package var resolvingListSize = 0
    /// The maximum link-layer payload for transmission, in octets.
    package var maxTxOctets: UInt16 = 27
    /// The maximum duration of a transmitted link-layer packet, in µs.
    package var maxTxTime: UInt16 = 328
    /// The maximum link-layer payload for reception, in octets.
    package var maxRxOctets: UInt16 = 27
    /// The maximum duration of a received link-layer packet, in µs.
    package var maxRxTime: UInt16 = 328
    /// The maximum length of advertising data, in octets; 31 with legacy advertising.
    package var maxAdvertisingDataLength = 31
    /// The number of advertising sets; nil if the controller was not asked, which is the case when it is used with the
    /// legacy commands.
    package var advertisingSets: Int?
    /// The fallbacks in use, because the controller does not do what it claims.
    package var fallbacks: Set<ControllerFallback> = []
    /// The range of the transmit power, in dBm; nil if unknown.
    package var transmitPower: ClosedRange<Int8>?

    /// Creates a description with the properties that every controller has.
    package init() {}

    /// Returns whether the controller supports a command.
    package func supports(_ command: any HCICommand.Type) -> Bool {
        supportedCommands.contains(command)
    }

    /// Whether the host advertises, scans and connects with the extended commands.
    ///
    /// That is so if the controller has the feature, lists all of ``extendedCommands`` and does not report zero
    /// advertising sets; ``fallbacks`` override this. All three activities use the same set of commands, because a
    /// controller refuses legacy commands after extended ones, and vice versa, until it is reset (Core Vol 4 Part E
    /// 3.1.1).
    package var supportsExtendedAdvertising: Bool {
        if fallbacks.contains(.legacyCommands) { return false }
        if fallbacks.contains(.extendedCommands) { return leFeatures.contains(.extendedAdvertising) }
        return claimsExtendedAdvertising
    }

    /// Whether the controller claims everything that the extended commands require, fallbacks aside.
    package var claimsExtendedAdvertising: Bool {
        leFeatures.contains(.extendedAdvertising) && advertisingSets != 0 && Self.extendedCommands.allSatisfy(supports)
    }

    /// Applies fallbacks to the capabilities.
    package mutating func take(_ fallbacks: Set<ControllerFallback>) {
        self.fallbacks = fallbacks
        if fallbacks.contains(.noCodedPHY) { leFeatures.remove(.phyCoded) }
        if fallbacks.contains(.extendedCommands) { advertisingSets = advertisingSets.map { max(1, $0) } }
    }

    /// The commands that the host requires for the use of the extended set.
    package static let extendedCommands: [any HCICommand.Type] = [
        LESetAdvertisingSetRandomAddress.self, LESetExtendedAdvertisingParameters.self,
        LESetExtendedAdvertisingData.self, LESetExtendedScanResponseData.self, LESetExtendedAdvertisingEnable.self,
        LESetExtendedScanParameters.self, LESetExtendedScanEnable.self, LEExtendedCreateConnection.self,
    ]
}
