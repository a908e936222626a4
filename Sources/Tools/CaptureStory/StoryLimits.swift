/// The bounds of what a story remembers, so that the length of a capture does not matter.
///
/// Where a bound is reached, the story forgets what has been silent the longest, or counts without details.
package enum StoryLimits {
    /// The devices by address. The one that was seen least recently is forgotten.
    package static let devices = 1_024
    /// The identity resolving keys.
    package static let keys = 64
    /// The links that are open at the same time. The one that was silent the longest is treated as ended.
    package static let openLinks = 256
    /// The links with a summary at the end. Further ones are only counted.
    package static let summaries = 1_000
    /// The attributes that are known of a server.
    package static let attributes = 512
    /// The servers whose attributes are remembered after the link has ended.
    package static let servers = 64
    /// The attributes of a link that sent values unasked, with their counts.
    package static let subscriptions = 64
    /// The marks of a link on the timeline.
    package static let marks = 64
    /// The adapters of a capture that have a state.
    package static let adapters = 16
    /// The longest L2CAP PDU: a length of two octets, and the header (Core Vol 3 Part A 3.1).
    package static let longestPDU = 65_535 + 4
    /// The distance of a time from the Unix epoch, in microseconds: 4,567 years. A file may claim any time; within this
    /// bound, ten times the difference of two times still fits.
    package static let time = Int64.max / 64
    /// The silence of a link that is worth an entry, in microseconds.
    package static let gap: Int64 = 5_000_000
}
