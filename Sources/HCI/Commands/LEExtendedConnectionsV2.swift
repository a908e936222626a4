import BluetoothTypes

/// LE Extended Create Connection [v2] (Core Vol 4 Part E 7.8.66): connects to a peer, on one or several PHYs, or
/// answers to a subevent of periodic advertising. LE Enhanced Connection Complete [v2] follows.
package struct LEExtendedCreateConnectionV2: HCICommand {
    /// The command's number.
    package static var opcode: Opcode { Opcode(group: 0x08, command: 0x0085) }
    /// The command's name.
    package static var name: String { "LE Extended Create Connection [v2]" }
    /// Command Status answers.
    package static var isAnsweredByStatus: Bool { true }
    /// Its place among the supported commands.
    package static var supportBit: SupportedCommands.Bit? { .init(octet: 47, bit: 0) }

    /// The set whose periodic advertising the peer listens to; 0xFF when it is not used.
    package var set: UInt8 = 0
    /// The subevent that the connection request is sent in; 0xFF when it is not used.
    package var periodicSubevent: UInt8 = 0
    /// Whom to connect to.
    package var filterPolicy = LEInitiatorFilterPolicy(rawValue: 0)
    /// The address that is used on the air.
    package var ownAddressKind = OwnAddressKind(rawValue: 0)
    /// Whom to connect to, when no accept list is used.
    package var peerAddress = BluetoothAddress.none
    /// Scanning and connection parameters on the 1M PHY; nil when it is not used.
    package var le1M: PHYConnectionParameters?
    /// Connection parameters on the 2M PHY, which is not scanned on; nil when it is not used.
    package var le2M: PHYConnectionParameters?
    /// Scanning and connection parameters on the Coded PHY; nil when it is not used.
    package var coded: PHYConnectionParameters?

    /// A command with every parameter zero.
    package init() {}

    /// A command with these parameters.
    package init(
        set: UInt8,
        periodicSubevent: UInt8,
        filterPolicy: LEInitiatorFilterPolicy,
        ownAddressKind: OwnAddressKind,
        peerAddress: BluetoothAddress,
        le1M: PHYConnectionParameters? = nil,
        le2M: PHYConnectionParameters? = nil,
        coded: PHYConnectionParameters? = nil
    ) {
        self.set = set
        self.periodicSubevent = periodicSubevent
        self.filterPolicy = filterPolicy
        self.ownAddressKind = ownAddressKind
        self.peerAddress = peerAddress
        self.le1M = le1M
        self.le2M = le2M
        self.coded = coded
    }

    /// Names the parameters: the mask of PHYs says whose parameters follow.
    package mutating func code<C: FieldCoder>(_ coder: inout C) throws(PacketError) {
        try coder.field("Advertising_Handle", &set)
        try coder.field("Subevent", &periodicSubevent)
        try coder.field("Initiator_Filter_Policy", &filterPolicy)
        try coder.field("Own_Address_Type", &ownAddressKind)
        try coder.typedAddress("Peer_Address_Type", "Peer_Address", &peerAddress)
        var phys: LEPHYs = []
        if le1M != nil { phys.insert(.le1M) }
        if le2M != nil { phys.insert(.le2M) }
        if coded != nil { phys.insert(.coded) }
        try coder.phys("Initiating_PHYs", &phys, allowed: [.le1M, .le2M, .coded])
        try coder.optional("1M", &le1M, isPresent: phys.contains(.le1M))
        try coder.optional("2M", &le2M, isPresent: phys.contains(.le2M))
        try coder.optional("Coded", &coded, isPresent: phys.contains(.coded))
    }
}
