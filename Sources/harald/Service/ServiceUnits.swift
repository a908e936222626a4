/// The units by which systemd starts a service: when a program first connects to its socket, and again when it has crashed.
struct ServiceUnits: Hashable {
    /// Whose service it is.
    enum Scope: Hashable {
        /// One user's; the user's own manager runs it.
        case user
        /// All of the machine's, as a user of its own.
        case machine
    }

    /// The name of both units, without its ending.
    static let name = "harald"
    /// The user and the group that a service of the machine runs as.
    static let account = "harald"

    let scope: Scope
    /// The whole path of the tool.
    let program: String
    /// What it is given after `service`.
    let arguments: [String]
    /// Whether it has suspended apps frozen.
    var freezes = false

    /// `harald.socket`.
    var socket: String {
        """
        # Written by `harald install`.
        [Unit]
        Description=Bluetooth LE for programs that use Core Bluetooth

        [Socket]
        ListenStream=\(scope == .user ? "%t/harald/service" : "/run/harald/service")
        SocketMode=\(scope == .user ? "0600" : "0660")
        \(scope == .user ? "DirectoryMode=0700" : "SocketGroup=\(Self.account)\nDirectoryMode=0755")

        [Install]
        WantedBy=sockets.target

        """
    }

    /// `harald.service`.
    var service: String {
        """
        # Written by `harald install`.
        [Unit]
        Description=Bluetooth LE service of Harald
        Requires=\(Self.name).socket
        After=\(Self.name).socket
        StartLimitIntervalSec=60
        StartLimitBurst=10

        [Service]
        Type=notify
        NotifyAccess=main
        ExecStart=\(command)
        Restart=on-failure
        RestartSec=1
        FileDescriptorStoreMax=1
        UMask=0077\(freezes ? "\n" + Self.thawing : "")
        \((scope == .user ? hardening : account + hardening).joined(separator: "\n"))

        [Install]
        Also=\(Self.name).socket
        WantedBy=\(scope == .user ? "default.target" : "multi-user.target")

        """
    }

    /// However the service ends: nobody else wakes apps that it had frozen.
    private static let thawing = "ExecStopPost=-/usr/bin/systemctl --user thaw app-harald-*.service"

    /// What only a service of the machine needs: a user of its own, and the one right to take a controller from the kernel.
    private var account: [String] {
        [
            "User=\(Self.account)",
            "Group=\(Self.account)",
            "AmbientCapabilities=CAP_NET_ADMIN",
            "CapabilityBoundingSet=CAP_NET_ADMIN",
            "StateDirectory=\(Self.account)",
            "StateDirectoryMode=0700",
            "ProtectSystem=strict",
            "ProtectHome=yes",
            "PrivateTmp=yes",
            "ProtectKernelTunables=yes",
            "ProtectKernelModules=yes",
            "ProtectKernelLogs=yes",
            "ProtectControlGroups=yes",
            "ProtectHostname=yes",
            "RemoveIPC=yes",
            "RestrictNamespaces=yes",
        ]
    }

    /// What neither needs. Not MemoryDenyWriteExecute, nor a list of system calls: programs that a user's service launches without
    /// a manager would have them too.
    private var hardening: [String] {
        [
            "NoNewPrivileges=yes",
            "LockPersonality=yes",
            "RestrictRealtime=yes",
            "RestrictSUIDSGID=yes",
            "SystemCallArchitectures=native",
            // That of netlink for libusb, which hears by it what is plugged in.
            "RestrictAddressFamilies=AF_UNIX AF_BLUETOOTH AF_INET AF_INET6 AF_NETLINK",
        ]
    }

    /// The command line, as systemd.service(5) has it.
    private var command: String {
        var all = [program, "service"] + arguments
        if scope == .machine { all += ["--all-users", "--store", "/var/lib/\(Self.account)/bonds"] }
        return all.map(Self.quoted).joined(separator: " ")
    }

    /// An argument that systemd reads as it is: `%` and `$` mean something there, and so do quotes and spaces.
    static func quoted(_ text: String) -> String {
        let escaped = text.map { character -> String in
            switch character {
            case "\\": "\\\\"
            case "\"": "\\\""
            case "%": "%%"
            case "$": "$$"
            case "\n": "\\n"
            default: String(character)
            }
        }.joined()
        let isPlain = text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "/.:_-=,@+".contains($0)) }
        return isPlain && !text.isEmpty ? escaped : "\"\(escaped)\""
    }
}
