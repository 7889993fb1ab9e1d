/** A relay at a platform whose library leaves an error uncaught as soon as one agent is connected. Settings come by IPC. */
import { openSecretBox } from '@lodge/access';
import { createChannelFiles } from '@lodge/channels/files';
import { createRelay, openedStore, usualRelayTimings } from '@lodge/channels/relay';
import type { Platform } from '@lodge/ports';
import { createRelayStore } from '@lodge/engine';
import { openStore } from '@lodge/store';
import { pino } from 'pino';
import { watchFaults } from '../faults.ts';

export interface FaultyStart {
  readonly connectionString: string;
  readonly agentId: string;
  readonly how: 'throws' | 'rejects';
}

process.on('disconnect', () => process.exit(0));
process.once('message', (start: FaultyStart) => void run(start));

async function run({ connectionString, agentId, how }: FaultyStart): Promise<void> {
  const log = pino({ level: 'error' }, pino.destination({ dest: 2, sync: true }));
  const store = await openStore({ connectionString, maxConnections: 4, log });
  const relay = createRelay({
    store: openedStore(createRelayStore(store), await openSecretBox(store.secrets, Buffer.alloc(32, 7))),
    platforms: [platformOf(agentId, how)],
    files: createChannelFiles('/nonexistent/channel-files'),
    name: 'faulty',
    log,
    timings: { ...usualRelayTimings, lookEveryMs: 200, openEveryMs: 5 },
  });
  watchFaults(relay, log, () => void relay.close().then(() => process.exit(1)));
}

const platformOf = (poisoned: string, how: FaultyStart['how']): Platform => ({
  channel: 'telegram',
  limits: { textChars: 100, fileInBytes: 1, fileOutBytes: 1, typingEveryMs: null },
  sendsOnce: false,
  verify: null,
  render: (text) => [{ text, format: null }],
  connect: ({ agentId }, host) => {
    host.changed({ status: 'connected', identity: { id: agentId, name: 'bot' } });
    if (agentId === poisoned) setTimeout(() => fail(how), 100);
    return {
      send: () => Promise.reject(new Error('nothing is sent')),
      typing: async () => undefined,
      open: () => Promise.reject(new Error('there is no file')),
      close: async () => undefined,
    };
  },
});

function fail(how: FaultyStart['how']): void {
  const error = new TypeError('no answer from https://host/bot123:SECRET\n    at read (/SECRET.ts:1:1)');
  Object.assign(error, { request: { token: 'SECRET' } });
  if (how === 'throws') throw error;
  void Promise.reject(error);
}
