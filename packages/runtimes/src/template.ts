/** Brings a cold guest to a state worth cloning: configured, running, warm, at rest. The steps are those of every runtime. */
import { randomBytes } from 'node:crypto';
import type { AgentRuntime, GuestAddress, LlmApi, ReportProgress, RuntimeFacts } from '@lodge/ports';
import { emptyRuntimeLog } from './guest-calls.ts';
import type { GuestRuntime } from './guest-runtime.ts';
import { awaitReady } from './ready.ts';
import { Warmer } from './warmer.ts';
import { startWarmupLlm } from './warmup-llm.ts';
import type { ToolRounds } from './warmup-llm.ts';

export interface Step {
  readonly progress: ReportProgress;
  readonly signal: AbortSignal;
}

/** The parts of a template that are a runtime's own. */
export interface TemplateParts<R extends GuestRuntime> {
  /** The gateway's token opens the guest that is being made. */
  readonly inGuest: (guest: GuestAddress, token: string) => R;
  /** Writes the configuration. The guest's daemon sees it and starts the gateway. */
  readonly configure: (runtime: R, signal: AbortSignal) => Promise<void>;
  /** Opens a clone of the early template again. */
  readonly reopen: (guest: GuestAddress, facts: RuntimeFacts, signal: AbortSignal) => Promise<R>;
  /** Brings the runtime to rest. Resolves with the facts that the host stores. */
  readonly rest: (runtime: R, step: Step) => Promise<RuntimeFacts>;
  /** Rises with every change of the early template. */
  readonly earlyVariant: string;
  /** The provider APIs that are warmed up, and the name of the agent's model in the guest for each. */
  readonly apis: readonly LlmApi[];
  readonly modelFor: (model: { readonly api: LlmApi; readonly contextWindow: null }) => string;
  /** The tool calls of the warm-up, in the runtime's names. */
  readonly toolRounds: ToolRounds;
}

/** Returns the calls of a runtime that make its templates. The early one ends with its first turn. */
export function templateCalls<R extends GuestRuntime>(
  parts: TemplateParts<R>,
): Pick<AgentRuntime, 'startWarmupLlm' | 'prepareTemplate' | 'early'> {
  return {
    startWarmupLlm: (host) => startWarmupLlm(host, parts.toolRounds),
    prepareTemplate: async (guest, progress, signal) => {
      const step = { progress, signal };
      return finish(parts, await start(parts, guest, step), step);
    },
    early: {
      variant: parts.earlyVariant,
      prepare: async (guest, progress, signal) => {
        const step = { progress, signal };
        const runtime = await start(parts, guest, step);
        await warmerOf(parts, runtime, step).first();
        await runtime.guest.sync(false, { signal });
        return close(parts, runtime, step);
      },
      goOn: async (guest, facts, progress, signal) =>
        finish(parts, await parts.reopen(guest, facts, signal), { progress, signal }),
    },
  };
}

async function start<R extends GuestRuntime>(
  { inGuest, configure }: TemplateParts<R>,
  guest: GuestAddress,
  { progress, signal }: Step,
): Promise<R> {
  const runtime = inGuest(guest, randomBytes(32).toString('hex'));
  const { name } = runtime;
  progress(`writing the configuration of ${name}`);
  await configure(runtime, signal);
  await awaitReady(runtime, signal, (seconds) => progress(`waiting for ${name} to start (${seconds} s)`));
  return runtime;
}

/** Warms the runtime up. The page cache is dropped, so that the template's memory file stays small; then come the pages that matter. */
async function finish<R extends GuestRuntime>(parts: TemplateParts<R>, runtime: R, step: Step): Promise<RuntimeFacts> {
  const warmer = warmerOf(parts, runtime, step);
  await warmer.walkAllPaths();
  await warmer.settle();
  step.progress('writing the guest out to its disk');
  await runtime.guest.sync(true, { signal: step.signal });
  await warmer.refresh();
  return close(parts, runtime, step);
}

async function close<R extends GuestRuntime>(
  { rest }: TemplateParts<R>,
  runtime: R,
  step: Step,
): Promise<RuntimeFacts> {
  const facts = await rest(runtime, step);
  await emptyRuntimeLog(runtime, step.signal);
  return facts;
}

const warmerOf = <R extends GuestRuntime>({ apis, modelFor }: TemplateParts<R>, runtime: R, step: Step): Warmer =>
  new Warmer(runtime, { apis, modelFor: (api) => modelFor({ api, contextWindow: null }), ...step });
