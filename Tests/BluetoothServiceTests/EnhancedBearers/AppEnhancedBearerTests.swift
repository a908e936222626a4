import ATT
import BluetoothTypes
import EventLoops
import Foundation
import GAP
import GATT
import SampleMessages
import ServiceMessages
import Testing

@testable import BluetoothService
@testable import L2CAP

/// Systems use enhanced bearers where both support them. Apps notice only the speed.
@Suite struct AppEnhancedBearerTests {
    // MARK: Establishment

    @Test("GATT/CL/GAS/BV-04: two systems have enhanced bearers once the link is encrypted, and not before")
    func withEncryptionThereAreEnhancedBearers() throws {
        let bench = try EnhancedBearerBench()
        try bench.open()
        bench.world.run(.seconds(2))
        #expect(bench.bearers == [1, 1])
        #expect(bench.sensor.links.all.first?.served?.features.contains(.enhancedBearers) == true)
        try bench.encrypt()
        #expect(bench.bearers == [4, 4])
    }

    @Test("two systems use no enhanced bearers if one lacks them", arguments: [(false, true), (true, false)])
    func oneWithoutEnhancedBearers(phoneHas: Bool, sensorHas: Bool) throws {
        let bench = try EnhancedBearerBench(phoneHas: phoneHas, sensorHas: sensorHas).encrypted()
        #expect(bench.bearers == [1, 1])
        #expect(bench.sensor.links.all.first?.served?.features.contains(.enhancedBearers) == false)
        bench.read(EnhancedBearerBench.books[3])
        #expect(try bench.nextValue() == .init(EnhancedBearerBench.books[3], [3]))
    }

    @Test("a peer that does not announce enhanced bearers is not asked for any, even if it would accept")
    func enhancedBearersRequireAnAnnouncement() throws {
        let bench = try EnhancedBearerBench(sensorHas: false)
        let server = try bench.sensor.channels.listen(
            on: .enhancedAttribute,
            parameters: EnhancedBearers.parameters,
            requirement: .none
        )
        server.rules.isEnhancedOnly = true
        var opened = 0
        server.onOpen = { _ in opened += 1 }
        try bench.open()
        try bench.encrypt()
        bench.world.run(.seconds(5))
        #expect(opened == 0)
        #expect(bench.bearers == [1, 1])
    }

    @Test("AB-G05: an app cannot unpublish ATT's PSM")
    func anAppDoesNotEndTheListeningForBearers() throws {
        let bench = try EnhancedBearerBench()
        let refusal = try bench.librarian.ask(.peripheral(.unpublishChannel(psm: 0x27)), "unpublished") { event in
            if case .peripheral(.channelUnpublished(psm: 0x27, let error)) = event { error } else { nil }
        }
        #expect(refusal.code == .core(.invalidParameters))
        try bench.open()
        try bench.encrypt()
        #expect(bench.bearers == [4, 4])
    }

    @Test("the link of a bonded peer gets enhanced bearers again automatically")
    func aBondedLinkHasThemAgain() throws {
        let bench = try EnhancedBearerBench().encrypted()
        bench.app.send(.cancelConnection(peer: bench.peer))
        _ = try bench.app.expect("disconnected", \.disconnection)
        bench.world.run(.seconds(1))
        #expect(bench.sensor.links.all.isEmpty)
        try bench.connect()
        bench.world.run(.seconds(1))
        #expect(bench.bearers == [4, 4])
    }

    @Test("a peer that refuses enhanced bearers after announcing them is served on the fixed channel")
    func aPeerThatRefusesIsServedOnTheFixedChannel() throws {
        let bench = try EnhancedBearerBench()
        try bench.open()
        bench.sensor.links.all.first?.link.attributes?.enhanced?.close()
        try bench.encrypt()
        #expect(bench.bearers == [1, 1])
        for book in EnhancedBearerBench.books { bench.read(book) }
        for (index, book) in EnhancedBearerBench.books.enumerated() {
            #expect(try bench.nextValue() == .init(book, [UInt8(index)]))
        }
    }

