/// Packets as other programs encode them, with a space between two fields: the kind of packet, its name, and its
/// parameters.
///
/// Each field has octets of its own, so that a field of a wrong width or in a wrong place shows. The octets were made
/// without this project's packet descriptions.
enum PacketVectors {
    /// Made with Bumble 0.0.236: every field of its class for the packet got a value, counting up from octet to octet
    /// (flags got 1, a response's status 0). Each was encoded with `HCI_Object.serialize_field`, and the whole was
    /// compared with the packet's own `bytes()`. Packets without parameters are left out. Those of Channel Sounding were made
    /// in the same way with Bumble of 2026-08-18 (f5346578).
    static let bumble = """
        command | Set Event Mask | 1718191a1b1c1d1e
        response | Set Event Mask | 00
        response | Reset | 00
        command | Set Event Mask Page 2 | 45464748494a4b4c
        response | Set Event Mask Page 2 | 00
        command | Write LE Host Support | 01 4c
        response | Write LE Host Support | 00
        command | Write Authenticated Payload Timeout | 3435 3637
        command | Set Controller To Host Flow Control | 01
        response | Set Controller To Host Flow Control | 00
        command | Host Buffer Size | 3536 37 3839 3a3b
        response | Host Buffer Size | 00
        response | Read Local Version Information | 00 18 191a 1b 1c1d 1e1f
        response | Read Local Supported Commands | 00 1f202122232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e
        response | Read Local Supported Features | 00 262728292a2b2c2d
        response | Read Buffer Size | 00 3435 36 3738 393a
        response | Read BD_ADDR | 00 505152535455
        command | LE Set Advertising Parameters | 3a3b 3c3d 3e 3f 40 414243444546 47 48
        response | LE Set Advertising Parameters | 00
        response | LE Read Advertising Physical Channel Tx Power | 00 c2
        command | LE Set Advertising Data | 05 48494a4b4c0000000000000000000000000000000000000000000000000000
        response | LE Set Advertising Data | 00
        command | LE Set Scan Response Data | 05 4f505152530000000000000000000000000000000000000000000000000000
        response | LE Set Scan Response Data | 00
        command | LE Set Advertising Enable | 01
        response | LE Set Advertising Enable | 00
        command | LE Create Connection | 2b2c 2d2e 2f 30 313233343536 37 3839 3a3b 3c3d 3e3f 4041 4243
        response | LE Create Connection Cancel | 00
        command | LE Connection Update | 1516 1718 191a 1b1c 1d1e 1f20 2122
        command | LE Read Remote Features Page 0 | 2a2b
        command | LE Remote Connection Parameter Request Reply | 3031 3233 3435 3637 3839 3a3b 3c3d
        response | LE Remote Connection Parameter Request Reply | 00 3f40
        command | LE Remote Connection Parameter Request Negative Reply | 3738 39
        response | LE Remote Connection Parameter Request Negative Reply | 00 3b3c
        command | LE Set Event Mask | 1718191a1b1c1d1e
        response | LE Set Event Mask | 00
        response | LE Read Buffer Size | 00 1f20 21
        response | LE Read Buffer Size [v2] | 00 3132 33 3435 36
        response | LE Read Local Supported Features Page 0 | 00 262728292a2b2c2d
        command | LE Set Random Address | 333435363738
        response | LE Set Random Address | 00
        response | LE Read Supported States | 00 15161718191a1b1c
        response | LE Read Transmit Power | 00 1e 1f
        command | LE Set Host Feature [v1] | 3c 01
        response | LE Set Host Feature [v1] | 00
        command | LE Set Data Length | 3e3f 4041 4243
        response | LE Set Data Length | 00 4546
        response | LE Read Suggested Default Data Length | 00 4647 4849
        command | LE Write Suggested Default Data Length | 4c4d 4e4f
        response | LE Write Suggested Default Data Length | 00
        response | LE Read Maximum Data Length | 00 1a1b 1c1d 1e1f 2021
        response | LE Rand | 00 393a3b3c3d3e3f40
        command | LE Enable Encryption | 3f40 4142434445464748 494a 4b4c4d4e4f505152535455565758595a
        command | LE Long Term Key Request Reply | 4647 48494a4b4c4d4e4f5051525354555657
        response | LE Long Term Key Request Reply | 00 595a
        command | LE Long Term Key Request Negative Reply | 4d4e
        response | LE Long Term Key Request Negative Reply | 00 5051
        command | LE Set Advertising Set Random Address | 43 444546474849
        response | LE Set Advertising Set Random Address | 00
        command | LE Set Extended Advertising Parameters [v1] | 4a 4b4c 4d4e4f 505152 53 54 55 565758595a5b 5c 5d 5e 5f 60 61 01
        response | LE Set Extended Advertising Parameters [v1] | 00 e4
        command | LE Set Extended Advertising Data | 11 12 13 071415161718191a
        response | LE Set Extended Advertising Data | 00
        command | LE Set Extended Scan Response Data | 18 19 1a 071b1c1d1e1f2021
        response | LE Set Extended Scan Response Data | 00
        command | LE Set Extended Advertising Enable | 01 02 20 2122 23 24 2526 27
        response | LE Set Extended Advertising Enable | 00
        response | LE Read Maximum Advertising Data Length | 00 2728
        response | LE Read Number of Supported Advertising Sets | 00 2e
        command | LE Remove Advertising Set | 34
        response | LE Remove Advertising Set | 00
        response | LE Clear Advertising Sets | 00
        command | LE Extended Create Connection [v1] | 21 22 23 414243444546 05 1030 1131 1232 1333 1434 1535 1636 1737 2040 2141 2242 2343 2444 2545 2646 2747
        command | LE Set Extended Scan Parameters | 21 22 05 23 2526 292a 24 2728 2b2c
        response | LE Set Extended Scan Parameters | 00
        command | LE Set Extended Scan Enable | 01 1f 2021 2223
        response | LE Set Extended Scan Enable | 00
        response | LE Read Filter Accept List Size | 00 3a
        response | LE Clear Filter Accept List | 00
        command | LE Add Device To Filter Accept List | 47 48494a4b4c4d
        response | LE Add Device To Filter Accept List | 00
        command | LE Remove Device From Filter Accept List | 4e 4f5051525354
        response | LE Remove Device From Filter Accept List | 00
        command | LE Read PHY | 2021
        response | LE Read PHY | 00 2324 25 26
        command | LE Set Default PHY | 27 28 29
        response | LE Set Default PHY | 00
        command | LE Set PHY | 2e2f 30 31 32 3334
        command | LE Add Device To Resolving List | 21 222324252627 28292a2b2c2d2e2f3031323334353637 38393a3b3c3d3e3f4041424344454647
        response | LE Add Device To Resolving List | 00
        response | LE Clear Resolving List | 00
        response | LE Read Resolving List Size | 00 37
        command | LE Set Address Resolution Enable | 01
        response | LE Set Address Resolution Enable | 00
        command | LE Set Resolvable Private Address Timeout | 1213
        response | LE Set Resolvable Private Address Timeout | 00
        command | LE Set Privacy Mode | 32 333435363738 39
        response | LE Set Privacy Mode | 00
        command | LE Set Scan Parameters | 1d 1e1f 2021 22 23
        response | LE Set Scan Parameters | 00
        command | LE Set Scan Enable | 01 25
        response | LE Set Scan Enable | 00
        command | Disconnect | 3a3b 3c
        command | Read Remote Version Information | 1b1c
        command | Read RSSI | 3334
        response | Read RSSI | 00 3637 b8
        event | Command Status | 1b 1c 1d1e
        event | Number Of Completed Packets | 02 2f30 3132 3334 3536
        event | LE Advertising Set Terminated | 2a 2b 2c2d 2e
        event | LE Advertising Report | 02 1a 1b 1c1d1e1f2021 0722232425262728 a9 2a 2b 2c2d2e2f3031 0732333435363738 b9
        event | LE Connection Complete | 15 1617 18 19 1a1b1c1d1e1f 2021 2223 2425 26
        event | LE Enhanced Connection Complete [v1] | 42 4344 45 46 4748494a4b4c 4d4e4f505152 535455565758 595a 5b5c 5d5e 5f
        event | LE Connection Update Complete | 1f 2021 2223 2425 2627
        event | LE Remote Connection Parameter Request | 2e2f 3031 3233 3435 3637
        event | LE Channel Selection Algorithm | 3435 36
        event | LE Enhanced Connection Complete [v2] | 1d 1e1f 20 21 222324252627 28292a2b2c2d 2e2f30313233 3435 3637 3839 3a 3b 3c3d
        event | LE Extended Advertising Report | 02 1112 13 141516171819 1a 1b 1c 1d 9e 1f20 21 222324252627 0728292a2b2c2d2e 2f30 31 323334353637 38 39 3a 3b bc 3d3e 3f 404142434445 07464748494a4b4c
        event | LE Read Remote Features Page 0 Complete | 24 2526 2728292a2b2c2d2e
        event | LE Long Term Key Request | 292a 2b2c2d2e2f303132 3334
        event | LE Data Length Change | 3334 3536 3738 393a 3b3c
        event | LE PHY Update Complete | 4c 4d4e 4f 50
        event | Disconnection Complete | 29 2a2b 2c
        event | Encryption Change [v1] | 38 393a 01
        event | Encryption Change [v2] | 4d 4e4f 01 51
        event | Encryption Key Refresh Complete | 40 4142
        event | Read Remote Version Information Complete | 4c 4d4e 4f 5051 5253
        command | LE Set Default Subrate | 2021 2223 2425 2627 2829
        command | LE Subrate Request | 1e1f 2021 2223 2425 2627 2829
        event | LE Subrate Change | 30 3132 3334 3536 3738 393a
        command | LE Set Periodic Advertising Parameters [v1] | 21 2223 2425 2627
        command | LE Set Periodic Advertising Data | 21 03 03232425
        command | LE Set Periodic Advertising Enable | 03 25
        command | LE Periodic Advertising Create Sync | 05 22 01 303132333435 2526 2728 1f
        command | LE Periodic Advertising Terminate Sync | 2223
        command | LE Set Periodic Advertising Receive Enable | 2223 03
        command | LE Periodic Advertising Sync Transfer | 2223 2425 2627
        command | LE Periodic Advertising Set Info Transfer | 2223 2425 26
        command | LE Set Periodic Advertising Sync Transfer Parameters | 2223 02 2425 2627 11
        command | LE Set Default Periodic Advertising Sync Transfer Parameters | 02 2425 2627 11
        event | LE Periodic Advertising Sync Established [v1] | 3e 292a 2b 01 303132333435 02 2c2d 05
        event | LE Periodic Advertising Report [v1] | 292a 2b d4 ff 02 0401020304
        event | LE Periodic Advertising Sync Lost | 292a
        event | LE Periodic Advertising Sync Transfer Received [v1] | 3e 292a 3031 3233 2b 01 303132333435 02 2c2d 05
        event | LE Periodic Advertising Sync Established [v2] | 3e 3031 32 01 333435363738 02 393a 3b 3c 3d 3e 3f
        event | LE Periodic Advertising Report [v2] | 3031 ce cd 02 3435 36 01 043738393a
        event | LE Periodic Advertising Sync Transfer Received [v2] | 3e 3031 3233 3435 36 01 3738393a3b3c 02 3d3e 3f 40 41 42 43
        response | LE CS Read Local Supported Capabilities | 00 21 2223 24 25 26 27 28 29 2a 2b 2c2d 2e2f 30 3132 3334 3536 3738 393a 3b 3c
        command | LE CS Read Remote Supported Capabilities | 2122
        command | LE CS Write Cached Remote Supported Capabilities | 2122 23 2425 26 27 28 29 2a 2b 2c 2d 2e2f 3031 32 3334 3536 3738 393a 3b3c 3d 3e
        command | LE CS Security Enable | 2122
        command | LE CS Set Default Settings | 2122 23 24 25
        command | LE CS Read Remote FAE Table | 2122
        command | LE CS Write Cached Remote FAE Table | 2122 232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f606162636465666768696a
        command | LE CS Create Config | 2122 23 01 24 25 26 27 28 29 2a 2b 2c 2d2e2f30313233343536 37 38 39 3a 3b
        command | LE CS Remove Config | 2122 23
        command | LE CS Set Channel Classification | 2122232425262728292a
        command | LE CS Set Procedure Parameters | 2122 23 2425 2627 2829 2a2b 2c2d2e 2f3031 32 33 34 35 36 37
        command | LE CS Procedure Enable | 2122 23 01
        response | LE CS Write Cached Remote Supported Capabilities | 00 2122
        response | LE CS Set Default Settings | 00 2122
        response | LE CS Write Cached Remote FAE Table | 00 2122
        response | LE CS Set Procedure Parameters | 00 2122
        event | LE CS Read Remote Supported Capabilities Complete | 00 2122 23 2425 26 27 28 29 2a 2b 2c 2d 2e2f 3031 32 3334 3536 3738 393a 3b3c 3d 3e
        event | LE CS Read Remote FAE Table Complete | 00 2122 232425262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f404142434445464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f606162636465666768696a
        event | LE CS Security Enable Complete | 00 2122
        event | LE CS Config Complete | 00 2122 23 01 24 25 26 27 28 29 2a 2b 2c 2d2e2f30313233343536 37 38 39 3a 3b 3c 3d 3e 3f
        event | LE CS Procedure Enable Complete | 00 2122 23 01 24 25 262728 29 2a2b 2c2d 2e2f 3031 3233
        event | LE CS Subevent Result | 2122 23 2425 2627 2829 2a 2b 2c 2d 2e 01 2f 30 03313233
        event | LE CS Subevent Result Continue | 2122 23 24 25 26 27 01 28 29 032a2b2c
        """

