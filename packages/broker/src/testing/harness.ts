/** A broker on loopback whose agents are loopback addresses, for the tests beside it. */
import { Agent, fetch } from 'undici';
import OpenAI from 'openai';
import { llmKeyContext } from '@lodge/ports';
import type { BrokerAgent, LlmCall, Log, Provider, SecretBox } from '@lodge/ports';
import { createBroker } from '../broker.ts';
import type { BrokerOptions } from '../broker.ts';
import { keyHeaders } from '../providers/builtin.ts';

export interface TestAgent {
  /** Loopback address that is this agent's. */
  readonly address: string;
  readonly model: string;
  readonly runtimeKind?: BrokerAgent['runtimeKind'];
  readonly keys: Readonly<Record<string, string>>;
  readonly keepsContents?: boolean;
  /** Default: an account of its own. */
  readonly accountId?: string;
  readonly models?: BrokerAgent['models'];
  readonly spendLimited?: boolean;
  readonly confirmations?: BrokerAgent['confirmations'];
}

export type TestBrokerOptions = Partial<
  Pick<
    BrokerOptions,
    | 'tlsDoor'
    | 'limits'
    | 'prices'
    | 'unpriced'
    | 'ledger'
    | 'keepAwake'
    | 'doors'
    | 'defaultProvider'
    | 'egressProxy'
    | 'hasRoom'
  >
> & {
  readonly secrets: SecretBox;
  readonly providers: readonly Provider[];
  readonly agents: readonly TestAgent[];
};

export interface PostInit {
  readonly headers?: Readonly<Record<string, string>>;
  /** Instead of the JSON of `body`. */
  readonly body?: string | Buffer;
  readonly signal?: AbortSignal;
}

export type TestBroker = Awaited<ReturnType<typeof startTestBroker>>;

export async function startTestBroker(options: TestBrokerOptions) {
  const { secrets, agents } = options;
  const rows: LlmCall[] = [];
  const logged: string[] = [];
  const write = (fields: object, message: string): void => void logged.push(JSON.stringify([message, fields]));
  const log: Log = { debug: write, info: write, warn: write, error: write };
  const known = new Map(agents.map((agent) => [agent.address, record(agent, secrets)]));
  const broker = createBroker({
    ledger: { open: async () => null, close: async (call) => void rows.push(call) },
    ...options,
    directory: { byAddress: async (address) => known.get(address) ?? null },
    log,
  });
  const { port } = await broker.listen({ host: '127.0.0.1', port: 0 });
  const url = `http://127.0.0.1:${port}`;
  const dispatchers = new Map<string, Agent>();

  /** A fetch whose connections come from `address`. */
  function fetchFrom(address: string): typeof globalThis.fetch {
    const dispatcher = dispatchers.get(address) ?? new Agent({ localAddress: address });
    dispatchers.set(address, dispatcher);
    return ((to: string, init: object) => fetch(to, { ...init, dispatcher })) as unknown as typeof globalThis.fetch;
  }

  return {
    url,
    port,
    /** Rows written so far; `rowCount` waits for them, as a row follows the reply. */
    rows,
    logged,
    agentId: (address: string): string => known.get(address)!.agentId,
    setKeys(address: string, keys: TestAgent['keys']): void {
      const { model } = known.get(address)!;
      known.set(address, record({ address, model, keys }, secrets));
    },
    fetchFrom,
    async rowCount(count: number): Promise<readonly LlmCall[]> {
      const until = Date.now() + 10_000;
      while (rows.length < count && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 5));
      return rows;
    },
    openaiFrom(address: string, apiKey = 'guest-has-no-key'): OpenAI {
      return new OpenAI({ baseURL: `${url}/openai/v1`, apiKey, fetch: fetchFrom(address), maxRetries: 0 });
    },
    post(address: string, path: string, body: unknown, init: PostInit = {}): Promise<Response> {
      return fetchFrom(address)(url + path, {
        method: 'POST',
        body: JSON.stringify(body),
        ...init,
        headers: { 'content-type': 'application/json', ...init.headers },
      });
    },
    async close(): Promise<void> {
      await Promise.all([...dispatchers.values()].map((dispatcher) => dispatcher.destroy()));
      await broker.close();
    },
  };
}

/** An operator-added provider at `baseUrl`, as the setting would make it. */
export function providerAt(id: string, baseUrl: string, change: Partial<Provider> = {}): Provider {
  const { api = 'openai-completions' } = change;
  return {
    id,
    name: id,
    api,
    endpoints: { [api]: { baseUrl, keyHeader: keyHeaders[api] } },
    needsKey: true,
    keyCheck: null,
    docsUrl: null,
    headers: {},
    models: [],
    operatorAdded: true,
    onlyModels: false,
    privateAddresses: true,
    contextWindow: null,
    ...change,
  };
}

function record(
  { address, model, keys, runtimeKind = 'runtime_a', keepsContents = false, ...more }: TestAgent,
  secrets: SecretBox,
): BrokerAgent {
  const agentId = `agent${address.split('.').join('')}`;
  const sealed = Object.entries(keys).map(([id, key]) => [id, secrets.seal(key, llmKeyContext(agentId, id))]);
  return {
    agentId,
    accountId: more.accountId ?? `account of ${agentId}`,
    runtimeKind,
    model,
    sealedKeys: Object.fromEntries(sealed),
    keepsContents,
    models: more.models ?? null,
    spendLimited: more.spendLimited ?? false,
    confirmations: more.confirmations ?? null,
  };
}