    @Test(
        "a lost link ends its enhanced bearers at once: no request is repeated, and no further ones are opened"
    )
    func theEndOfTheLinkIsTheEndOfItsBearers() throws {
        let bench = try EnhancedBearerBench().encrypted()
        let link = try #require(bench.phone.links.all.first?.link)
        let enhanced = try #require(link.attributes?.enhanced)
        // The closure runs when a bearer closes while the link stays up.
        var lost = 0
        let original = enhanced.onClose
        enhanced.onClose = {
            lost += 1
            original?($0, $1)
        }
        bench.read(EnhancedBearerBench.desk)
        bench.read(EnhancedBearerBench.bell)
        bench.world.run(.seconds(1))
        bench.app.send(.cancelConnection(peer: bench.peer))
        _ = try bench.app.expect("disconnected", \.disconnection)
        bench.world.run(.seconds(1))
        #expect(!link.isOpen)
        #expect(lost == 0)
        #expect(enhanced.bearers.isEmpty)
        var outcomes: [ChannelOpenError?] = []
        enhanced.open(1) { outcomes.append($0) }
        #expect(outcomes == [.closed])
    }

    @Test("L2CAP/TIM/BV-03: two systems that open enhanced bearers at the same time have a single set")
    func bothOpenAtOnce() throws {
        let bench = try EnhancedBearerBench()
        try bench.open()
        bench.sensor.links.all.first?.link.attributes?.wantEnhancedBearers()
        try bench.encrypt()
        bench.world.run(.seconds(1))
        #expect(bench.bearers[0] == bench.bearers[1] && (4...6).contains(bench.bearers[0]))
        for book in EnhancedBearerBench.books { bench.read(book) }
        for (index, book) in EnhancedBearerBench.books.enumerated() {
            #expect(try bench.nextValue() == .init(book, [UInt8(index)]))
        }
    }

    // MARK: Effects on apps

    /// The time that the app waits for eight values, which arrive in the order of the requests.
    private func timeForAllBooks(_ bench: EnhancedBearerBench) throws -> Duration {
        let start = bench.world.loop.now
        for book in EnhancedBearerBench.books { bench.read(book) }
        for (index, book) in EnhancedBearerBench.books.enumerated() {
            #expect(try bench.nextValue() == .init(book, [UInt8(index)]))
        }
        return bench.world.loop.now - start
    }

    @Test func readsAreFasterAndToldInTheOrderOfAsking() throws {
        let (plain, enhanced) = (try EnhancedBearerBench(sensorHas: false), try EnhancedBearerBench())
        var times: [Duration] = []
        for bench in [plain, enhanced] {
            try bench.open()
            try bench.encrypt()
            times.append(try timeForAllBooks(bench))
        }
        #expect(times[1] * 2 < times[0], "\(times)")
    }

    @Test func airThatLosesChangesNothingOfTheOrder() throws {
        let bench = try EnhancedBearerBench(lossRate: 0.2).encrypted()
        for _ in 0..<5 { _ = try timeForAllBooks(bench) }
    }

    @Test("behaviour 7.33: an app gets one request of a central at a time, whatever the number of bearers")
    func anAppIsAskedOnceAtATime() throws {
        let bench = try EnhancedBearerBench().encrypted()
        bench.read(EnhancedBearerBench.desk)
        bench.read(EnhancedBearerBench.secret)
        bench.world.run(.seconds(2))
        #expect(bench.questions(bench.librarian) == 1)
        try bench.answer(bench.librarian, [1])
        try bench.answer(bench.librarian, [2])
        #expect(try bench.nextValue() == .init(EnhancedBearerBench.desk, [1]))
        #expect(try bench.nextValue() == .init(EnhancedBearerBench.secret, [2]))
    }

    @Test("behaviour 5.22: responses arrive in the order of the requests, even if an earlier one takes long")
    func answersComeInTheOrderOfAsking() throws {
        let bench = try EnhancedBearerBench().encrypted()
        bench.read(EnhancedBearerBench.desk)
        bench.read(EnhancedBearerBench.books[0])
        bench.world.run(.seconds(2))
        #expect(bench.values().isEmpty)
        try bench.answer(bench.librarian, [1])
        #expect(try bench.nextValue() == .init(EnhancedBearerBench.desk, [1]))
        #expect(try bench.nextValue() == .init(EnhancedBearerBench.books[0], [0]))
    }

