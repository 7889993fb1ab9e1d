import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { Curve, proto } from 'baileys';
import { isSigned, isTrustedServer, whatsAppRoot } from './certificate.ts';

/** Recorded once: the server's part of a handshake, with the client's key. */
const transcript = JSON.parse(
  readFileSync(new URL('../../../../testkit/src/leaf/platforms/whatsapp/transcript.json', import.meta.url), 'utf8'),
) as { root: string; links: { clientEphemeral: string; frames: { bytes: string }[] }[] };
const bytes = (text: string): Buffer => Buffer.from(text, 'base64');
const [link] = transcript.links;
const { serverHello } = proto.HandshakeMessage.decode(bytes(link!.frames[1]!.bytes));
const clientHello = proto.HandshakeMessage.decode(bytes(link!.frames[0]!.bytes)).clientHello!;
const ephemeral = { public: clientHello.ephemeral!, private: bytes(link!.clientEphemeral) };
const root = bytes(transcript.root);

describe("the server's certificates", () => {
  test('a recorded handshake is trusted by its root alone', () => {
    assert.equal(isTrustedServer(serverHello, { ephemeral, root }), true);
    assert.equal(isTrustedServer(serverHello, { ephemeral, root: whatsAppRoot }), false);
    assert.equal(isTrustedServer(null, { ephemeral, root }), false);
  });

  test('no byte of the answer can be another', () => {
    for (const part of ['ephemeral', 'static', 'payload'] as const) {
      const whole = Buffer.from(serverHello![part]!);
      for (let at = 0; at < whole.length; at += 7) {
        const other = Buffer.from(whole);
        other[at]! ^= 1;
        let isTrusted = false;
        try {
          isTrusted = isTrustedServer({ ...serverHello, [part]: other }, { ephemeral, root });
        } catch {
          continue;
        }
        assert.equal(isTrusted, false, `${part} ${at}`);
      }
    }
  });

  test('signatures are told from what is none, where the library takes everything', () => {
    for (let tries = 0; tries < 8; tries += 1) {
      const pair = Curve.generateKeyPair();
      const message = Buffer.from(`message ${tries}`);
      const signature = Curve.sign(pair.private, message);
      assert.equal(isSigned(pair.public, message, signature), true);
      assert.equal(isSigned(pair.public, Buffer.from('another'), signature), false);
      assert.equal(isSigned(Curve.generateKeyPair().public, message, signature), false);
      for (const at of [0, 31, 32, 63]) {
        const other = Buffer.from(signature);
        other[at]! ^= at === 63 ? 0x80 : 1;
        assert.equal(isSigned(pair.public, message, other), false, `byte ${at}`);
      }
    }
    assert.equal(isSigned(Buffer.alloc(32), Buffer.from('x'), Buffer.alloc(64)), false);
    assert.equal(isSigned(Buffer.alloc(31), Buffer.from('x'), Buffer.alloc(64)), false);
  });
});
