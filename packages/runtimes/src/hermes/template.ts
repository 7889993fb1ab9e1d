/**
 * Brings a cold guest to a state worth cloning: configured, running, warm. The steps are those of OpenClaw's template. There
 * is no suspension, because a gateway without work does nothing. The early template ends with its first turn.
 */
import { randomBytes } from 'node:crypto';
import type { EarlyTemplate, GuestAddress, LlmApi, ReportProgress } from '@lodge/ports';
import { emptyRuntimeLog } from '../guest-calls.ts';
import { awaitReady } from '../ready.ts';
import { Warmer } from '../warmer.ts';
import { hostTools } from '../host-tools.ts';
import type { ToolRounds } from '../warmup-llm.ts';
import { warmupTool } from '../warmup-mcp.ts';
import { configFiles, gatewaySettingsPath, hermesConfig, hermesEnv, routeFor } from './config.ts';
import { readFacts } from './facts.ts';
import type { HermesFacts } from './facts.ts';
import { hermesGuest } from './gateway.ts';
import type { HermesGuest } from './gateway.ts';
import { awaitIdle } from './idle.ts';

const idleTimeoutMs = 90_000;
const apis: readonly LlmApi[] = ['anthropic-messages', 'openai-completions'];
const scratch = '/tmp/lodge-warm-up';

/** The tool calls of the warm-up, in Hermes's names. */
export const toolRounds: ToolRounds = [
  [
    { name: 'write_file', args: { path: scratch, content: 'warm' } },
    { name: 'read_file', args: { path: scratch } },
    { name: `mcp__${hostTools}__${warmupTool}`, args: {} },
  ],
  [{ name: 'terminal', args: { command: `rm -f ${scratch}` } }],
];

export async function prepareTemplate(
  guest: GuestAddress,
  progress: ReportProgress,
  signal: AbortSignal,
): Promise<HermesFacts> {
  const step = { progress, signal };
  const runtime = await start(guest, step);
  await warm(runtime, step);
  return close(runtime, step);
}

/** The early template; its variant rises with every change. */
export const early: EarlyTemplate = {
  variant: '1',
  prepare: async (guest, progress, signal) => ({ ...(await prepareEarly(guest, progress, signal)) }),
  goOn: async (guest, facts, progress, signal) => ({ ...(await goOn(guest, readFacts(facts), progress, signal)) }),
};

async function prepareEarly(guest: GuestAddress, progress: ReportProgress, signal: AbortSignal): Promise<HermesFacts> {
  const step = { progress, signal };
  const runtime = await start(guest, step);
  await warmerOf(runtime, step).first();
  await runtime.guest.sync(false, { signal });
  return close(runtime, step);
}

async function goOn(
  guest: GuestAddress,
  { token }: HermesFacts,
  progress: ReportProgress,
  signal: AbortSignal,
): Promise<HermesFacts> {
  const step = { progress, signal };
  const runtime = hermesGuest(guest, token);
  await warm(runtime, step);
  return close(runtime, step);
}

interface Step {
  readonly progress: ReportProgress;
  readonly signal: AbortSignal;
}

async function start(guest: GuestAddress, { progress, signal }: Step): Promise<HermesGuest> {
  const token = randomBytes(32).toString('hex');
  const runtime = hermesGuest(guest, token);
  progress('writing the configuration of Hermes');
  const write = (path: string, text: string): Promise<void> =>
    runtime.guest.writeFile(path, text, { mode: 0o600, owner: 'agent' }, { signal });
  const [configPath, envPath] = configFiles;
  await write(configPath, hermesConfig());
  await write(envPath, hermesEnv);
  await write(gatewaySettingsPath, `export API_SERVER_KEY=${token}\n`);
  await awaitReady(runtime, signal, (seconds) => progress(`waiting for Hermes to start (${seconds} s)`));
  return runtime;
}

async function warm(runtime: HermesGuest, step: Step): Promise<void> {
  const warmer = warmerOf(runtime, step);
  await warmer.walkAllPaths();
  await warmer.settle();
  step.progress('writing the guest out to its disk');
  await runtime.guest.sync(true, { signal: step.signal });
  await warmer.refresh();
}

async function close(runtime: HermesGuest, { signal }: Step): Promise<HermesFacts> {
  await awaitIdle(runtime, idleTimeoutMs, signal);
  await emptyRuntimeLog(runtime, signal);
  return { token: runtime.token, pictures: true };
}

function warmerOf(runtime: HermesGuest, step: Step): Warmer {
  const model = (api: LlmApi): string => routeFor({ api, contextWindow: null });
  return new Warmer(runtime, { apis, modelFor: model, ...step });
}