    @Test func notificationsFollowEarlierReadResponses() throws {
        let bench = try EnhancedBearerBench().encrypted()
        let bell = try #require(bench.handles[EnhancedBearerBench.bell])
        let request = Request.setNotify(peer: bench.peer, characteristic: bell, enabled: true)
        _ = try bench.app.ask(request, "subscribed", \.notifyState)
        bench.read(EnhancedBearerBench.desk)
        bench.read(EnhancedBearerBench.bell)
        try bench.answer(bench.ringer, [1])
        bench.ringer.send(.updateValue(characteristic: EnhancedBearerBench.bellID, value: [2], centrals: nil))
        bench.world.run(.seconds(1))
        // The read of the desk is still pending; notifications of the bell arrive in the order sent.
        #expect(bench.values() == [.init(EnhancedBearerBench.bell, [1]), .init(EnhancedBearerBench.bell, [2])])
        try bench.answer(bench.librarian, [3])
        bench.world.run(.seconds(1))
        #expect(bench.values() == [.init(EnhancedBearerBench.desk, [3])])
    }

    @Test func aWriteGoesBesideNothing() throws {
        let bench = try EnhancedBearerBench().encrypted()
        bench.read(EnhancedBearerBench.bell)
        bench.write(EnhancedBearerBench.desk, [1])
        bench.write(EnhancedBearerBench.desk, [2])
        bench.read(EnhancedBearerBench.books[0])
        bench.world.run(.seconds(2))
        #expect(bench.questions(bench.librarian) == 0)
        try bench.answer(bench.ringer, [7])
        for value in [1, 2] as [UInt8] {
            let request = try bench.librarian.expect("writeRequested", \.writeRequest)
            #expect(request.writes.map(\.value) == [[value]])
            bench.world.run(.seconds(1))
            #expect(bench.questions(bench.librarian) == 0)
            #expect(bench.values().allSatisfy { $0.uuid == EnhancedBearerBench.bell })
            bench.librarian.send(.respond(transaction: request.transaction, status: .success, value: nil))
        }
        #expect(try bench.nextValue() == .init(EnhancedBearerBench.books[0], [0]))
    }

    @Test("a read on a bearer that the peer closes is completed on the remaining one")
    func aBearerThatThePeerCloses() throws {
        let bench = try EnhancedBearerBench().encrypted()
        bench.read(EnhancedBearerBench.desk)
        bench.read(EnhancedBearerBench.bell)
        let first = try bench.ringer.expect("readRequested", \.readRequest)
        for bearer in bench.sensor.links.all.first?.link.attributes?.enhanced?.bearers ?? [] { bearer.close() }
        bench.world.run(.seconds(1))
        #expect(bench.bearers[0] == 1 && bench.values().isEmpty)
        try bench.answer(bench.librarian, [1])
        #expect(try bench.nextValue() == .init(EnhancedBearerBench.desk, [1]))
        // The other app must first answer a request that is no longer pending.
        bench.world.run(.seconds(1))
        #expect(bench.questions(bench.ringer) == 0)
        bench.ringer.send(.respond(transaction: first.transaction, status: .success, value: [2]))
        try bench.answer(bench.ringer, [3])
        #expect(try bench.nextValue() == .init(EnhancedBearerBench.bell, [3]))
    }

    @Test("behaviour 5.23: a time-out of 30 s on an enhanced bearer ends the link, and nothing else is reported")
    func noAnswerOnAnEnhancedBearerEndsTheLink() throws {
        let bench = try EnhancedBearerBench().encrypted()
        bench.read(EnhancedBearerBench.desk)
        bench.read(EnhancedBearerBench.bell)
        try bench.answer(bench.librarian, [1])
        #expect(try bench.nextValue() == .init(EnhancedBearerBench.desk, [1]))
        let end = try bench.app.expect("disconnected") { event in
            #expect(answersNothing(event))
            return event.disconnection
        }
        #expect(end.error?.code == .core(.connectionTimeout))
    }

