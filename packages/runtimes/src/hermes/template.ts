/**
 * From a cold guest to one that is worth cloning: configured, running, warm. The steps are those of OpenClaw's template; there
 * is no suspension, as a gateway that has nothing in hand does nothing.
 */
import { randomBytes } from 'node:crypto';
import type { GuestAddress, LlmApi, ReportProgress } from '@lodge/ports';
import { emptyRuntimeLog } from '../guest-calls.ts';
import { awaitReady } from '../ready.ts';
import { Warmer } from '../warmer.ts';
import { hostTools } from '../host-tools.ts';
import type { ToolRounds } from '../warmup-llm.ts';
import { warmupTool } from '../warmup-mcp.ts';
import { configFiles, gatewaySettingsPath, hermesConfig, hermesEnv, routeFor } from './config.ts';
import type { HermesFacts } from './facts.ts';
import { hermesGuest } from './gateway.ts';
import { awaitIdle } from './idle.ts';

const idleTimeoutMs = 90_000;
const apis: readonly LlmApi[] = ['anthropic-messages', 'openai-completions'];
const scratch = '/tmp/lodge-warm-up';

/** What the warm-up does with Hermes's tools. */
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
  const model = (api: LlmApi): string => routeFor({ api, contextWindow: null });
  const warmer = new Warmer(runtime, { apis, modelFor: model, progress, signal });
  await warmer.walkAllPaths();
  await warmer.settle();
  progress('writing the guest out to its disk');
  await runtime.guest.sync(true, { signal });
  await warmer.refresh();
  await awaitIdle(runtime, idleTimeoutMs, signal);
  await emptyRuntimeLog(runtime, signal);
  return { token, pictures: true };
}
