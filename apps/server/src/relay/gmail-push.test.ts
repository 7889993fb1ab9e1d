/** Push through real processes: topic, subscription and key from the settings to the relay, notices by NOTIFY of a real Postgres. */
import assert from 'node:assert/strict';
import { randomBytes, randomInt } from 'node:crypto';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { openSecretBox } from '@lodge/access';
import { createChannelFiles } from '@lodge/channels/files';
import { defaultAccess, defaultLifecycle, makeAgentId } from '@lodge/domain';
import { channelCredentialContext } from '@lodge/ports';
import { startGoogleStub } from '@lodge/testkit/google';
import { testDatabase } from '@lodge/testkit/postgres';
import { findChannel } from '@lodge/store/channels';
import { readConfig } from '../config/config.ts';
import { relaySettings } from './settings.ts';
import { relaysHere } from './testing/relays-here.ts';
import { firstAccount } from '../../../../packages/store/src/testing/fixture.ts';
import { openTestStore } from '../../../../packages/store/src/testing/agents-fixture.ts';

const database = await testDatabase();
const log = { debug() {}, info() {}, warn() {}, error() {} };
const store = await openTestStore({ ...database, log });
const google = await startGoogleStub();
const masterKey = randomBytes(32);
const secrets = await openSecretBox(store.secrets, masterKey);
after(async () => {
  await google.close();
  await store.close();
  await database.drop();
});

const accountId = await firstAccount(store.database);

async function agentWithMailbox(address: string): Promise<string> {
  const id = makeAgentId(randomInt);
  const agent = { id, accountId, name: 'bot', description: null, metadata: {}, llmKeys: [] };
  const runs = { runtimeKind: 'runtime_a', model: 'm/m', size: 'small', lifecycle: defaultLifecycle } as const;
  await store.agents.create({ ...agent, ...runs }, () => undefined);
  const sealed = secrets.seal(google.consent(address), channelCredentialContext(id, 'gmail', 'refreshToken'));
  await store.channels.put({
    accountId,
    agentId: id,
    channel: 'gmail',
    enabled: true,
    access: { ...defaultAccess, mode: 'open' },
    credentials: [{ name: 'refreshToken', sealed, last4: '0000' }],
    accountKey: address,
  });
  return id;
}

const until = async (is: () => boolean | Promise<boolean>): Promise<void> => {
  for (let tries = 0; tries < 600; tries += 1) {
    if (await is()) return;
    await sleep(50);
  }
  assert.fail('it did not come about');
};

test('mail is found by its notice long before it is looked for', async (t) => {
  const topic = google.pubsub.createTopic('gmail');
  const email = 'lodge@stub-project.iam.gserviceaccount.com';
  const privateKey = google.oauth.serviceAccount(email).private_key;
  const config = readConfig({
    LODGE_GOOGLE_API: google.url,
    LODGE_GOOGLE_OAUTH: google.url,
    LODGE_GOOGLE_PUBSUB: google.url,
    LODGE_GOOGLE_CLIENT_ID: google.client.clientId,
    LODGE_GOOGLE_CLIENT_SECRET: google.client.clientSecret,
    LODGE_GMAIL_POLL_SECONDS: '3600',
    LODGE_GMAIL_PUBSUB_TOPIC: topic,
    LODGE_GMAIL_PUBSUB_SUBSCRIPTION: google.pubsub.createSubscription('lodge', topic, [email]),
    LODGE_GMAIL_PUBSUB_KEY_FILE: '/read/by/root.json',
    LODGE_LOG_LEVEL: 'error',
  });
  const relays = await relaysHere({
    ...relaySettings(config, { gmail: { account: { email, privateKey } } }),
    store: store.relay,
    notices: store.mailboxNotices,
    secrets,
    files: createChannelFiles('/nonexistent/channel-files'),
    log,
  });
  t.after(() => relays.close());
  for (const address of ['one@example.com', 'two@example.com']) {
    const agentId = await agentWithMailbox(address);
    const state = () => store.database.repeatable((db) => findChannel(db, { accountId, agentId, channel: 'gmail' }));
    await until(async () => (await state())?.status === 'connected');
    for (const text of ['first', 'second']) {
      google.mailbox(address).deliver({ from: 'ann@example.org', subject: '', text });
      await until(async () => {
        const messages = await store.channels.messages({ accountId, agentId, limit: 10 });
        return messages.some((message) => message.text === text);
      });
    }
    assert.equal((await state())?.note, null);
  }
});