    private func answersNothing(_ event: Event) -> Bool {
        if case .central(.peer(_, .valueRead)) = event { false } else { true }
    }

    @Test("a bonded subscriber that is unaware of a change gets values on several bearers too")
    func changesOfTheTableDoNotHoldValuesBack() throws {
        let bench = try EnhancedBearerBench().encrypted()
        // On the second link the phone announces that it supports robust caching.
        bench.app.send(.cancelConnection(peer: bench.peer))
        _ = try bench.app.expect("disconnected", \.disconnection)
        try bench.connect()
        bench.world.run(.seconds(1))
        #expect(bench.bearers == [4, 4])
        #expect(bench.sensor.links.all.first?.served?.features.contains(.robustCaching) == true)
        let bell = try #require(bench.handles[EnhancedBearerBench.bell])
        let request = Request.setNotify(peer: bench.peer, characteristic: bell, enabled: true)
        _ = try bench.app.ask(request, "subscribed", \.notifyState)
        let another = LocalService(id: LocalAttributeID(90), uuid: 0xFFF7, isPrimary: true)
        _ = try bench.ringer.ask(.addService(another), "serviceAdded", \.serviceAdded)
        bench.world.run(.seconds(2))
        bench.ringer.send(.updateValue(characteristic: EnhancedBearerBench.bellID, value: [5], centrals: nil))
        #expect(try bench.nextValue() == .init(EnhancedBearerBench.bell, [5]))
    }

    @Test("AB-A06: requests of a central on successive bearers, without waiting for responses, are bounded")
    func questionsOfBearersThatAreGoneAreBounded() throws {
        let bench = try EnhancedBearerBench().encrypted()
        let attributes = try #require(bench.phone.links.all.first?.link.attributes)
        let bell = try #require(bench.handles[EnhancedBearerBench.bell])
        var refused = 0
        for _ in 0..<8 {
            let bearers = attributes.enhanced?.bearers ?? []
            #expect(bearers.count == 3)
            for bearer in bearers {
                bearer.request(.readRequest(ATTReadRequest(handle: bell))) { result, _ in
                    if case .failure(.response(let error)) = result, error.code == .insufficientResources {
                        refused += 1
                    }
                }
            }
            bench.world.run(.milliseconds(300))
            for channel in bench.phone.links.all.first?.link.l2cap.creditBasedChannels ?? [] { channel.disconnect() }
            attributes.wantEnhancedBearers()
            bench.world.run(.milliseconds(500))
        }
        // One request that the app received, and those that are queued.
        #expect(refused == 24 - 1 - CentralRequests.maximumWaiting)
        #expect(bench.questions(bench.ringer) == 1)
    }

    // MARK: Lost links

    @Test(
        "a link may be lost at any step towards enhanced bearers, and the next one has them",
        arguments: [false, true]
    )
    func aLinkMayEndAtAnyStep(isLost: Bool) throws {
        for step in 0..<12 {
            let bench = try EnhancedBearerBench().encrypted()
            bench.app.send(.cancelConnection(peer: bench.peer))
            _ = try bench.app.expect("disconnected", \.disconnection)
            // Activity at that time: first that of the system, then that of the app.
            if step < 9 { try bench.app.connect(bench.peer) } else { try bench.connect() }
            bench.world.run(.milliseconds(step < 9 ? 60 * step : 30 * (step - 9)))
            for book in EnhancedBearerBench.books { bench.read(book) }
            weak let enhanced = bench.phone.links.all.first?.link.attributes?.enhanced
            #expect(enhanced != nil)
            if isLost { bench.sensor.stop() } else { bench.sensor.links.all.first?.disconnect() }
            _ = try bench.app.expect("disconnected", \.disconnection)
            bench.world.run(.milliseconds(1))
            #expect(enhanced == nil, "step \(step)")
            if isLost { bench.sensor.start() }
            bench.world.run(.seconds(1))
            guard !isLost else { continue }
            bench.app.take()
            try bench.connect()
            bench.world.run(.seconds(1))
            #expect(bench.bearers == [4, 4], "step \(step)")
            _ = try timeForAllBooks(bench)
        }
    }
}
