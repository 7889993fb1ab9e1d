/** `lodge agents create`. */
import type { Agent, CreateAgent } from '@lodge/sdk';
import type { Command } from 'commander';
import { Option } from 'commander';
import { examples } from '../examples.ts';
import { CommandError, exitCodes, usageError } from '../failure.ts';
import type { On, Run } from '../run.ts';
import { withProgress } from '../terminal/progress.ts';
import { safeLine } from '../terminal/safe.ts';
import { listsOf, packagesField } from './packages.ts';
import { agentLine } from './shown.ts';
import { addSettings, settingsBody } from './settings.ts';
import type { Settings } from './settings.ts';
import { runtimes } from '../words.ts';

interface CreateOptions extends Settings {
  readonly runtime?: string;
  readonly checkKeys?: true;
  readonly wait: boolean;
}

/** An agent waits for the image and the template of a new deployment, which take minutes. */
const waitMs = 30 * 60_000;

export function define(command: Command, on: On): void {
  const create = addSettings(
    command
      .command('create')
      .argument('[name]', 'display name')
      .description('Make an agent, and wait until it runs.')
      .addOption(new Option('--runtime <kind>', 'software of the agent').choices(Object.values(runtimes))),
  )
    .option('--check-keys', 'ask the providers first whether they accept the keys')
    .option('--no-wait', 'return at once, before it runs');
  examples(
    create,
    [
      'lodge agents create ada --model anthropic/claude-sonnet-5 --llm-key anthropic',
      'make an agent; its key is asked for',
    ],
    [
      'lodge agents create ada --model openai/gpt-5 --llm-key openai=env:OPENAI_API_KEY',
      'take the key from a variable',
    ],
    ['lodge agents create ada --input agent.json --apt ffmpeg --pip pandas==2.3.1', 'with packages in its machine'],
    ['lodge agents create --input agent.json --json', 'make what a file of the API describes'],
  ).action(on(createAgent));
}

async function createAgent(run: Run, options: CreateOptions, name: string | undefined): Promise<void> {
  const lodge = await run.lodge();
  const settings = await settingsBody(run, options);
  const body = {
    ...settings,
    ...packagesField(listsOf(options), settings['packages']),
    ...(name !== undefined && { name }),
    ...(options.runtime !== undefined && { runtime_kind: options.runtime }),
    ...(options.checkKeys && { check_keys: true }),
  } as unknown as CreateAgent;
  if (typeof body.name !== 'string') throw usageError('The agent needs a name.', 'lodge agents create NAME ...');
  const agent = await withProgress(run.out, 'Making the agent', async (progress) => {
    const made = await lodge.agents.create(body, { ...run.call, query: { wait: false } });
    if (!options.wait) return made;
    progress.say(`${safeLine(made.name, 60)} (${safeLine(made.id)}) is being provisioned`);
    return untilRunning(run, made);
  });
  run.out.result(agent, () => agentLine(agent));
  if (agent.status === 'error')
    throw new CommandError(
      exitCodes.failure,
      agent.status_reason?.message ?? 'The agent did not start.',
      `\`lodge logs ${agent.id}\` may say more.`,
    );
  if (!run.out.isJson && options.wait) run.out.note(`Talk to it: lodge chat ${safeLine(agent.id)}`);
}

/** An agent that ends in an error is returned as it is then. */
async function untilRunning(run: Run, made: Agent): Promise<Agent> {
  const lodge = await run.lodge();
  try {
    return await lodge.agents.waitUntil(made.id, 'running', { ...run.call, timeoutMs: waitMs });
  } catch (error) {
    if (error instanceof Error && error.name === 'StateError') return lodge.agents.get(made.id, run.call);
    throw error;
  }
}
