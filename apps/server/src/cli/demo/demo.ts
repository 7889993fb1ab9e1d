/**
 * Shows the whole round without a provider account: a separate Lodge with a stub LLM, an agent, a chat, a stream, a command
 * that the agent runs in its VM, and the removal of everything. Instance name, port, addresses, user ids and data folder are
 * separate, so it runs beside a Lodge in use; images and templates are shared with it. A demo that is killed hard leaves its
 * folder, by which the next one removes the rest first.
 */
import { rm } from 'node:fs/promises';
import { parseArgs } from 'node:util';
import { startStubLlm } from '@lodge/testkit/llm';
import type { StubLlm } from '@lodge/testkit/llm';
import { readConfig } from '../../config/config.ts';
import type { Config } from '../../config/config.ts';
import { AlreadyRunningError } from '../../host/instance-lock.ts';
import { CommandError, commandLog, say } from '../command.ts';
import type { Command } from '../command.ts';
import { stubAnswer } from '../stub-llm-answers.ts';
import { takeDown } from '../take-down.ts';
import { playRound } from './round.ts';
import { startService } from './service.ts';
import { TemplateTeller } from './template-teller.ts';

/** Beside the 16,384 user ids of a Lodge in use. */
const uidDistance = 2 ** 14;

export const demo: Command = async (args, env) => {
  const { values } = parseArgs({ args, options: { 'network-range': { type: 'string', default: '10.202.0.0/24' } } });
  const startedAt = performance.now();
  const tell = (what: string): void =>
    say(`${((performance.now() - startedAt) / 1000).toFixed(1).padStart(7)} s  ${what}`);
  const interrupted = new AbortController();
  const interrupt = (): void => {
    if (interrupted.signal.aborted) process.exit(130);
    tell('interrupted; a second Ctrl-C ends at once and leaves the rest to the next demo');
    interrupted.abort();
  };
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt);

  say('A Lodge of its own with a stub for the LLM provider. Ctrl-C takes everything down.\n');
  const llm = await startStubLlm();
  const own = demoEnvironment(env, values['network-range'], llm);
  const config = readConfig(own);
  try {
    await clear(config, env, () => undefined);
    await runDemo(config, own, llm, tell, interrupted.signal);
    return 0;
  } catch (error) {
    if (!interrupted.signal.aborted) throw error;
    return 130;
  } finally {
    await clear(config, env, tell);
    await llm.close();
    tell('nothing of the demo is left but the image and the template, which npm start uses too');
  }
};

function demoEnvironment(env: NodeJS.ProcessEnv, networkRange: string, llm: StubLlm): NodeJS.ProcessEnv {
  const operators = readConfig(env);
  return {
    ...env,
    DATABASE_URL: '',
    LODGE_HOST: '',
    LODGE_PORT: '0',
    LODGE_PUBLIC_URL: '',
    LODGE_MASTER_KEY_FILE: '',
    LODGE_DATA_DIR: `${operators.dataDir}-demo`,
    LODGE_INSTANCE: 'demo',
    LODGE_NETWORK_RANGE: networkRange,
    LODGE_VM_UID_BASE: String(operators.vmUidBase + uidDistance),
    LODGE_PROVIDERS: JSON.stringify([{ id: 'stub', name: 'Stub', base_url: llm.openaiBaseUrl }]),
    LODGE_DEFAULT_MODEL: 'stub/demo',
  };
}

async function runDemo(
  config: Config,
  env: NodeJS.ProcessEnv,
  llm: StubLlm,
  tell: (what: string) => void,
  signal: AbortSignal,
): Promise<void> {
  llm.rule((request) => {
    const answer = stubAnswer(request);
    const [call] = answer.toolCalls ?? [];
    const does = call ? `asks for the tool ${call.name}: ${String(call.arguments['command'])}` : 'answers';
    tell(`    the agent asks its model (${request.tools.length} tools offered); the model ${does}`);
    return answer;
  });
  tell(`stub LLM provider at ${llm.openaiBaseUrl}`);
  const teller = new TemplateTeller(tell);
  const lodge = await startService(env, (line) => teller.hear(line));
  try {
    tell(`Lodge answers at ${lodge.baseUrl}`);
    const round = async (): Promise<void> => {
      await teller.untilReady(signal);
      const { baseUrl, apiKey } = lodge;
      await playRound({ baseUrl, apiKey, dataDir: config.dataDir, tell, signal });
    };
    await Promise.race([round(), lodge.ended]);
  } finally {
    await lodge.close();
  }
}

/** Removes the remains of this or an earlier demo: processes, networks, files. */
async function clear(config: Config, env: NodeJS.ProcessEnv, tell: (what: string) => void): Promise<void> {
  try {
    await takeDown(config, commandLog(env), tell);
  } catch (error) {
    if (!(error instanceof AlreadyRunningError)) throw error;
    throw new CommandError('Another demo runs on this machine. Wait for it, or end it with Ctrl-C.', { cause: error });
  }
  await rm(config.dataDir, { recursive: true, force: true });
}
