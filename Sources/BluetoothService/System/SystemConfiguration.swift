import GAP

/// How a Bluetooth system presents itself and behaves.
public struct SystemConfiguration: Hashable, Sendable {
    /// The name in the Generic Access service, up to 248 octets of UTF-8.
    public var deviceName = "Harald"
    /// What the device looks like, a number from Bluetooth Assigned Numbers 2.6; 0 for unknown.
    public var appearance: UInt16 = 0
    /// The address on the air.
    public var address = OwnAddressPolicy.staticRandom
    /// The ATT MTU that is offered, 23 to 517. An iPhone offers 185: seven packets of 27 octets (behaviour 14.6).
    public var preferredMTU = 185
    /// How long a link stays up after its last user has let go. Apple's systems wait about five seconds (behaviour 3.11); here
    /// it ends at once unless told otherwise.
    public var linger = Duration.zero

    /// When the system's loop began, in seconds since the beginning of 2001, UTC; nil for a system without a calendar.
    public var loopStart: Double?

    /// The configuration of an ordinary system.
    public init() {}
}
