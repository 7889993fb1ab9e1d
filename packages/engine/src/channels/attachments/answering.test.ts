/** Pictures and voice notes from a channel, on a real database and a fake host. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, beforeEach, test } from 'node:test';
import { dialTo, guestClient } from '@lodge/guest';
import { GatewayFailure } from '@lodge/ports';
import type { AgentRuntime, FailureKind, GatewayTurn, InboundFile } from '@lodge/ports';
import { createGuestFiles } from '@lodge/runtimes';
import { FakeHost } from '@lodge/vm/fake';
import { Daemon } from '../../../../../apps/guestd/src/testing.ts';
import { MemoryFiles } from '../../../../testkit/src/plane/channels.ts';
import { FakeGateway } from '../../../../testkit/src/plane/fake-gateway.ts';
import { running, startPlane, World } from '../../../../testkit/src/plane/plane.ts';
import type { Plane } from '../../../../testkit/src/plane/plane.ts';
import { RelayHand } from '../../../../testkit/src/plane/relay-hand.ts';
import { createToyRuntime } from '../../../../testkit/src/plane/toy-runtime/toy-runtime.ts';
import { pictureBounds } from './picture.ts';

/** A gateway that answers, except for turns with pictures while the test makes those fail. */
class PickyGateway extends FakeGateway {
  failure: FailureKind | null = null;

  override async open(turn: GatewayTurn) {
    const answer = await super.open(turn);
    if (this.failure === null || picturesIn(turn).length === 0) return answer;
    throw new GatewayFailure({ kind: this.failure }, new Error('told to refuse pictures'));
  }
}

type Part =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image_url'; readonly image_url: { readonly url: string } };

const contentOf = (turn: GatewayTurn): string | readonly Part[] =>
  (turn.body['messages'] as readonly [{ readonly content: string | readonly Part[] }])[0].content;
function picturesIn(turn: GatewayTurn): readonly string[] {
  const content = contentOf(turn);
  if (typeof content === 'string') return [];
  return content.flatMap((part) => (part.type === 'image_url' ? [part.image_url.url] : []));
}
function factsIn(turn: GatewayTurn): Readonly<Record<string, readonly string[]>> {
  const content = contentOf(turn);
  const [first] = typeof content === 'string' ? [{ type: 'text', text: content } as const] : content;
  assert.equal(first?.type, 'text');
  return JSON.parse(/^\[channel message (.*)\]$/m.exec(first.text)![1]!) as Readonly<Record<string, readonly string[]>>;
}

const toy = createToyRuntime(1);
let takesPictures = true;
const runtime: AgentRuntime = {
  ...toy,
  chatEndpoint: (...asked) => ({ ...toy.chatEndpoint(...asked), takesPictures }),
};
const gateway = new PickyGateway();
const files = new MemoryFiles();
const guest = new Daemon();
const guestFiles = createGuestFiles(() =>
  guestClient({ dial: dialTo('127.0.0.1'), port: guest.port, credential: () => Promise.resolve(null) }),
);
const bounds = { lookEveryMs: 50, leaseMs: 1_500, drainMs: 50, waitsMs: [50] };

const jpeg = (bytes = 100): Buffer => Buffer.concat([Buffer.from('ffd8ffe0', 'hex'), Buffer.alloc(bytes - 4, 'x')]);
const png = Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex');
const dataUrl = (type: string, bytes: Buffer): string => `data:${type};base64,${bytes.toString('base64')}`;

let world: World;
let plane: Plane;
let relay: RelayHand;

before(async () => {
  world = await World.open();
  await guest.prepare();
  await guest.start();
  const runtimes = new Map([['runtime_a', runtime]] as const);
  plane = await startPlane(world, new FakeHost(), { gateway, runtimes, channels: { files, guestFiles, bounds } });
  const { id } = await running(world, plane);
  relay = await RelayHand.of(world.store, world.accountId, id);
});
after(async () => {
  await plane?.end();
  await guest.remove();
  await world?.close();
});
beforeEach(() => {
  gateway.turns.length = 0;
  gateway.steps = [{ text: 'pong' }];
  gateway.failure = null;
  takesPictures = true;
});

async function* asBytes(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes;
}

