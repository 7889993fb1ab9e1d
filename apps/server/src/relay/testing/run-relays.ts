/** A server that only runs relays, to be killed. Settings come on standard input; it prints the processes' ids. */
import { json } from 'node:stream/consumers';
import { openSecretBox } from '@lodge/access';
import { createChannelFiles } from '@lodge/channels/files';
import { createRelayStore } from '@lodge/engine';
import { openStore } from '@lodge/store';
import type { RelaysOptions } from '../relays.ts';
import { relaysHere } from './relays-here.ts';

export interface RunRelays extends Pick<RelaysOptions, 'platforms'> {
  readonly connectionString: string;
  /** In base64. */
  readonly masterKey: string;
}

const log = { debug() {}, info() {}, warn() {}, error() {} };
const { connectionString, masterKey, platforms } = (await json(process.stdin)) as RunRelays;
const store = await openStore({ connectionString, log });
const relays = await relaysHere({
  platforms,
  store: createRelayStore(store),
  notices: store.mailboxNotices,
  secrets: await openSecretBox(store.secrets, Buffer.from(masterKey, 'base64')),
  files: createChannelFiles('/nonexistent/channel-files'),
  instance: 'test',
  logLevel: 'error',
  log,
});
await relays.check.verify('telegram', { botToken: '1:x' }, AbortSignal.timeout(20_000)).catch(() => undefined);
process.stdout.write(JSON.stringify(relays.pids));
