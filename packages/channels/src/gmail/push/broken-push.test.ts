/** If push does not work, mail is found as without it, and the channel says so. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { email, noteOf, patienceMs, pushWorld } from '../testing/push-world.ts';

const world = pushWorld();
const { platform, connect, looksAt, slowed, writeTo } = world;

describe('push that is broken', () => {
  const cases: readonly (readonly [string, () => void, string])[] = [
    ['may not pull', () => world.google.pubsub.subscriptions.get(world.subscription)!.subscribers.clear(), 'The service account may not'],
    ['has no subscription', () => void world.google.pubsub.subscriptions.delete(world.subscription), 'The Pub/Sub subscription does not'],
    ['is limited', () => world.google.fault({ of: 'POST pull', does: 'rate', times: 1_000, retryAfterSeconds: 0 }), 'Pub/Sub does not'],
    ['breaks off', () => world.google.fault({ of: 'POST pull', does: 'drop', times: 1_000 }), 'Pub/Sub does not'],
    ['has no API', () => world.google.fault({ of: 'POST pull', does: 500, times: 1_000 }), 'Pub/Sub does not'],
    ['never answers', () => world.google.fault({ of: 'POST pull', does: 'hang', times: 1_000 }), 'Pub/Sub does not'],
  ]; // prettier-ignore
  for (const [name, breakIt, note] of cases) {
    test(`${name}: mail is looked for as often as without, with a note and one line, until it works`, async (t) => {
      world.google.pubsub.holdMs = 100;
      const { host } = connect(t, platform({ pullMs: 400 }));
      await slowed(host);
      const broken = world.google.pubsub.subscriptions.get(world.subscription)!;
      breakIt();
      await host.until(() => noteOf(host)?.startsWith(note) === true, 'a note', patienceMs);
      assert.match(noteOf(host)!, /Mail is looked for every 1 s\.$/);
      writeTo('by time');
      await host.message('by time', patienceMs);
      assert.equal(world.lines.filter((line) => line.startsWith('no notices of mail')).length, 1);
      // Longer than a notice is waited for: that none came is explained.
      await sleep(400);
      world.google.clearFaults();
      broken.subscribers.add(email);
      world.google.pubsub.subscriptions.set(world.subscription, broken);
      await host.until(() => noteOf(host) === null, 'no note', patienceMs);
      writeTo('by push');
      await host.message('by push', patienceMs);
      await slowed(host);
    });
  }

  test('with a key that is good no more says so', async (t) => {
    const other = 'gone@stub-project.iam.gserviceaccount.com';
    const key = world.google.oauth.serviceAccount(other).private_key;
    world.google.oauth.revokeServiceAccount(other);
    const { host } = connect(t, platform({}, { account: { email: other, privateKey: key } }));
    await host.until(() => host.status === 'connected' && noteOf(host) !== null, 'a note', patienceMs);
    assert.match(noteOf(host)!, /^Google does not accept the key of the service account\./);
    writeTo('by time');
    await host.message('by time', patienceMs);
  });

  const topics: readonly (readonly [string, () => string, string])[] = [
    ['that Gmail may not publish to', () => world.google.pubsub.createTopic('closed', []), 'Gmail may not publish'],
    ['of another project', () => 'projects/another/topics/gmail', 'Gmail may not publish'],
    ['that does not exist', () => `${world.topic}-none`, 'The Pub/Sub topic does not exist'],
  ];
  for (const [name, given, note] of topics) {
    test(`by a topic ${name} is noted, and mail is looked for`, async (t) => {
      const { host } = connect(t, platform({}, { topic: given() }));
      await host.until(() => host.status === 'connected' && noteOf(host) !== null, 'a note', patienceMs);
      assert.ok(noteOf(host)!.startsWith(note), noteOf(host)!);
      writeTo('by time');
      await host.message('by time', patienceMs);
    });
  }

  test('that never delivered is not waited for', async (t) => {
    world.google.pubsub.isDeaf = true;
    const { host } = connect(t, platform());
    await host.reaches('connected', patienceMs);
    writeTo('by time');
    await host.message('by time', patienceMs);
    await host.until(() => noteOf(host)?.startsWith('Gmail tells nothing') === true, 'a note', patienceMs);
    world.google.pubsub.isDeaf = false;
    await host.until(() => noteOf(host) === null, 'no note', patienceMs);
    await slowed(host);
  });

  test('that delivers nothing any more is found out by the first mail without a notice', async (t) => {
    const { host } = connect(t, platform({ pushPollMs: 300 }));
    await host.reaches('connected', patienceMs);
    await sleep(900);
    assert.equal(noteOf(host), null);
    world.google.pubsub.isDeaf = true;
    writeTo('late');
    await host.message('late', patienceMs);
    await host.until(() => noteOf(host)?.startsWith('Gmail tells nothing') === true, 'a note', patienceMs);
    const looks = looksAt(world.address);
    await sleep(900);
    assert.ok(looksAt(world.address) - looks >= 6);
  });

  test('ends with the last mailbox, and begins again with the next', async (t) => {
    const gmail = platform();
    const { host, connection } = connect(t, gmail);
    await slowed(host);
    await connection.close();
    await sleep(50);
    assert.equal(world.notices.listeners.size, 0);
    const pulls = world.google.calls.filter((call) => call.startsWith('POST pull')).length;
    await sleep(300);
    assert.equal(world.google.calls.filter((call) => call.startsWith('POST pull')).length, pulls);
    const again = connect(t, gmail);
    await again.host.reaches('connected', patienceMs);
    writeTo('again');
    await again.host.message('again', patienceMs);
  });
});