type Sent = readonly [name: string, bytes: Buffer, kind?: InboundFile['kind']];

/** Sends a message with files; returns the answers. */
async function send(text: string, ...sent: readonly Sent[]): Promise<readonly string[]> {
  const mediaType = 'image/png';
  await relay.write(text, {
    files: sent.map(([name, bytes, kind = 'image'], ref) => ({
      ref: String(ref),
      name,
      mediaType,
      bytes: bytes.length,
      kind,
    })),
  });
  await relay.fetch((ref) =>
    files.write({ accountId: world.accountId, agentId: 'any', way: 'in' }, asBytes(sent[Number(ref)]![1]), 100_000_000),
  );
  return relay.answer();
}

test('a picture goes with what is said, and lies in the workspace', async () => {
  assert.deepEqual(await send('look', ['a.jpg', jpeg()], ['b.txt', Buffer.from('text')], ['c', png]), ['pong']);
  const [turn] = gateway.turns;
  assert.deepEqual(picturesIn(turn!), [dataUrl('image/jpeg', jpeg()), dataUrl('image/png', png)]);
  const facts = factsIn(turn!);
  const paths = facts['files']!;
  assert.deepEqual(facts['pictures_shown'], [paths[0], paths[2]]);
  assert.ok(readFileSync(join(guest.root, paths[0]!)).equals(jpeg()));
  assert.equal(gateway.turns.length, 1);
  await send('and now?');
  assert.equal(typeof contentOf(gateway.turns[1]!), 'string');
});

test('a file that says it is a picture and is none stays a file, as does a picture beyond the bounds', async () => {
  const page = Buffer.from('<html><script>alert(1)</script>');
  const large = jpeg(pictureBounds.bytes + 1);
  await send('look', ['evil.png', page], ['large.jpg', large], ['tiny.png', Buffer.from('8950', 'hex')]);
  assert.equal(typeof contentOf(gateway.turns[0]!), 'string');
  const facts = factsIn(gateway.turns[0]!);
  assert.equal('pictures_shown' in facts, false);
  assert.equal(readFileSync(join(guest.root, facts['files']![0]!), 'utf8'), page.toString());
  assert.ok(readFileSync(join(guest.root, facts['files']![1]!)).equals(large));
});

test('where pictures may be why a turn failed, it is said once more without them', async () => {
  for (const failure of ['request_refused', 'request_too_large', 'provider_failed', 'turn_failed'] as const) {
    gateway.turns.length = 0;
    gateway.failure = failure;
    assert.deepEqual(await send('look', ['a.jpg', jpeg()]), ['pong'], failure);
    assert.deepEqual(gateway.turns.map(picturesIn), [[dataUrl('image/jpeg', jpeg())], []]);
    const [shown, plain] = gateway.turns.map(factsIn);
    assert.deepEqual(plain!['files'], shown!['files']);
    assert.equal('pictures_shown' in plain!, false);
  }
});

test('a failure that has nothing to do with pictures is what it was', async () => {
  gateway.failure = 'provider_refused_key';
  assert.deepEqual(await send('look', ['a.jpg', jpeg()]), ['I cannot answer right now.']);
  assert.equal(gateway.turns.length, 1);
});

test('a turn that fails without its pictures too has failed', async () => {
  gateway.refusal = { kind: 'request_refused' };
  assert.deepEqual(await send('look', ['a.jpg', jpeg()]), ['I cannot answer right now.']);
  assert.deepEqual(
    gateway.turns.map((turn) => picturesIn(turn).length),
    [1, 0],
  );
  gateway.refusal = null;
});

test('a guest that hands no pictures on is told of files alone', async () => {
  takesPictures = false;
  await send('look', ['a.jpg', jpeg()]);
  assert.equal(typeof contentOf(gateway.turns[0]!), 'string');
  const facts = factsIn(gateway.turns[0]!);
  assert.equal(facts['files']!.length, 1);
  assert.equal('pictures_shown' in facts, false);
});

test('a voice note is a file that is named as one', async () => {
  await send('', ['voice.ogg', Buffer.from('OggS and no more'), 'voice']);
  const facts = factsIn(gateway.turns[0]!);
  assert.deepEqual(facts['voice_notes'], [{ file: facts['files']![0] }]);
});