    /// Packets that Bumble does not encode: the same, with the widths and the order of the fields taken from
    /// rootcanal's `hci_packets.pdl`.
    static let rootcanal = """
        command | Read Transmit Power Level | 292a 2b
        response | Read Transmit Power Level | 00 2a2b 2c
        command | Host Number Of Completed Packets | 02 3031 3233 3435 3637
        command | LE Set Host Channel Classification | 3233343536
        response | LE Read Channel Map | 00 2425 262728292a
        command | LE Encrypt | 1a1b1c1d1e1f20212223242526272829 2a2b2c2d2e2f30313233343536373839
        response | LE Encrypt | 00 1b1c1d1e1f202122232425262728292a
        command | LE Set Extended Advertising Parameters [v2] | 3b 3c3d 3e3f40 414243 44 45 46 4748494a4b4c 4d 4e 4f 50 51 52 01 54 55
        response | LE Set Extended Advertising Parameters [v2] | 00 3c
        command | LE Remove Device From Resolving List | 34 35363738393a
        command | LE Read Peer Resolvable Address | 2f 303132333435
        response | LE Read Peer Resolvable Address | 00 303132333435
        command | LE Read Local Resolvable Address | 30 313233343536
        response | LE Read Local Resolvable Address | 00 313233343536
        command | LE Set Data Related Address Changes | 33 34
        command | LE Generate DHKey [v1] | 262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f404142434445 464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f606162636465
        command | LE Generate DHKey [v2] | 262728292a2b2c2d2e2f303132333435363738393a3b3c3d3e3f404142434445 464748494a4b4c4d4e4f505152535455565758595a5b5c5d5e5f606162636465 66
        response | LE Read RF Path Compensation | 00 2d2e 2f30
        command | LE Write RF Path Compensation | 2d2e 2f30
        command | LE Request Peer SCA | 2324
        event | LE Request Peer SCA Complete | 2c 2d2e 2f
        event | Hardware Error | 1e
        event | Data Buffer Overflow | 24
        event | LE Scan Request Received | 28 29 2a2b2c2d2e2f
        event | LE Directed Advertising Report | 02 2e 2f 303132333435 36 3738393a3b3c 3d 3e 3f 404142434445 46 4748494a4b4c 4d
        event | LE Read Local P-256 Public Key Complete | 37 38393a3b3c3d3e3f404142434445464748494a4b4c4d4e4f5051525354555657 58595a5b5c5d5e5f606162636465666768696a6b6c6d6e6f7071727374757677
        event | LE Generate DHKey Complete | 2a 2b2c2d2e2f303132333435363738393a3b3c3d3e3f404142434445464748494a
        event | Authenticated Payload Timeout Expired | 3536
        command | LE Extended Create Connection [v2] | 13 14 15 16 17 18191a1b1c1d 06 1e1f 2021 2223 2425 2627 2829 2a2b 2c2d 2e2f 3031 3233 3435 3637 3839 3a3b 3c3d
        """

