/// The amounts that a manager has of the shared resources.
struct Holdings {
    var scans = 0
    var peers = 0
    var attributes = 0
    var publishedChannels = 0
    var channels = 0
    var advertisers = 0
}
