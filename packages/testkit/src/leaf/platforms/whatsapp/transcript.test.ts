/**
 * The stub leans on the library that it tests: a change of its encodings would change both sides alike. `transcript.json` is what
 * baileys 7.0.0-rc14 and this stub said to each other once, byte for byte: a pairing by QR, then a login, a message and its answer,
 * with the keys of both. It is never recorded anew. The stub must still say and read the same bytes.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { BufferJSON, decodeBinaryNode, encodeBinaryNode, proto } from 'baileys';
import type { BinaryNode } from 'baileys';
import { keyPairOf } from './curve.ts';
import { Responder } from './noise.ts';
import { Person } from './person.ts';
import { bytesOf, childOf, childrenOf } from './nodes.ts';

interface Transcript {
  readonly root: string;
  readonly links: readonly {
    readonly static: string;
    readonly ephemeral: string;
    readonly chain: string;
    readonly frames: readonly {
      readonly from: 'client' | 'server';
      readonly bytes: string;
      readonly stanza?: unknown;
    }[];
  }[];
  readonly ann: { readonly creds: unknown; readonly keys: unknown };
}

const transcript = JSON.parse(readFileSync(new URL('transcript.json', import.meta.url), 'utf8')) as Transcript;
const bytes = (text: string): Buffer => Buffer.from(text, 'base64');
const revived = (value: unknown): any => JSON.parse(JSON.stringify(value), BufferJSON.reviver);
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value, BufferJSON.replacer));

describe('what was said once', () => {
  for (const [at, name] of ['a pairing', 'a login, a message and its answer'].entries()) {
    test(`${name} has the same bytes today`, async () => {
      const { frames, ...keys } = transcript.links[at]!;
      const responder = new Responder({
        static: keyPairOf(bytes(keys.static)),
        ephemeral: keyPairOf(bytes(keys.ephemeral)),
        chain: bytes(keys.chain),
      });
      const [first, second, third, ...rest] = frames;
      const { clientHello } = proto.HandshakeMessage.decode(bytes(first!.bytes));
      const serverHello = responder.hello(clientHello!.ephemeral!);
      const hello = Buffer.from(proto.HandshakeMessage.encode({ serverHello }).finish());
      assert.equal(hello.toString('base64'), second!.bytes);
      const { clientFinish } = proto.HandshakeMessage.decode(bytes(third!.bytes));
      const { payload, transport } = responder.finish(clientFinish!.static!, clientFinish!.payload!);
      const said = proto.ClientPayload.decode(payload);
      if (at === 0) assert.equal(said.devicePairingData?.eIdent?.length, 32);
      else assert.deepEqual([String(said.username), said.device], ['15551234567', 5]);
      for (const frame of rest) {
        if (frame.from === 'server') {
          const sealed = transport.seal(encodeBinaryNode(revived(frame.stanza) as BinaryNode));
          assert.equal(sealed.toString('base64'), frame.bytes);
        } else assert.deepEqual(plain(await decodeBinaryNode(transport.open(bytes(frame.bytes)))), frame.stanza);
      }
    });
  }

  test("a phone with the keys of that time still reads the agent's answer", async () => {
    const ann = new Person('15557654321', 'Ann', {
      creds: revived(transcript.ann.creds),
      keys: revived(transcript.ann.keys),
    });
    const answer = transcript.links[1]!.frames.filter(({ from, stanza }) => from === 'client' && stanza !== undefined)
      .map(({ stanza }) => revived(stanza) as BinaryNode)
      .find((stanza) => stanza.tag === 'message')!;
    const sealed = childrenOf(childOf(answer, 'participants'), 'to')
      .filter(({ attrs }) => attrs['jid']!.startsWith('15557654321') || attrs['jid']!.startsWith('915557654321'))
      .map((to) => childOf(to, 'enc')!)[0]!;
    const message = await ann.open('15551234567:5@s.whatsapp.net', sealed.attrs['type']!, bytesOf(sealed));
    assert.equal(message.extendedTextMessage?.text, 'hello from the agent');
  });
});
