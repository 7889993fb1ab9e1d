/** Selects the runtime of a benchmark: `--runtime openclaw` (the default) or `--runtime hermes`. */
import { allRuntimes } from '@lodge/runtimes';
import type { AgentRuntime, AgentSettings } from '@lodge/ports';
import { Service } from '@lodge/testkit/service';
import { startStubLlm, type StubLlm } from '@lodge/testkit/llm';

export interface Measured {
  readonly runtime: AgentRuntime;
  readonly kind: string;
  readonly service: Service;
  /** Resolves when the runtime's template is there. */
  readonly ready: Promise<void>;
  /** Creates an agent with the stub's model and resolves with its id once it runs. */
  create(more?: object): Promise<string>;
  close(): Promise<void>;
}

/** A Lodge with this one runtime, and a stub for the model that answers at once. */
export async function measure(name: string, more: Readonly<Record<string, string>> = {}): Promise<Measured> {
  const runtimes = [...allRuntimes()];
  const [kind, runtime] = runtimes.find(([, each]) => each.name === name) ?? [];
  if (!kind || !runtime) throw new Error(`--runtime is one of ${runtimes.map(([, each]) => each.name).join(', ')}`);
  const llm: StubLlm = await startStubLlm({ host: '127.0.0.1', port: 0 });
  const provider = { id: 'stub', base_url: `http://127.0.0.1:${llm.port}/v1` };
  const entry = new URL('../packages/runtimes/conformance/lodge.ts', import.meta.url);
  const env = {
    CONFORMANCE_RUNTIMES: name,
    LODGE_PROVIDERS: JSON.stringify([provider]),
    LODGE_DEFAULT_MODEL: 'stub/m',
    ...more,
  };
  const service = await Service.start({ entry, env });
  return {
    runtime,
    kind,
    service,
    ready: service.awaitTemplate(40 * 60_000, name),
    async create(more = {}) {
      const reply = await service.call('POST', '/agents', { name: 'Benchmark', runtime_kind: kind, ...more });
      if (reply.status !== 201) throw new Error(`create answered ${reply.status}: ${JSON.stringify(reply.body)}`);
      return reply.body.id as string;
    },
    async close() {
      await service.destroy();
      await llm.close();
    },
  };
}

/** Settings of an agent without anything of its own. */
export const plainSettings: AgentSettings = {
  agentId: 'floor',
  api: 'openai-completions',
  contextWindow: null,
  model: 'm',
  instructions: null,
  dashboard: false,
  browser: false,
  env: {},
  asksBeforeCommands: false,
  hosts: null,
  members: [],
};
