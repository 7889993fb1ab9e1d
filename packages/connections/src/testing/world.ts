/* oxlint-disable no-restricted-imports -- only tests import this file */
/** A real broker on loopback with connections behind its door. Its agents are loopback addresses. */
import { randomBytes } from 'node:crypto';
import { connect } from 'node:net';
import { createSecretBox } from '@lodge/access';
import { placeholderOf } from '@lodge/domain';
import type { Confirmations } from '@lodge/domain';
import { connectionHeaderContext, connectionSecretContext } from '@lodge/ports';
import type { ConnectionGrants, ConnectionRow, NewLogEntry } from '@lodge/ports';
import { startTestBroker } from '../../../broker/src/testing/harness.ts';
import { authorityMaker } from '../host/certificates.ts';
import { openConnections } from '../parts.ts';
import type { ConnectionOptions } from '../parts.ts';

export const [known, other, stranger] = ['127.0.0.2', '127.0.0.3', '127.0.0.9'] as const;

export interface Given extends Partial<Omit<ConnectionRow, 'headers' | 'secrets'>> {
  readonly name: string;
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly secrets?: Readonly<Record<string, { readonly value: string; readonly in: readonly string[] }>>;
}

/** The placeholder of a secret in these worlds. */
export const placeholder = (name: string): string => placeholderOf(name, '0123456789abcdef');

/** No grants, because connections with OAuth are tested over a real store. */
const noGrants = {
  asked: async () => undefined,
} as unknown as ConnectionGrants;

export type TestWorld = Awaited<ReturnType<typeof startWorld>>;

/** `addresses` are those of agents. Each agent has a rate of its own at the broker. */
export async function startWorld(
  options: Partial<ConnectionOptions> = {},
  addresses: readonly string[] = [known, other],
  confirmations: Confirmations | null = null,
) {
  const secrets = createSecretBox(randomBytes(32));
  const rows: ConnectionRow[] = [];
  const lines: { readonly agentId: string; readonly entry: NewLogEntry }[] = [];
  const logged: string[] = [];
  const echoed: { readonly agentId: string; readonly connection: string; readonly revision: string }[] = [];
  const write = (fields: object, message: string): void => void logged.push(JSON.stringify([message, fields]));
  const authority = authorityMaker.make();
  const usable = async (agentId: string) => rows.filter((row) => row.agentId === agentId && row.enabled);
  const parts = openConnections({
    directory: {
      usable,
      usableOne: async (id, name) => (await usable(id)).find((row) => row.name === name) ?? null,
      echoed: async (of) => void echoed.push(of),
    },
    grants: noGrants,
    secrets,
    logs: { append: async (agentId, entries) => void lines.push(...entries.map((entry) => ({ agentId, entry }))) },
    log: { debug: write, info: write, warn: write, error: write },
    addresses: 'any',
    authority: () => authority,
    egressProxy: null,
    ...options,
  });
  const agents = addresses.map((address) => ({ address, model: 'acme/m', keys: {}, confirmations }));
  const broker = await startTestBroker({
    agents,
    secrets,
    providers: [],
    doors: { connections: parts.door },
    tlsDoor: parts.hostDoor,
  });

  return {
    broker,
    parts,
    /** The certificate that machines trust for hosts. */
    trusted: async (): Promise<string> => (await authority).certificate,
    lines,
    logged,
    /** Answers that were refused because they contained a credential. */
    echoed,
    /** Puts a connection for the agent of an address and replaces one of the same name. */
    put(address: string, given: Given): ConnectionRow {
      const agentId = broker.agentId(address);
      const { headers = {}, secrets: hidden = {}, ...more } = given;
      const row: ConnectionRow = {
        accountId: 'a',
        agentId,
        kind: 'http',
        allow: [{ methods: ['GET', 'HEAD', 'POST'], paths: ['/allowed/*'] }],
        tools: null,
        enabled: true,
        statusReason: null,
        hosts: [],
        oauth: null,
        asksOauth: false,
        revision: randomBytes(4).toString('hex'),
        createdAt: new Date(0),
        updatedAt: new Date(0),
        ...more,
        secrets: Object.entries(hidden).map(([name, { value, in: names }]) => ({
          name,
          sealed: secrets.seal(value, connectionSecretContext(agentId, given.name, name)),
          last4: '',
          headers: names,
          placeholder: placeholder(name),
          createdAt: new Date(0).toISOString(),
        })),
        headers: Object.entries(headers).map(([name, value]) => ({
          name,
          sealed: secrets.seal(value, connectionHeaderContext(agentId, given.name, name)),
          last4: '',
          createdAt: new Date(0).toISOString(),
        })),
      };
      const at = rows.findIndex((each) => each.agentId === agentId && each.name === row.name);
      rows.splice(at < 0 ? rows.length : at, at < 0 ? 0 : 1, row);
      return row;
    },
    /** Sends one request as these bytes and returns everything that comes back. */
    raw(address: string, request: string): Promise<string> {
      return new Promise((resolve, reject) => {
        const socket = connect({ port: broker.port, host: '127.0.0.1', localAddress: address });
        const chunks: Buffer[] = [];
        socket.on('data', (chunk) => chunks.push(chunk));
        socket.on('close', () => resolve(Buffer.concat(chunks).toString('latin1')));
        socket.on('error', reject);
        socket.setTimeout(10_000, () => socket.destroy(new Error('no answer')));
        socket.write(request, 'latin1');
      });
    },
    async close(): Promise<void> {
      await broker.close();
      await parts.close();
    },
  };
}
