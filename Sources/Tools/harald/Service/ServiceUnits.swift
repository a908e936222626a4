/// The systemd units of a service. systemd starts the service when a program first connects to its socket, and again
/// after a crash.
struct ServiceUnits: Hashable {
    /// Which programs the service is for.
    enum Scope: Hashable {
        /// The programs of one user. The user's own manager runs the service.
        case user
        /// The programs of all users. The service runs under an account of its own.
        case machine
    }

    /// The name of both units, without the suffix.
    static let name = "harald"
    /// The user and group of a machine-wide service.
    static let account = "harald"

    let scope: Scope
    /// The absolute path of the tool.
    let program: String
    /// The arguments after `service`.
    let arguments: [String]
    let reach: ControllerReach
    var freezes = false

    /// The text of `harald.socket`.
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

    /// The text of `harald.service`.
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

    /// Runs however the service ends, because nothing else thaws the apps that it had frozen.
    private static let thawing = "ExecStopPost=-/usr/bin/systemctl --user thaw app-harald-*.service"

    /// The account, capabilities and state directory of a machine-wide service.
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

    /// Restrictions that fit every service of Harald.
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

    /// Restrictions for a machine-wide service. Not for a user's service, because the programs that it launches without
    /// a manager would inherit them.
    ///
    /// Without ProcSubset=pid, which hides the kernel's boot ID, and without PrivateUsers=, which makes CAP_NET_ADMIN
    /// ineffective.
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
        ] + reach.devices.map { "DeviceAllow=\(Self.quoted($0, expandsVariables: false)) rw" }
            + (reach.isRemote ? [] : ["IPAddressDeny=any"])
    }

    /// Above this limit the kernel kills the service, and systemd restarts it, before the machine runs out of memory.
    private static let memory = "512M"
    private static let tasks = 512

    /// The command line in the syntax of systemd.service(5).
    private var command: String {
        var all = [program, "service"] + arguments
        if scope == .machine { all += ["--all-users", "--store", "/var/lib/\(Self.account)/bonds"] }
        return all.enumerated().map { Self.quoted($1, expandsVariables: $0 > 0) }.joined(separator: " ")
    }

    /// Why systemd could not take these texts literally, whatever their quotes; nil if it can (AB-T02).
    var fault: String? {
        if program.unicodeScalars.contains(where: { Self.isControl($0) || "\"'\\".unicodeScalars.contains($0) }) {
            return
                "systemd does not run a program whose path has quotes, backslashes or control characters; move harald elsewhere"
        }
        if reach.devices.contains(where: { $0.unicodeScalars.contains(where: Self.isControl) }) {
            return "a unit cannot name a device whose path has control characters; give the device another name"
        }
        return nil
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool { scalar.value < 0x20 || scalar == "\u{7F}" }

    /// Quotes a text so that systemd takes it literally: `%`, `$`, quotes and spaces have a meaning there, and each
    /// control character that ends a line would begin another setting (AB-T02).
    ///
    /// - Parameter expandsVariables: Whether systemd replaces variables in this place, as in arguments.
    static func quoted(_ text: String, expandsVariables: Bool = true) -> String {
        let escaped = text.unicodeScalars.map { scalar -> String in
            switch scalar {
            case "\\": "\\\\"
            case "\"": "\\\""
            case "%": "%%"
            case "$" where expandsVariables: "$$"
            // Control characters, including those that end a line, need a C-style escape (systemd.syntax(7)).
            case _ where isControl(scalar): "\\x" + (scalar.value < 16 ? "0" : "") + String(scalar.value, radix: 16)
            default: String(scalar)
            }
        }.joined()
        let isPlain = text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "/.:_-=,@+".contains($0)) }
        return isPlain && !text.isEmpty ? escaped : "\"\(escaped)\""
    }
}