    /// Packets that neither describes as the specification does (Core Vol 4 Part E 7.3.93, 7.3.94, 7.8.20), by the
    /// structures of Zephyr's `hci_types.h` and of NimBLE's `hci_common.h`. The same goes for the packets of periodic
    /// advertising with responses (7.8.61, 7.8.125 to 7.8.127, 7.7.65.36, 7.7.65.37).
    static let zephyr = """
        command | Read Authenticated Payload Timeout | 2122
        response | Read Authenticated Payload Timeout | 00 2324 2526
        response | Write Authenticated Payload Timeout | 00 2728
        command | LE Read Channel Map | 292a
        command | LE Add Device To Periodic Advertiser List | 01 313233343536 07
        command | LE Remove Device From Periodic Advertiser List | 00 313233343536 0f
        response | LE Read Periodic Advertiser List Size | 00 10
        response | LE Periodic Advertising Sync Transfer | 00 2425
        response | LE Periodic Advertising Set Info Transfer | 00 2627
        response | LE Set Periodic Advertising Sync Transfer Parameters | 00 2829
        command | LE Set Periodic Advertising Parameters [v2] | 21 2223 2425 2627 28 29 2a 2b 2c
        response | LE Set Periodic Advertising Parameters [v2] | 00 21
        command | LE Set Periodic Advertising Subevent Data | 21 02 22 23 24 03252627 28 29 2a 012c
        response | LE Set Periodic Advertising Subevent Data | 00 21
        command | LE Set Periodic Advertising Response Data | 2122 2324 25 26 27 0328292a
        response | LE Set Periodic Advertising Response Data | 00 2122
        command | LE Set Periodic Sync Subevent | 2122 2324 03252627
        response | LE Set Periodic Sync Subevent | 00 2122
        event | LE Periodic Advertising Subevent Data Request | 21 22 23
        event | LE Periodic Advertising Response Report | 21 22 01 02 23 24 25 26 27 022829 2a 2b 2c 2d 2e 012f
        command | LE Set Resolvable Private Address Timeout [v2] | 2b2c 2d2e
        response | LE Read All Local Supported Features | 00 01 05080b0e1114171a1d202326292c2f3235383b3e4144474a4d505356595c5f6265686b6e7174777a7d808386898c8f9295989b9ea1a4a7aaadb0b3b6b9bcbfc2c5c8cbced1d4d7dadde0e3e6e9eceff2f5f8fbfe0104070a0d101316191c1f2225282b2e3134373a3d404346494c4f5255585b5e6164676a6d707376797c7f8285888b8e9194979a9da0a3a6a9acafb2b5b8bbbec1c4c7cacdd0d3d6d9dcdfe2e5e8ebeef1f4f7fafd000306090c0f1215181b1e2124272a2d303336393c3f4245484b4e5154575a5d606366696c6f7275787b7e8184878a8d909396999c9fa2a5a8abaeb1b4b7babdc0c3c6c9cccfd2d5d8dbdee1e4e7ea
        """

