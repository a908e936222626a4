/// The numbers that abbreviate URI schemes in advertising data (Bluetooth Assigned Numbers 2.7).
///
/// On the air the number is one UTF-8 character, followed by the rest of the URI.
enum URISchemes {
    /// The number in front of a URI whose scheme has no number of its own.
    static let none: UInt32 = 0x0001
    /// The number of the first name in ``names``.
    private static let first: UInt32 = 0x0002

    /// Returns the number of the scheme of `uri` and the length of the scheme in characters, including its colon.
    static func number(of uri: String) -> (number: UInt32, length: Int)? {
        guard let colon = uri.firstIndex(of: ":") else { return nil }
        // Schemes are case-insensitive (RFC 3986 3.1).
        guard let number = numbers[uri[..<colon].lowercased()] else { return nil }
        return (number, uri.distance(from: uri.startIndex, to: colon) + 1)
    }

    /// Returns the scheme with this number, including its colon; empty for ``none``, nil for an unassigned number.
    static func scheme(_ number: UInt32) -> String? {
        if number == none { return "" }
        guard number >= first, number - first < UInt32(names.count) else { return nil }
        return names[Int(number - first)] + ":"
    }

    private static let numbers = Dictionary(
        uniqueKeysWithValues: names.enumerated().map { ($1, UInt32($0) + first) }
    )

    /// The schemes in the order of their numbers.
    private static let names = """
        aaa aaas about acap acct cap cid coap coaps crid data dav dict dns file ftp geo go gopher h323 http https iax
        icap im imap info ipp ipps iris iris.beep iris.xpc iris.xpcs iris.lwz jabber ldap mailto mid msrp msrps mtqp
        mupdate news nfs ni nih nntp opaquelocktoken pop pres reload rtsp rtsps rtspu service session shttp sieve sip
        sips sms snmp soap.beep soap.beeps stun stuns tag tel telnet tftp thismessage tn3270 tip turn turns tv urn
        vemmi ws wss xcon xcon-userid xmlrpc.beep xmlrpc.beeps xmpp z39.50r z39.50s acr adiumxtra afp afs aim apt
        attachment aw barion beshare bitcoin bolo callto chrome chrome-extension com-eventbrite-attendee content cvs
        dlna-playsingle dlna-playcontainer dtn dvb ed2k facetime feed feedready finger fish gg git gizmoproject gtalk
        ham hcp icon ipn irc irc6 ircs itms jar jms keyparc lastfm ldaps magnet maps market message mms ms-help
        ms-settings-power msnim mumble mvn notes oid palm paparazzi pkcs11 platform proxy psyc query res resource rmi
        rsync rtmfp rtmp secondlife sftp sgn skype smb smtp soldat spotify ssh steam submit svn teamspeak teliaeid
        things udp unreal ut2004 ventrilo view-source webcal wtai wyciwyg xfire xri ymsgr example
        ms-settings-cloudstorage bluetooth bl
        """.split(whereSeparator: \.isWhitespace).map(String.init)
}
