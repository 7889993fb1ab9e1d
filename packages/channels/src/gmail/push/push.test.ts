/** Push by Pub/Sub, at a stub of Google: looks by time are so rare that a mail which is found soon had a notice. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { never, noteOf, patienceMs, pushWorld } from '../testing/push-world.ts';

const world = pushWorld();
const { platform, connect, looksAt, slowed, writeTo } = world;

describe('push', () => {
  test('finds mail at once, with looks by time rare, and its notices are acknowledged', async (t) => {
    const { host } = connect(t, platform());
    await slowed(host);
    writeTo('one');
    await host.message('one', patienceMs);
    writeTo('two');
    await host.message('two', patienceMs);
    await host.until(() => world.google.pubsub.backlogOf(world.subscription) === 0, 'acknowledgement', patienceMs);
    await slowed(host);
    assert.equal(noteOf(host), null);
    assert.deepEqual(world.mailbox.watch?.labelIds, ['INBOX']);
    assert.ok(!host.lines.concat(world.lines).some((line) => line.includes('PRIVATE KEY') || line.includes('ya29')));
  });

  test('comes to the relay that holds the mailbox, whichever has pulled the notice', async (t) => {
    const others = ['x', 'y', 'z'].map((name) => `${name}-${world.address}`);
    const relays = [platform(), platform()];
    const all = [world.address, ...others].map((who, at) => ({ who, ...connect(t, relays[at % 2]!, who) }));
    for (const { who, host } of all) await slowed(host, who);
    for (let round = 0; round < 3; round += 1)
      for (const { who, host } of all) {
        writeTo(`${round}`, world.google.mailbox(who));
        await host.message(`${round}`, patienceMs);
      }
  });

  test('that is delayed, doubled and not acknowledged in time brings each mail once', async (t) => {
    Object.assign(world.google.pubsub, { duplicates: true, delayMs: 50, ackDeadlineMs: 100 });
    world.google.fault({ of: 'POST acknowledge', does: 503, times: 2 });
    const { host } = connect(t, platform());
    await host.reaches('connected', patienceMs);
    for (let at = 0; at < 20; at += 1) writeTo(`${at}`);
    await host.message('19', patienceMs);
    assert.deepEqual(
      host.kept.messages.map(({ text }) => text),
      Array.from({ length: 20 }, (_, at) => `${at}`),
    );
    await host.until(() => world.google.pubsub.backlogOf(world.subscription) === 0, 'acknowledgement', patienceMs);
  });

  test('has its watch renewed, and looks often once it has ended', async (t) => {
    const watches = (): number => world.google.calls.filter((call) => call === `POST watch ${world.address}`).length;
    world.mailbox.watchMs = 600;
    const { host } = connect(t, platform({ pushPollMs: 300, noticeMs: never }));
    await host.until(() => watches() >= 3, 'two renewals', patienceMs);
    world.google.fault({ of: 'POST watch', mailbox: world.address, does: 503, times: Number.POSITIVE_INFINITY });
    await host.until(() => noteOf(host)?.startsWith('Gmail does not take the order') === true, 'a note', patienceMs);
    writeTo('by time');
    await host.message('by time', patienceMs);
    world.google.clearFaults();
    await host.until(() => noteOf(host) === null, 'no note', patienceMs);
  });

  test('is hostile: nothing but a held mailbox is looked at, and every message is acknowledged', async (t) => {
    const { host } = connect(t, platform());
    await slowed(host);
    const json = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64');
    const hostile: unknown[] = [
      undefined,
      null,
      7,
      '',
      '!!!',
      {},
      json(null),
      json([]),
      json({ emailAddress: 7 }),
      json({ emailAddress: `${'a'.repeat(400)}@x.example` }),
      json({ emailAddress: 'a\u0000b@x.example' }),
      json({ emailAddress: 'nobody' }),
      json({ emailAddress: 'stranger@x.example', historyId: 'x'.repeat(100) }),
      Buffer.from('['.repeat(2_000)).toString('base64'),
      'A'.repeat(100_000),
    ];
    const looks = looksAt(world.address);
    world.google.pubsub.ackDeadlineMs = 100;
    for (const data of hostile) world.google.pubsub.publish(world.topic, { data });
    // More than one answer may have: the messages come one by one.
    for (let at = 0; at < 3; at += 1) world.google.pubsub.publish(world.topic, { data: 'A'.repeat(1_000_000) });
    await host.until(() => world.google.pubsub.backlogOf(world.subscription) === 0, 'acknowledgement', patienceMs);
    assert.deepEqual(
      world.notices.notified.filter((each) => each !== world.address),
      ['stranger@x.example'],
    );
    assert.equal(looksAt(world.address), looks);
    assert.equal(world.google.callsOf('stranger@x.example'), 0);
    writeTo('still here');
    await host.message('still here', patienceMs);
    assert.equal(noteOf(host), null);
  });

  test('in a flood costs one look after another, each some time after the last', async (t) => {
    const { host } = connect(t, platform({ noticeGapMs: 150 }));
    await slowed(host);
    const looks = looksAt(world.address);
    const startedAt = Date.now();
    for (let at = 0; at < 300; at += 1)
      world.google.pubsub.publish(world.topic, { emailAddress: world.address, historyId: at });
    await host.until(() => world.google.pubsub.backlogOf(world.subscription) === 0, 'acknowledgement', patienceMs);
    await slowed(host);
    assert.ok(looksAt(world.address) - looks <= 2 + (Date.now() - startedAt) / 150);
  });

  test('is told by the database alone: what could not be told is not acknowledged, and comes again', async (t) => {
    world.google.pubsub.ackDeadlineMs = 100;
    const { host } = connect(t, platform());
    await slowed(host);
    world.notices.isAway = true;
    writeTo('later');
    await host.until(() => noteOf(host)?.startsWith('Pub/Sub does not answer') === true, 'a note', patienceMs);
    // Looked for by time meanwhile.
    await host.message('later', patienceMs);
    assert.ok(world.google.pubsub.backlogOf(world.subscription) > 0);
    world.notices.isAway = false;
    await host.until(() => world.google.pubsub.backlogOf(world.subscription) === 0, 'acknowledgement', patienceMs);
    await host.until(() => noteOf(host) === null, 'no note', patienceMs);
  });

  test('after a time in which nothing was heard has every mailbox looked at', async (t) => {
    const { host } = connect(t, platform());
    await slowed(host);
    world.google.pubsub.isDeaf = true;
    writeTo('unheard');
    for (const listener of world.notices.listeners) listener(null);
    await host.message('unheard', patienceMs);
  });
});