    /// Each command with its opcode in hexadecimal and its place among the supported commands, as octet times ten plus
    /// bit, by rootcanal's enumerations `OpCode` and `OpCodeIndex`; those of Channel Sounding by Bumble's `hci.py`.
    static let commands = """
        Disconnect | 0406 | 5
        Read Remote Version Information | 041d | 27
        Set Event Mask | 0c01 | 56
        Reset | 0c03 | 57
        Read Transmit Power Level | 0c2d | 102
        Set Controller To Host Flow Control | 0c31 | 105
        Host Buffer Size | 0c33 | 106
        Host Number Of Completed Packets | 0c35 | 107
        Set Event Mask Page 2 | 0c63 | 222
        Write LE Host Support | 0c6d | 246
        Read Authenticated Payload Timeout | 0c7b | 324
        Write Authenticated Payload Timeout | 0c7c | 325
        Read Local Version Information | 1001 | 143
        Read Local Supported Features | 1003 | 145
        Read Buffer Size | 1005 | 147
        Read BD_ADDR | 1009 | 151
        Read RSSI | 1405 | 155
        LE Set Event Mask | 2001 | 250
        LE Read Buffer Size | 2002 | 251
        LE Read Local Supported Features Page 0 | 2003 | 252
        LE Set Random Address | 2005 | 254
        LE Set Advertising Parameters | 2006 | 255
        LE Read Advertising Physical Channel Tx Power | 2007 | 256
        LE Set Advertising Data | 2008 | 257
        LE Set Scan Response Data | 2009 | 260
        LE Set Advertising Enable | 200a | 261
        LE Set Scan Parameters | 200b | 262
        LE Set Scan Enable | 200c | 263
        LE Create Connection | 200d | 264
        LE Create Connection Cancel | 200e | 265
        LE Read Filter Accept List Size | 200f | 266
        LE Clear Filter Accept List | 2010 | 267
        LE Add Device To Filter Accept List | 2011 | 270
        LE Remove Device From Filter Accept List | 2012 | 271
        LE Connection Update | 2013 | 272
        LE Set Host Channel Classification | 2014 | 273
        LE Read Channel Map | 2015 | 274
        LE Read Remote Features Page 0 | 2016 | 275
        LE Encrypt | 2017 | 276
        LE Rand | 2018 | 277
        LE Enable Encryption | 2019 | 280
        LE Long Term Key Request Reply | 201a | 281
        LE Long Term Key Request Negative Reply | 201b | 282
        LE Read Supported States | 201c | 283
        LE Remote Connection Parameter Request Reply | 2020 | 334
        LE Remote Connection Parameter Request Negative Reply | 2021 | 335
        LE Set Data Length | 2022 | 336
        LE Read Suggested Default Data Length | 2023 | 337
        LE Write Suggested Default Data Length | 2024 | 340
        LE Read Local P-256 Public Key | 2025 | 341
        LE Generate DHKey [v1] | 2026 | 342
        LE Add Device To Resolving List | 2027 | 343
        LE Remove Device From Resolving List | 2028 | 344
        LE Clear Resolving List | 2029 | 345
        LE Read Resolving List Size | 202a | 346
        LE Read Peer Resolvable Address | 202b | 347
        LE Read Local Resolvable Address | 202c | 350
        LE Set Address Resolution Enable | 202d | 351
        LE Set Resolvable Private Address Timeout | 202e | 352
        LE Read Maximum Data Length | 202f | 353
        LE Read PHY | 2030 | 354
        LE Set Default PHY | 2031 | 355
        LE Set PHY | 2032 | 356
        LE Set Advertising Set Random Address | 2035 | 361
        LE Set Extended Advertising Parameters [v1] | 2036 | 362
        LE Set Extended Advertising Data | 2037 | 363
        LE Set Extended Scan Response Data | 2038 | 364
        LE Set Extended Advertising Enable | 2039 | 365
        LE Read Maximum Advertising Data Length | 203a | 366
        LE Read Number of Supported Advertising Sets | 203b | 367
        LE Remove Advertising Set | 203c | 370
        LE Clear Advertising Sets | 203d | 371
        LE Set Extended Scan Parameters | 2041 | 375
        LE Set Extended Scan Enable | 2042 | 376
        LE Extended Create Connection [v1] | 2043 | 377
        LE Read Transmit Power | 204b | 387
        LE Read RF Path Compensation | 204c | 390
        LE Write RF Path Compensation | 204d | 391
        LE Set Privacy Mode | 204e | 392
        LE Generate DHKey [v2] | 205e | 412
        LE Read Buffer Size [v2] | 2060 | 415
        LE Request Peer SCA | 206d | 432
        LE Set Host Feature [v1] | 2074 | 441
        LE Set Data Related Address Changes | 207c | 456
        LE Set Extended Advertising Parameters [v2] | 207f | 462
        LE Extended Create Connection [v2] | 2085 | 470
        LE Set Periodic Advertising Parameters [v1] | 203e | 372
        LE Set Periodic Advertising Parameters [v2] | 2086 | 471
        LE Set Periodic Advertising Subevent Data | 2082 | 465
        LE Set Periodic Advertising Response Data | 2083 | 466
        LE Set Periodic Sync Subevent | 2084 | 467
        LE Set Periodic Advertising Data | 203f | 373
        LE Set Periodic Advertising Enable | 2040 | 374
        LE Periodic Advertising Create Sync | 2044 | 380
        LE Periodic Advertising Create Sync Cancel | 2045 | 381
        LE Periodic Advertising Terminate Sync | 2046 | 382
        LE Add Device To Periodic Advertiser List | 2047 | 383
        LE Remove Device From Periodic Advertiser List | 2048 | 384
        LE Clear Periodic Advertiser List | 2049 | 385
        LE Read Periodic Advertiser List Size | 204a | 386
        LE Set Periodic Advertising Receive Enable | 2059 | 405
        LE Periodic Advertising Sync Transfer | 205a | 406
        LE Periodic Advertising Set Info Transfer | 205b | 407
        LE Set Periodic Advertising Sync Transfer Parameters | 205c | 410
        LE Set Default Periodic Advertising Sync Transfer Parameters | 205d | 411
        LE Set Default Subrate | 207d | 460
        LE Subrate Request | 207e | 461
        LE Read All Local Supported Features | 2087 | 472
        LE Set Resolvable Private Address Timeout [v2] | 209e | 482
        LE CS Read Local Supported Capabilities | 2089 | 205
        LE CS Read Remote Supported Capabilities | 208a | 206
        LE CS Write Cached Remote Supported Capabilities | 208b | 207
        LE CS Security Enable | 208c | 241
        LE CS Set Default Settings | 208d | 247
        LE CS Read Remote FAE Table | 208e | 122
        LE CS Write Cached Remote FAE Table | 208f | 123
        LE CS Create Config | 2090 | 166
        LE CS Remove Config | 2091 | 167
        LE CS Set Channel Classification | 2092 | 290
        LE CS Set Procedure Parameters | 2093 | 291
        LE CS Procedure Enable | 2094 | 292
        """
}
