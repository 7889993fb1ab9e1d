/**
 * The engine: use-cases that write what is wanted, and the reconcile loop that makes it so.
 * It owns no state that a restart would lose; what it needs to go on is in the store and on the host.
 */
import { parseProviderModel } from '@lodge/domain';
import type { Agents } from './agents.ts';
import type { AgentRow, AgentSettings, ImageBuilder, Provider } from './ports/index.ts';
import { createAgentReconciler } from './reconcile/agent.ts';
import { createLeftoverCollector } from './reconcile/leftovers.ts';
import { ReconcileLoop } from './reconcile/loop.ts';
import { createTemplates } from './templates/templates.ts';
import type { TemplateProgress } from './templates/templates.ts';
import { createAgents } from './use-cases/agents.ts';
import type { AgentsDeps } from './use-cases/deps.ts';

export interface EngineDeps extends Omit<AgentsDeps, 'templates' | 'settingsOf' | 'deleteWaitMs'> {
  readonly images: ImageBuilder;
  /** Names this host's control plane; the same after a restart. */
  readonly holder: string;
  readonly provisionTimeoutMs: number;
}

export interface Engine {
  readonly agents: Agents;
  /** Begins to reconcile and to make templates, on a driver that has started. */
  start(): void;
  /** Ends what is under way; VMs stay. */
  stop(): Promise<void>;
  templateProgress(): readonly TemplateProgress[];
  onTemplateProgress(listener: (progress: TemplateProgress) => void): () => void;
}

/** Passes at a time: a create is bound by CPU, so more than this only makes each slower. */
const concurrency = 4;
const scanIntervalMs = 10_000;
const deleteWaitMs = 60_000;

export function createEngine(deps: EngineDeps): Engine {
  const { store, driver, runtimes, log, images, holder, provisionTimeoutMs } = deps;
  const templates = createTemplates({ driver, images, runtimes, log, buildTimeoutMs: provisionTimeoutMs });
  const settingsOf = (agent: AgentRow): AgentSettings => agentSettings(agent, deps.providers);
  const agentDeps = { store, driver, templates, runtimes, settingsOf, log, holder, provisionTimeoutMs };
  const loop = new ReconcileLoop({
    store,
    driver,
    log,
    reconcileAgent: createAgentReconciler(agentDeps),
    collectLeftovers: createLeftoverCollector(store, driver, log),
    concurrency,
    scanIntervalMs,
  });
  return {
    agents: createAgents({ ...deps, templates, settingsOf, deleteWaitMs }),
    start() {
      templates.start();
      loop.start();
    },
    async stop() {
      await loop.stop();
      await templates.stop();
    },
    templateProgress: () => [...runtimes.keys()].map((kind) => templates.progress(kind)),
    onTemplateProgress: (listener) => templates.onProgress(listener),
  };
}

function agentSettings(agent: AgentRow, providers: readonly Provider[]): AgentSettings {
  const id = parseProviderModel(agent.model)?.provider;
  const provider = providers.find((candidate) => candidate.id === id);
  // A provider that the operator took away again: the broker answers for it; the guest need not know.
  return {
    agentId: agent.id,
    api: provider?.api ?? 'openai-completions',
    contextWindow: provider?.contextWindow ?? null,
  };
}
