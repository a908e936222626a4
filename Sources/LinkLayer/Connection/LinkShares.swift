import HCI

/// A link's accounts of radio use, by kind of traffic.
struct LinkShares {
    let data, empty, control, listening: RadioShare

    init(of link: ConnectionHandle, at arbiter: RadioArbiter) {
        data = arbiter.share(of: .link(link, .data))
        empty = arbiter.share(of: .link(link, .empty))
        control = arbiter.share(of: .link(link, .control))
        listening = arbiter.share(of: .link(link, .listening))
    }

    subscript(traffic: LinkTraffic) -> RadioShare {
        switch traffic {
        case .data: data
        case .empty: empty
        case .control: control
        case .listening: listening
        }
    }
}
