import BluetoothTypes
import HCI

/// The capabilities of a controller, as read during initialization.
package struct ControllerInformation: Hashable, Sendable {
    /// Where the controller is attached (``HCITransport/place``); empty if unknown.
    package private(set) var place = ""
    /// The public address, or nil if the controller has none.
    package private(set) var publicAddress: BluetoothAddress?
    package private(set) var version = SpecificationVersion.v4_0
    /// The manufacturer's company identifier, as assigned by the Bluetooth SIG; 0xFFFF if unknown.
    package private(set) var companyIdentifier: UInt16 = 0xFFFF
    package private(set) var revision: UInt16 = 0
    package private(set) var subversion: UInt16 = 0
    package private(set) var supportedCommands = SupportedCommands()
    package private(set) var features: LMPFeatures = []
    package private(set) var leFeatures: LEFeatures = []
    package private(set) var leStates: LEStates = []
    /// The longest ACL payload that both the controller's buffers and the transport carry, in octets.
    package private(set) var aclBufferSize = 0
    package private(set) var aclBufferCount = 0
    /// The host buffers announced to the controller; nil if host flow control is off.
    package private(set) var hostBuffers: HostBuffers?
    package private(set) var acceptListSize = 0
    /// The capacity of the resolving list; 0 without LL privacy.
    package private(set) var resolvingListSize = 0
    /// The maximum link-layer payload for transmission, in octets.
    package private(set) var maxTxOctets: UInt16 = 27
    /// The maximum duration of a transmitted link-layer packet, in µs.
    package private(set) var maxTxTime: UInt16 = 328
    /// The maximum link-layer payload for reception, in octets.
    package private(set) var maxRxOctets: UInt16 = 27
    /// The maximum duration of a received link-layer packet, in µs.
    package private(set) var maxRxTime: UInt16 = 328
    /// The maximum length of advertising data, in octets; 31 with legacy advertising.
    package private(set) var maxAdvertisingDataLength = 31
    /// The number of advertising sets; nil if the controller was not asked, which is the case when it is used with the
    /// legacy commands.
    package private(set) var advertisingSets: Int?
    /// The fallbacks in use, because the controller does not do what it claims.
    package private(set) var fallbacks: Set<ControllerFallback> = []
    /// The range of the transmit power, in dBm; nil if unknown.
    package private(set) var transmitPower: ClosedRange<Int8>?

    package init(place: String = "") { self.place = place }

    // MARK: Findings

    package mutating func apply(_ response: any HCIResponse) {
        switch response {
        case let response as ReadLocalVersionInformation.Response:
            version = response.hciVersion
            companyIdentifier = response.companyIdentifier
            (revision, subversion) = (response.hciRevision, response.linkLayerSubversion)
        case let response as ReadLocalSupportedCommands.Response: supportedCommands = response.commands
        case let response as ReadLocalSupportedFeatures.Response: features = response.features
        case let response as ReadBDADDR.Response:
            publicAddress = response.address.value == 0 ? nil : response.address
        case let response as LEReadLocalSupportedFeatures.Response: leFeatures = response.features
        case let response as LEReadSupportedStates.Response: leStates = response.states
        case let response as LEReadFilterAcceptListSize.Response: acceptListSize = Int(response.value)
        case let response as LEReadResolvingListSize.Response: resolvingListSize = Int(response.value)
        case let response as LEReadMaximumDataLength.Response: apply(dataLength: response)
        case let response as LEReadTransmitPower.Response where response.minimum <= response.maximum:
            transmitPower = response.minimum...response.maximum
        case let response as LEReadMaximumAdvertisingDataLength.Response:
            maxAdvertisingDataLength = min(max(Int(response.value), 31), 1_650)
        case let response as LEReadNumberOfSupportedAdvertisingSets.Response: advertisingSets = Int(response.value)
        default: apply(buffers: response)
        }
    }

    private mutating func apply(buffers response: any HCIResponse) {
        switch response {
        case let response as LEReadBufferSizeV2.Response: return apply(buffers: response.v1)
        case let response as LEReadBufferSize.Response:
            (aclBufferSize, aclBufferCount) = (Int(response.aclDataPacketLength), Int(response.totalACLDataPackets))
        case let response as ReadBufferSize.Response:
            (aclBufferSize, aclBufferCount) = (Int(response.aclDataPacketLength), Int(response.totalACLDataPackets))
        default: break
        }
        // A length of zero means that LE shares the BR/EDR buffers, whatever the count is (Vol 4 Part E 7.8.2).
        if aclBufferSize == 0 { aclBufferCount = 0 }
    }

    /// Stores the maximum data lengths, clamped to the permitted ranges.
    private mutating func apply(dataLength response: LEReadMaximumDataLength.Response) {
        maxTxOctets = min(max(response.txOctets, 27), 251)
        maxTxTime = min(max(response.txTime, 328), 17_040)
        maxRxOctets = min(max(response.rxOctets, 27), 251)
        maxRxTime = min(max(response.rxTime, 328), 17_040)
    }

    /// Records that the controller returns the host's buffers one by one.
    mutating func noteHostFlow(_ buffers: HostBuffers) {
        hostBuffers = buffers
    }

    /// Records that the controller has reported no advertising set in an earlier initialization.
    mutating func noteNoAdvertisingSets() {
        advertisingSets = 0
    }

    /// Assumes the mandatory commands of version 4.0, because the controller does not report its commands.
    mutating func assumeVersion40() {
        supportedCommands = Self.version40Commands
    }

    // MARK: Buffers

    /// The minimum size of a buffer, in octets (Core Vol 4 Part E 7.8.2).
    static let smallestBuffer = 27
    /// The size of a buffer that holds the longest link-layer PDU whole, in octets (Vol 6 Part B 2.4).
    static let usualBuffer = 251
    /// A size above that of any LE controller's buffers, in octets. Larger values are replaced by ``usualBuffer``.
    static let largestBuffer = 4_096

    /// Clamps the buffer sizes to plausible values. A controller that reports no buffers would be unusable, so the host
    /// uses one buffer of the minimum size.
    mutating func clampBuffers() {
        if aclBufferCount <= 0 { (aclBufferSize, aclBufferCount) = (Self.smallestBuffer, 1) }
        if aclBufferSize > Self.largestBuffer { aclBufferSize = Self.usualBuffer }
        aclBufferSize = max(aclBufferSize, Self.smallestBuffer)
    }

    /// Limits the payload of ACL packets to what the transport carries.
    mutating func limitPackets(to octets: Int) {
        aclBufferSize = min(aclBufferSize, octets)
    }

    // MARK: Capabilities

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

    package mutating func apply(_ fallbacks: Set<ControllerFallback>) {
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

    /// The legacy commands of version 4.0 that the extended commands of version 5.0 replace.
    private static let legacyCommands: [Opcode] = [
        LESetScanParameters.opcode, LESetScanEnable.opcode, LECreateConnection.opcode,
        LESetAdvertisingParameters.opcode,
        LESetAdvertisingData.opcode, LESetScanResponseData.opcode, LESetAdvertisingEnable.opcode,
    ]

    /// Returns the fallback to the other set of commands, if the controller has left a command of one set unanswered
    /// and supports the other set.
    func fallback(afterHangOf opcode: Opcode) -> ControllerFallback? {
        guard leFeatures.contains(.extendedAdvertising) else { return nil }
        if supportsExtendedAdvertising {
            return Self.extendedCommands.contains { $0.opcode == opcode } ? .legacyCommands : nil
        }
        return Self.legacyCommands.contains(opcode) ? .extendedCommands : nil
    }

    /// The mandatory commands of a version 4.0 controller, for controllers that do not report their commands.
    private static let version40Commands = SupportedCommands([
        Disconnect.self, ReadRemoteVersionInformation.self, SetEventMask.self, Reset.self,
        ReadLocalVersionInformation.self, ReadLocalSupportedFeatures.self, ReadBDADDR.self, LESetEventMask.self,
        LEReadBufferSize.self, LEReadLocalSupportedFeatures.self, LESetRandomAddress.self,
        LESetAdvertisingParameters.self, LESetAdvertisingData.self, LESetScanResponseData.self,
        LESetAdvertisingEnable.self, LESetScanParameters.self, LESetScanEnable.self, LECreateConnection.self,
        LECreateConnectionCancel.self, LEReadFilterAcceptListSize.self, LEClearFilterAcceptList.self,
        LEAddDeviceToFilterAcceptList.self, LERemoveDeviceFromFilterAcceptList.self, LEConnectionUpdate.self,
        LEReadRemoteFeatures.self, LEEncrypt.self, LERand.self, LEEnableEncryption.self,
        LELongTermKeyRequestReply.self, LELongTermKeyRequestNegativeReply.self, LEReadSupportedStates.self,
    ])
}

/// The buffers that the host announces to the controller (Core Vol 4 Part E 4.2).
package struct HostBuffers: Hashable, Sendable {
    /// The announced maximum ACL payload, in octets. The host accepts longer payloads as well.
    package var packetLength: UInt16
    /// The number of packets that the controller may send before the host reports them consumed; at least 1.
    package var packetCount: UInt16

    /// Creates host buffers. A `packetCount` of 0 becomes 1.
    package init(packetLength: UInt16 = 1_021, packetCount: UInt16 = 64) {
        self.packetLength = packetLength
        self.packetCount = max(packetCount, 1)
    }
}
