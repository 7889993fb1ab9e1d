/** `lodge agents update`. */
import type { UpdateAgent } from '@lodge/sdk';
import type { Command } from 'commander';
import { Option } from 'commander';
import { agentOf } from '../agent-of.ts';
import { agentArgument } from '../arguments.ts';
import { examples } from '../examples.ts';
import { usageError } from '../failure.ts';
import type { On, Run } from '../run.ts';
import { several } from '../values.ts';
import { listsOf, packagesField, resettableLists } from './packages.ts';
import { addSettings, settingsBody } from './settings.ts';
import type { Settings } from './settings.ts';
import { agentFields } from './shown.ts';

interface UpdateOptions extends Settings {
  readonly name?: string;
  readonly removeLlmKey?: readonly string[];
  readonly removeLabel?: readonly string[];
  readonly removeMetadata?: readonly string[];
  readonly reset?: readonly string[];
}

const resettable = [
  'labels',
  'model',
  'description',
  'instructions',
  'size',
  'lifecycle',
  'metadata',
  'spend_limit',
  'egress',
  ...resettableLists,
  'models',
  'peers',
  'llm_keys',
  'dashboard',
  'browser',
];

export function define(command: Command, on: On): void {
  const update = addSettings(
    command
      .command('update')
      .argument(...agentArgument)
      .description('Change settings of an agent. Only what is given changes.')
      .option('--name <text>', 'another display name'),
  )
    .option('--remove-llm-key <provider>', 'forget the key of a provider; several times for several', several)
    .option('--remove-label <name>', 'remove a label; several times for several', several)
    .option('--remove-metadata <name>', 'remove a pair; several times for several', several)
    .addOption(new Option('--reset <field...>', 'set fields back to their defaults').choices(resettable));
  examples(
    update,
    ['lodge agents update ada --size large', 'give it a larger machine'],
    ['lodge agents update ada --llm-key anthropic=file:key.txt', "replace a provider's key"],
    ['lodge agents update ada --instructions-file ada.md', 'say anew who it is'],
    ['lodge agents update ada --apt ffmpeg --apt jq', "replace the list of Debian's packages in its machine"],
    ['lodge agents update ada --reset packages.apt', 'remove these packages'],
    ['lodge agents update ada --reset spend_limit', 'remove its spend limit'],
  ).action(on(updateAgent));
}

async function updateAgent(run: Run, options: UpdateOptions, meant: string): Promise<void> {
  const body = await settingsBody(run, options);
  const reset = options.reset ?? [];
  const lists = listsOf(options, reset);
  const removed = (options.removeLlmKey ?? []).map((provider) => ({ provider, api_key: null }));
  const change = {
    ...body,
    ...Object.fromEntries(reset.filter((field) => !field.includes('.')).map((field) => [field, null])),
    ...(options.name !== undefined && { name: options.name }),
    ...(removed.length > 0 && { llm_keys: [...((body['llm_keys'] as object[] | undefined) ?? []), ...removed] }),
    ...without(body, 'labels', options.removeLabel),
    ...without(body, 'metadata', options.removeMetadata),
  };
  if (Object.keys(change).length === 0 && lists === undefined)
    throw usageError('Nothing to change was given.', 'lodge agents update --help lists what can be.');
  const { id, packages } = await agentOf(run, meant);
  const others = Object.hasOwn(change, 'packages') ? (change as UpdateAgent).packages : packages;
  const lodge = await run.lodge();
  const whole = { ...change, ...packagesField(lists, others) } as UpdateAgent;
  const agent = await lodge.agents.update(id, whole, run.call);
  run.out.result(agent, () => agentFields(run.out, agent));
  if (agent.settings_pending && !run.out.isJson)
    run.out.note(
      `The machine takes this over within ${lists ? 'minutes' : 'seconds'} while it runs, else at its next start.`,
    );
}

/** Returns the pairs of a field, with null for those that are removed. */
function without(
  body: Record<string, unknown>,
  field: string,
  removed: readonly string[] = [],
): Record<string, unknown> {
  if (removed.length === 0) return {};
  return {
    [field]: { ...(body[field] as object | undefined), ...Object.fromEntries(removed.map((name) => [name, null])) },
  };
}
