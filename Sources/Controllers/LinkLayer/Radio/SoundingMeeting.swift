import Cryptography

/// One end of a link during a subevent of Channel Sounding.
struct SoundingPresence {
    let node: RadioNode
    /// The transmit power in dBm.
    let power: Double
    /// How much the clock runs slow, in parts per million.
    let drift: Double
    /// What tells whether both ends follow the same plan.
    let key: Block128
    let subevent: Int
    let procedure: UInt16
}

/// Where the two ends of links meet for the subevents of Channel Sounding.
struct SoundingMeeting {
    var initiator: SoundingPresence?
    var reflector: SoundingPresence?
}
