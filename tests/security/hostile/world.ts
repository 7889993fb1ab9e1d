/**
 * A Lodge of real parts with three accounts on it: the operator's first, one whose agents are hostile (root in their guests is
 * theirs), and a bystander's. The hostile ones have a spend limit; what their models cost is known but for one. The Lodge is the
 * product as a process (`Service`): what is hostile here runs in real guests.
 */
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { hashApiKey, lastFour, makeApiKey } from '@lodge/access';
import { scopes } from '@lodge/domain';
import type { GuestClient } from '@lodge/guest';
import { openStore } from '@lodge/store';
import { guestClientOf } from '@lodge/testkit/guest';
import { Service } from '@lodge/testkit/service';
import { Client } from 'pg';
import { Outside } from './outside.ts';
import { insertKey } from '@lodge/store/accounts';

const entry = new URL('../../failure/lodge-with-bare-guests.ts', import.meta.url);
const silent = { debug() {}, info() {}, warn() {}, error() {} };
const asRoot = { mode: 0o600, owner: 'root' } as const;

export interface Account {
  readonly key: string;
  readonly call: (method: string, path: string, body?: object, signal?: AbortSignal) => Promise<Reply>;
}

export interface Reply {
  readonly status: number;
  readonly text: string;
}

export interface World {
  readonly service: Service;
  readonly outside: Outside;
  readonly database: Client;
  readonly hostile: Account;
  readonly bystander: Account;
  /** Ids of agents: two hostile ones, and the bystander's. */
  readonly ids: { readonly one: string; readonly two: string; readonly bystander: string };
  readonly guest: (id: string) => Promise<GuestClient>;
  close(): Promise<void>;
}

export async function openHostileWorld(): Promise<World> {
  const outside = await Outside.start();
  let service: Service | null = null;
  let database: Client | null = null;
  const close = async (): Promise<void> => {
    await database?.end();
    await service?.destroy();
    await outside.close();
  };
  try {
    service = await Service.start({ entry, env: outside.env });
    await service.awaitTemplate(15 * 60_000);
    database = new Client(service.databaseUrl);
    await database.connect();
    const { baseUrl, dataDir, databaseUrl } = service;
    const store = await openStore({ connectionString: databaseUrl, log: silent });
    const accountOf = async (name: string): Promise<Account> => {
      const sql = 'insert into accounts (name) values ($1) returning id';
      const { rows } = await database!.query<{ id: string }>(sql, [name]);
      const key = makeApiKey();
      const made = { accountId: rows[0]!.id, name, hash: hashApiKey(key), last4: lastFour(key), scopes };
      await store.database.transaction((trx) => insertKey(trx, made));
      return { key, call: caller(baseUrl, key) };
    };
    const [hostile, bystander] = [await accountOf('hostile'), await accountOf('bystander')];
    await store.close();
    const guest = (id: string): Promise<GuestClient> => guestClientOf(dataDir, id);
    const limit = { spend_limit: { daily_usd: '1000000', action: 'block' } };
    const ids = {
      one: await createAgent(hostile, limit),
      two: await createAgent(hostile, limit),
      bystander: await createAgent(bystander, {}),
    };
    for (const id of Object.values(ids)) await equip(await guest(id));
    await awaitChat(bystander, ids.bystander);
    await outside.connect({ baseUrl, hostile, bystander, ids });
    return { service, outside, database, hostile, bystander, ids, guest, close };
  } catch (error) {
    await close();
    throw error;
  }
}

function caller(baseUrl: string, key: string): Account['call'] {
  return async (method, path, body, signal = AbortSignal.timeout(120_000)) => {
    const response = await fetch(`${baseUrl}${path}`, {
      method,
      headers: { 'x-api-key': key, ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
      signal,
    });
    return { status: response.status, text: await response.text() };
  };
}

async function createAgent({ call }: Account, fields: object): Promise<string> {
  const lifecycle = { idle_timeout_seconds: 0 };
  const body = { name: 'Agent', size: 'small', model: 'stub/priced', lifecycle, ...fields };
  const reply = await call('POST', '/agents', body);
  if (reply.status !== 201) throw new Error(`create answered ${reply.status}: ${reply.text}`);
  return (JSON.parse(reply.text) as { id: string }).id;
}

/** Puts the scripts into a guest and starts its gateway. */
async function equip(guest: GuestClient): Promise<void> {
  for (const name of ['guest.mjs', 'gateway.mjs', 'daemon.mjs']) {
    await guest.writeFile(`/srv/${name}`, await readFile(new URL(`programs/${name}`, import.meta.url)), asRoot);
  }
  const command = 'setsid -f node /srv/gateway.mjs </dev/null >/srv/gateway.log 2>&1';
  await guest.exec({ argv: ['/bin/sh', '-c', command], user: 'root', timeoutMs: 20_000 });
}

/** The gateway listens a moment after it was started. */
async function awaitChat({ call }: Account, id: string): Promise<void> {
  const body = { messages: [{ role: 'user', content: 'ping' }] };
  const deadline = Date.now() + 120_000;
  for (;;) {
    const reply = await call('POST', `/agents/${id}/chat/completions`, body);
    if (reply.status === 200) return;
    if (Date.now() > deadline) throw new Error(`chat answered ${reply.status}: ${reply.text}`);
    await sleep(200);
  }
}
