/** A server that does nothing but run relays, to be killed. Settings on standard input; prints the processes' ids. */
import { json } from 'node:stream/consumers';
import { openStore } from '@lodge/store';
import { startRelays } from '../relays.ts';
import type { RelaysOptions } from '../relays.ts';

type Given = Omit<RelaysOptions, 'masterKey' | 'store' | 'log'> & { readonly masterKey: string };

const log = { debug() {}, info() {}, warn() {}, error() {} };
const given = (await json(process.stdin)) as Given;
const store = await openStore({ connectionString: given.connectionString, log });
const relays = startRelays({ ...given, masterKey: Buffer.from(given.masterKey, 'base64'), store: store.relay, log });
await relays.check.verify('telegram', { botToken: '1:x' }, AbortSignal.timeout(20_000)).catch(() => undefined);
process.stdout.write(JSON.stringify(relays.pids));
