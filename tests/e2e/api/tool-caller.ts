/** One call of a connection's tool as a process of its own, to be killed: settings in TOOL_CALL, prints the answer. */
import { openSecretBox } from '@lodge/access';
import { openConnections } from '@lodge/connections';
import { createConnectionDirectory, createConnectionGrants } from '@lodge/engine';
import { openStore } from '@lodge/store';
import { logWriter } from '@lodge/store/logs';
import { silent } from '../../../packages/testkit/src/plane/wired-accounts.ts';

export interface ToolCall {
  readonly connectionString: string;
  /** In hexadecimal. */
  readonly masterKey: string;
  readonly agentId: string;
  readonly tool: string;
  readonly claimMs: number;
}

const settings = JSON.parse(process.env['TOOL_CALL']!) as ToolCall;
const store = await openStore({ connectionString: settings.connectionString, log: silent });
const parts = openConnections({
  directory: createConnectionDirectory(store.database),
  grants: createConnectionGrants(store.database),
  secrets: await openSecretBox(store.secrets, Buffer.from(settings.masterKey, 'hex')),
  logs: logWriter(store.database),
  log: silent,
  authority: () => Promise.reject(new Error('no host is reached here')),
  addresses: 'any',
  egressProxy: null,
  oauthBounds: { claimMs: settings.claimMs, leastAgeMs: 0 },
});
const caller = { agentId: settings.agentId, accountId: '', confirmations: null };
const answer = await parts.tools.call(caller, settings.tool, {}, AbortSignal.timeout(30_000));
process.stdout.write(`${JSON.stringify(answer)}\n`);
await parts.close();
await store.close();
