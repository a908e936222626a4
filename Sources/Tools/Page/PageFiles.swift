/// The files of the page, compiled in.
enum PageFiles {
    struct File: Sendable {
        let type: String
        let octets: [UInt8]
    }

    /// A file that is made for one request, with the name to save it under.
    struct Download: Sendable {
        let name: String
        let octets: [UInt8]
    }

    private static let script = "text/javascript; charset=utf-8"

    /// The file at a path, or nil.
    static func file(at path: String) -> File? {
        switch path {
        case "/": File(type: "text/html; charset=utf-8", octets: PackageResources.index_html)
        case "/page.css": File(type: "text/css; charset=utf-8", octets: PackageResources.page_css)
        case "/page.js": File(type: script, octets: PackageResources.page_js)
        case "/model.js": File(type: script, octets: PackageResources.model_js)
        case "/elements.js": File(type: script, octets: PackageResources.elements_js)
        case "/energy.js": File(type: script, octets: PackageResources.energy_js)
        case "/device.js": File(type: script, octets: PackageResources.device_js)
        case "/dissection.js": File(type: script, octets: PackageResources.dissection_js)
        case "/devices.js": File(type: script, octets: PackageResources.devices_js)
        case "/apps.js": File(type: script, octets: PackageResources.apps_js)
        case "/faults.js": File(type: script, octets: PackageResources.faults_js)
        case "/events.js": File(type: script, octets: PackageResources.events_js)
        case "/filter.js": File(type: script, octets: PackageResources.filter_js)
        case "/filterinput.js": File(type: script, octets: PackageResources.filterinput_js)
        case "/list.js": File(type: script, octets: PackageResources.list_js)
        case "/packets.js": File(type: script, octets: PackageResources.packets_js)
        case "/prompts.js": File(type: script, octets: PackageResources.prompts_js)
        case "/advice.js": File(type: script, octets: PackageResources.advice_js)
        case "/rings.js": File(type: script, octets: PackageResources.rings_js)
        case "/timeline.js": File(type: script, octets: PackageResources.timeline_js)
        case "/verbs.js": File(type: script, octets: PackageResources.verbs_js)
        case "/why.js": File(type: script, octets: PackageResources.why_js)
        case "/world.js": File(type: script, octets: PackageResources.world_js)
        case "/worldmap.js": File(type: script, octets: PackageResources.worldmap_js)
        case "/icons.js": File(type: script, octets: PackageResources.icons_js)
        case "/labels.js": File(type: script, octets: PackageResources.labels_js)
        case "/icon.svg": File(type: "image/svg+xml", octets: PackageResources.icon_svg)
        default: nil
        }
    }

    /// The header fields of every answer. Nothing comes from another host, no script or style is inline, and no other
    /// page may frame this one.
    static let headers: [(String, String)] = [
        (
            "Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri "
                + "'none'; form-action 'none'; frame-ancestors 'none'"
        ),
        ("X-Content-Type-Options", "nosniff"),
        ("Referrer-Policy", "no-referrer"),
        ("Cross-Origin-Opener-Policy", "same-origin"),
        ("Cross-Origin-Resource-Policy", "same-origin"),
        ("Cache-Control", "no-store"),
    ]
}
