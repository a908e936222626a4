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
    /// What the service needs to reach its controller.
    let reach: ControllerReach
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
        \((scope == .user ? hardening : account + hardening + confinement).joined(separator: "\n"))

        [Install]
        Also=\(Self.name).socket
        WantedBy=\(scope == .user ? "default.target" : "multi-user.target")

        """
    }

    /// However the service ends: nobody else wakes apps that it had frozen.
    private static let thawing = "ExecStopPost=-/usr/bin/systemctl --user thaw app-harald-*.service"

    /// A user of its own for a service of the machine, and its directory.
    private var account: [String] {
        [
            "User=\(Self.account)",
            "Group=\(Self.account)",
            "AmbientCapabilities=\(reach.capabilities.joined(separator: " "))",
            "CapabilityBoundingSet=\(reach.capabilities.joined(separator: " "))",
            "StateDirectory=\(Self.account)",
            "StateDirectoryMode=0700",
        ]
    }

    /// What no service of Harald needs.
    private var hardening: [String] {
        [
            "NoNewPrivileges=yes",
            "LockPersonality=yes",
            "RestrictRealtime=yes",
            "RestrictSUIDSGID=yes",
            "SystemCallArchitectures=native",
            "RestrictAddressFamilies=\((scope == .user ? ControllerReach.allFamilies : reach.families).joined(separator: " "))",
        ]
    }

    /// What a service of the machine does without. Not that of a user: programs that it launches without a manager would be confined too.
    ///
    /// Not ProcSubset=pid, which hides by what number the kernel was started, nor PrivateUsers=, in which CAP_NET_ADMIN is worth nothing.
    private var confinement: [String] {
        [
            "ProtectSystem=strict",
            "ProtectHome=yes",
            "PrivateTmp=yes",
            "ProtectKernelTunables=yes",
            "ProtectKernelModules=yes",
            "ProtectKernelLogs=yes",
            "ProtectControlGroups=yes",
            "ProtectHostname=yes",
            "ProtectClock=yes",
            "ProtectProc=invisible",
            "RemoveIPC=yes",
            "RestrictNamespaces=yes",
            "KeyringMode=private",
            "MemoryDenyWriteExecute=yes",
            "SystemCallFilter=@system-service",
            "SystemCallFilter=~@privileged @resources",
            "SystemCallErrorNumber=EPERM",
            "MemoryMax=\(Self.memory)",
            "TasksMax=\(Self.tasks)",
            "DevicePolicy=closed",
        ] + reach.devices.map { "DeviceAllow=\($0) rw" } + (reach.isRemote ? [] : ["IPAddressDeny=any"])
    }

    /// Beyond that the kernel ends the service, and systemd starts it again, before the machine is short of memory.
    private static let memory = "512M"
    private static let tasks = 512

    /// The command line, as systemd.service(5) has it.
    private var command: String {
        var all = [program, "service"] + arguments
        if scope == .machine { all += ["--all-users", "--store", "/var/lib/\(Self.account)/bonds"] }
        return all.map(Self.quoted).joined(separator: " ")
    }

    /// An argument that systemd reads as it is: `%` and `$` mean something there, and so do quotes and spaces.
    static func quoted(_ text: String) -> String {
        let escaped = text.unicodeScalars.map { scalar -> String in
            switch scalar {
            case "\\": "\\\\"
            case "\"": "\\\""
            case "%": "%%"
            case "$": "$$"
            // A line ends with any of them, and nothing else can be trusted with the rest (systemd.syntax(7), C-style escapes).
            case "\u{0}"..<" ", "\u{7F}": "\\x" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
            default: String(scalar)
            }
        }.joined()
        let isPlain = text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "/.:_-=,@+".contains($0)) }
        return isPlain && !text.isEmpty ? escaped : "\"\(escaped)\""
    }
}
