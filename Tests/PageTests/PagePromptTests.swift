import Foundation
import ServiceMessages
import Testing

@testable import Page

/// The fields of a prompt for the page's script, and the texts that it shows.
@Suite struct PagePromptTests {
    private func shown(_ kind: PairingQuestion.Kind, _ origin: PairingQuestion.Origin) throws -> [String: String] {
        var question = PairingQuestion(kind, peerName: "Sensor", peerAddress: "C0:FF:EE:00:00:01")
        question.origin = origin
        let octets = try JSONEncoder().encode(PagePrompt(1, .pairing(question)))
        let object = try #require(try JSONSerialization.jsonObject(with: octets) as? [String: Any])
        return object.compactMapValues { $0 as? String }
    }

    @Test("AB-S16: the page is told which apps need a pairing, and nothing if the device began")
    func theSideThatBegan() throws {
        let app = AppIdentity(name: "com.example.Heart", owner: 1_000)
        for kind in PairingQuestion.Kind.kinds {
            #expect(try shown(kind, .peer)["asking"] == nil)
            #expect(try shown(kind, .apps([]))["asking"] == "an app here asks")
            #expect(try shown(kind, .apps([app]))["asking"] == "\"com.example.Heart\" of user 1000 asks")
        }
    }

    @Test("AB-S16, AB-S17: the script has a text of its own for each kind of prompt, below the side that began")
    func textsOfTheScript() throws {
        let script = String(decoding: try #require(PageFiles.file(at: "/prompts.js")).octets, as: UTF8.self)
        #expect(script.contains("prompt.asking ? `Pair with ${who}, as ${prompt.asking}` : `${who} wants to pair`"))
        var texts: Set<Substring> = []
        for kind in PairingQuestion.Kind.kinds {
            let name = try #require(try shown(kind, .peer)["kind"])
            let text = try #require(
                script.firstRange(of: "      \(name): [origin, \"").map { script[$0.upperBound...] }
            )
            texts.insert(text.prefix { $0 != "\"" })
        }
        #expect(texts.count == PairingQuestion.Kind.kinds.count)
    }

    @Test("behaviours 16.3, 16.5: the page shows a view of AccessorySetupKit with its offers, and answers it")
    func accessories() throws {
        let (app, belt) = (AppQuestion(AppIdentity(name: "com.example.belts"), displayName: "Belts"), UUID())
        let script = String(decoding: try #require(PageFiles.file(at: "/prompts.js")).octets, as: UTF8.self)
        for kind in AccessoryQuestion.Kind.kinds {
            let offer = AccessoryQuestion.Offer(belt, name: "Heart belt", image: "belt", advertisedName: "Belt 1")
            let prompt = PagePrompt(3, .accessory(AccessoryQuestion(kind, of: app, [offer])))
            let object = try #require(
                try JSONSerialization.jsonObject(with: JSONEncoder().encode(prompt)) as? [String: Any]
            )
            let name = try #require(object["kind"] as? String)
            #expect(script.contains("      \(name): [`"), "\(name)")
            #expect(object["displayName"] as? String == "Belts")
            let offers = try #require(object["offers"] as? [[String: Any]])
            #expect(offers.first?["identifier"] as? String == belt.uuidString)
            #expect(offers.first?["image"] as? String == "belt")
            #expect(offers.first?["advertisedName"] as? String == "Belt 1")
        }
        for (json, answer) in [
            (#""answer": "choose", "peer": "\#(belt)""#, PersonAnswer.choose(belt)),
            (#""answer": "name", "name": "Left belt""#, .name("Left belt")), (#""answer": "refuse""#, .refuse),
        ] {
            let text = #"{"verb": "answer", "number": 3, \#(json)}"#
            let message = try JSONDecoder().decode(PageMessage.self, from: Data(text.utf8))
            #expect(message.personAnswer?.answer == answer)
        }
    }
}
