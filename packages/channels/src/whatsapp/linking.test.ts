/** The server and the phone: who is trusted, how a device is linked, and what ends it. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { SendFailure } from '@lodge/ports';
import { startWhatsAppStub } from '@lodge/testkit/whatsapp';
import type { WhatsAppStub } from '@lodge/testkit/whatsapp';
import { Kept, TestHost } from '../../conformance/host.ts';
import { createWhatsApp } from './whatsapp.ts';
import { Case, quick, reasonOf } from './testing/case.ts';
import './testing/timers.ts';

let stub: WhatsAppStub;
before(async () => {
  stub = await startWhatsAppStub();
  stub.misbehave.fewPreKeys = true;
});
after(() => stub.close());

describe('the server', () => {
  for (const certificate of ['forged', 'stolen'] as const) {
    test(`a server with a ${certificate} certificate learns nothing of the device`, async (t) => {
      const each = new Case(t, stub);
      stub.misbehave.certificate = certificate;
      t.after(() => (stub.misbehave.certificate = 'good'));
      const { stanzas, finished } = stub;
      each.begin();
      await each.host.reaches('disconnected');
      assert.equal(reasonOf(each.last), 'platform_refused');
      assert.equal(stub.finished, finished, 'the handshake was not finished');
      assert.equal(stub.stanzas, stanzas);
      stub.misbehave.certificate = 'good';
      await each.host.reaches('connected', 15_000);
    });
  }

  test("a server whose chain does not end at WhatsApp's own root is refused", async (t) => {
    const each = new Case(t, stub, { url: stub.url, timings: quick });
    const standard = createWhatsApp({ url: stub.url, timings: quick });
    const host = new TestHost(new Kept({}));
    const account = { agentId: 'agent', credentials: {}, wantsUnaddressed: true, cursor: null };
    const connection = standard.connect(account, host);
    await host.reaches('disconnected');
    await connection.close();
    assert.equal(
      host.states.some(({ status }) => status === 'pending_pairing'),
      false,
    );
    assert.equal(each.connection, null);
  });

  test('an address without TLS is this host alone', () => {
    for (const url of [
      'ws://web.whatsapp.com/ws/chat',
      'https://web.whatsapp.com',
      'nothing',
      'ws://127.0.0.1.example.com/',
    ]) {
      assert.throws(() => createWhatsApp({ url }), /address of WhatsApp/);
    }
    createWhatsApp({ url: 'ws://127.0.0.1:1/ws/chat' });
    createWhatsApp({ url: 'wss://web.whatsapp.com/ws/chat' });
    for (const mediaUrl of ['http://mmg.whatsapp.net', 'http://127.0.0.1.example.com', 'ws://127.0.0.1:1', 'nothing'])
      assert.throws(() => createWhatsApp({ mediaUrl }), /https:/);
    createWhatsApp({ mediaUrl: 'http://127.0.0.1:1' });
  });

  test('bytes that no key opens end the socket and nothing else', async (t) => {
    const each = await Case.connected(t, stub);
    stub.sendGarbage(each.account);
    await each.host.reaches('disconnected');
    await each.host.reaches('connected', 15_000);
    await each.hears('still there?');
  });

  test('stanzas that lack what they need end no process', async (t) => {
    const each = await Case.connected(t, stub);
    for (const stanza of oddStanzas) stub.sendStanza(each.account, { attrs: {}, ...stanza });
    await sleep(300);
    await each.host.reaches('connected', 15_000);
    await each.hears('still there?');
  });

  test('a server that is silent is given up, and a half-open connection is found', { timeout: 20_000 }, async (t) => {
    const each = await Case.connected(t, stub);
    const message = await each.hears('before');
    await each.answer('heard', message);
    stub.halfOpen(each.account);
    await assert.rejects(each.answer('lost', message, 'key-of-lost', 300), (error) => {
      assert.ok(error instanceof SendFailure);
      return error.outcome === 'unknown';
    });
    await each.host.reaches('disconnected', 9_000);
    await each.host.reaches('connected', 15_000);
    await each.answer('lost', message, 'key-of-lost');
    assert.deepEqual(each.shown(), ['heard', 'lost']);
  });
});

describe('pairing', () => {
  test('codes to scan change, and a phone takes the latest', async (t) => {
    const each = new Case(t, stub, { timings: { ...quick, codeShownMs: 150 } });
    each.scans = false;
    each.begin();
    await each.host.until(() => each.host.states.length >= 4, 'three codes');
    const codes = each.host.states.flatMap((state) => (state.status === 'pending_pairing' ? [state.code!] : []));
    assert.equal(new Set(codes.map(({ qr }) => qr)).size, codes.length);
    assert.deepEqual(
      codes.slice(0, 3).map(({ attempt }) => attempt),
      [1, 2, 3],
    );
    assert.ok(codes[0]!.expiresAt.getTime() > Date.now() - 2_000);
    for (const { qr } of codes) for (const line of each.host.lines) assert.ok(!line.includes(qr!));
    stub.scan(each.account, codes.at(-1)!.qr!);
    await each.host.reaches('connected', 15_000);
    const { identity } = each.last as { identity: { id: string; name: string } };
    assert.equal(identity.id, `${each.account.phone.number}@s.whatsapp.net`);
  });

  test('codes are not shown for ever to nobody', async (t) => {
    const each = new Case(t, stub, { timings: { ...quick, codeShownMs: 20, pairingRounds: 2 } });
    each.scans = false;
    each.begin();
    await each.host.until(
      () => each.last.status === 'pending_pairing' && each.last.code === undefined,
      'the end of codes',
    );
    const { handshakes } = stub;
    await sleep(300);
    assert.equal(stub.handshakes, handshakes);
    each.scans = true;
    await each.connection!.pairByNumber!('15550001111').catch(() => undefined);
    assert.ok(stub.handshakes > handshakes, 'asking begins again');
  });

  test('a phone is paired by a code that its owner types', async (t) => {
    const each = new Case(t, stub);
    each.scans = false;
    each.begin();
    await each.host.reaches('pending_pairing');
    for (const wrong of ['', 'abc', '+0123456789', '1'.repeat(30)]) {
      await assert.rejects(each.connection!.pairByNumber!(wrong), /number/);
    }
    await each.connection!.pairByNumber!(`+${each.account.phone.number}`);
    assert.ok(
      each.last.status === 'pending_pairing' && each.last.code?.pairingCode?.length === 8 && each.last.code.qr === null,
    );
    await stub.type(each.account, each.last.code.pairingCode);
    await each.host.reaches('connected', 15_000);
    assert.equal((await each.hears('by code')).text, 'by code');
    await assert.rejects(each.connection!.pairByNumber!(each.account.phone.number), /paired already/);
  });

  test('no code is told that WhatsApp did not take', async (t) => {
    const each = new Case(t, stub);
    each.scans = false;
    each.begin();
    await each.host.reaches('pending_pairing');
    stub.misbehave.refusesCodes = true;
    t.after(() => (stub.misbehave.refusesCodes = false));
    await assert.rejects(each.connection!.pairByNumber!(each.account.phone.number), /gave no code/);
    assert.ok(each.host.states.every((state) => state.status !== 'pending_pairing' || !state.code?.pairingCode));
  });

  test('a code that was mistyped pairs nothing', async (t) => {
    const each = new Case(t, stub);
    each.scans = false;
    each.begin();
    await each.host.reaches('pending_pairing');
    await each.connection!.pairByNumber!(each.account.phone.number);
    await stub.type(each.account, 'AAAAAAAA');
    await sleep(500);
    assert.equal(each.account.device, null);
    assert.notEqual(each.host.status, 'connected');
  });

  test('a device that the phone removed forgets its keys, and is paired anew by the next connection', async (t) => {
    const each = await Case.connected(t, stub);
    await each.hears('first');
    stub.unlink(each.account);
    await each.host.reaches('error');
    assert.equal(reasonOf(each.last), 'logged_out');
    assert.equal(each.kept.values.size, 0);
    const { handshakes } = stub;
    await sleep(400);
    assert.equal(stub.handshakes, handshakes, 'nothing more is tried');
    await each.connect();
    await each.hears('second');
  });

  test('a device that was removed while it was away learns it at its next login', async (t) => {
    const each = await Case.connected(t, stub);
    await each.connection!.close();
    stub.unlink(each.account);
    each.begin();
    await each.host.reaches('error');
    assert.equal(reasonOf(each.last), 'logged_out');
  });

  for (const [code, reason] of [
    ['403', 'restricted'],
    ['405', 'platform_refused'],
  ] as const) {
    test(`a login that is refused with ${code} is an error that keeps the keys`, async (t) => {
      const each = await Case.connected(t, stub);
      await each.connection!.close();
      each.account.refusesLogins = code;
      each.begin();
      await each.host.reaches('error');
      assert.equal(reasonOf(each.last), reason);
      assert.ok(each.kept.values.size > 0);
    });
  }

  test('a second connection of the same device ends this one', async (t) => {
    const each = await Case.connected(t, stub);
    stub.replace(each.account);
    await each.host.reaches('error');
    assert.equal(reasonOf(each.last), 'used_elsewhere');
  });
});

const from = '15559990000@s.whatsapp.net';
const oddStanzas = [
  { tag: 'message' },
  { tag: 'message', attrs: { id: 'A' } },
  { tag: 'message', attrs: { from } },
  { tag: 'message', attrs: { id: 'A', from: 'nobody' }, content: [{ tag: 'enc', attrs: {} }] },
  {
    tag: 'message',
    attrs: { id: 'B', from, t: 'never' },
    content: [{ tag: 'enc', attrs: { type: 'pkmsg' }, content: Buffer.alloc(40, 3) }],
  },
  {
    tag: 'message',
    attrs: { id: 'C', from, t: '1' },
    content: [{ tag: 'enc', attrs: { type: 'msg' }, content: Buffer.alloc(1) }],
  },
  {
    tag: 'message',
    attrs: { id: 'D', from: '1@g.us', t: '1' },
    content: [{ tag: 'enc', attrs: { type: 'skmsg' }, content: Buffer.alloc(9) }],
  },
  {
    tag: 'message',
    attrs: { id: 'E', from: '1@g.us', participant: from, t: '1' },
    content: [{ tag: 'enc', attrs: { type: 'skmsg' }, content: Buffer.alloc(9) }],
  },
  { tag: 'message', attrs: { id: 'F', from, t: '1', offline: '1' } },
  {
    tag: 'message',
    attrs: { id: 'G', from: '1@newsletter', t: '1' },
    content: [{ tag: 'plaintext', attrs: {}, content: Buffer.alloc(9) }],
  },
  { tag: 'message', attrs: { id: 'H', from: 'status@broadcast', t: '1' } },
  { tag: 'receipt' },
  { tag: 'receipt', attrs: { id: 'I', from, type: 'retry' } },
  { tag: 'receipt', attrs: { id: 'I', from, type: 'retry', participant: 'x' }, content: [{ tag: 'retry', attrs: {} }] },
  { tag: 'notification' },
  ...[
    'encrypt',
    'devices',
    'w:gp2',
    'mediaretry',
    'server_sync',
    'picture',
    'account_sync',
    'privacy_token',
    'mex',
    'newsletter',
  ].map((type) => ({ tag: 'notification', attrs: { id: `N${type}`, from, type } })),
  {
    tag: 'notification',
    attrs: { id: 'J', from, type: 'encrypt' },
    content: [{ tag: 'count', attrs: { value: 'many' } }],
  },
  {
    tag: 'notification',
    attrs: { id: 'K', from, type: 'mex' },
    content: [{ tag: 'update', attrs: { op_name: 'x' }, content: '{' }],
  },
  { tag: 'call', attrs: { id: 'L', from } },
  { tag: 'call', attrs: { id: 'M', from }, content: [{ tag: 'offer', attrs: {} }] },
  { tag: 'ack', attrs: { class: 'message', error: '463' } },
  { tag: 'ib' },
  { tag: 'ib', content: [{ tag: 'dirty', attrs: {} }] },
  { tag: 'ib', content: [{ tag: 'edge_routing', attrs: {} }] },
  { tag: 'ib', content: [{ tag: 'offline', attrs: { count: '-1' } }] },
  { tag: 'ib', content: [{ tag: 'offline_preview', attrs: {} }] },
  { tag: 'iq', attrs: { type: 'set', id: 'P' }, content: [{ tag: 'pair-device', attrs: {} }] },
  { tag: 'iq', attrs: { type: 'set', id: 'Q' }, content: [{ tag: 'pair-success', attrs: {} }] },
  { tag: 'presence', attrs: { from } },
  { tag: 'chatstate', attrs: { from } },
  { tag: 'stream:error' },
];
