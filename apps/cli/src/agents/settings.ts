/** Options that `create` and `update` share, and the body that they make. */
import type { Command } from 'commander';
import { Option } from 'commander';
import { usageError } from '../failure.ts';
import type { Run } from '../run.ts';
import { readLlmKeys } from '../secrets.ts';
import type { LlmKey } from '../secrets.ts';
import { addPackages } from './packages.ts';
import type { PackageOptions } from './packages.ts';
import { given, integer, pairs, readObject, readText, several } from '../values.ts';

export interface Settings extends PackageOptions {
  readonly model?: string;
  readonly description?: string;
  readonly instructions?: string;
  readonly instructionsFile?: string;
  readonly llmKey?: readonly string[];
  readonly size?: string;
  readonly label?: Readonly<Record<string, string>>;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly allowModel?: readonly string[];
  readonly peer?: readonly string[];
  readonly dailyUsd?: string;
  readonly monthlyUsd?: string;
  readonly onLimit?: string;
  readonly keepAwake?: string;
  readonly idleTimeout?: number;
  readonly browser?: boolean;
  readonly input?: string;
}

/** One year. */
const maxSeconds = 31_536_000;

export function addSettings(command: Command): Command {
  return addPackages(command)
    .option('--model <name>', 'model, such as anthropic/claude-sonnet-5')
    .option(
      '--llm-key <provider[=source]>',
      "a provider's key: asked for, or env:NAME, file:PATH, - for stdin",
      several,
    )
    .option('--size <size>', 'size of the machine: `lodge sizes` lists them')
    .option('--description <text>', 'what it is for')
    .option('--instructions <text>', 'who the agent is and how it works')
    .option('--instructions-file <path>', 'the same from a file, - for stdin')
    .option('--label <name=value>', 'a label, by which lists find it; several times for several', pairs)
    .option('--metadata <name=value>', 'a pair for your own use; several times for several pairs', pairs)
    .option('--allow-model <name>', 'another model that it may call; several times for several', several)
    .option('--peer <id>', 'an agent that it may ask, * for all; several times for several', several)
    .option('--daily-usd <amount>', 'most that its model calls may cost in a day')
    .option('--monthly-usd <amount>', 'most that its model calls may cost in a month')
    .addOption(new Option('--on-limit <action>', 'what a reached limit does').choices(['block', 'pause']))
    .addOption(new Option('--keep-awake <mode>', 'whether it sleeps when idle').choices(['auto', 'always']))
    .option('--idle-timeout <seconds>', 'idle for this long, it sleeps; 0 is never', integer(0, maxSeconds))
    .option('--browser', 'a browser in its machine')
    .option('--no-browser', 'no browser in its machine')
    .option('--input <path>', 'a JSON file with more fields of the request, - for stdin');
}

/** Returns the fields of a request. Options go before those of the file. */
export async function settingsBody(run: Run, settings: Settings): Promise<Record<string, unknown>> {
  const { dailyUsd, monthlyUsd, onLimit, keepAwake, idleTimeout, instructionsFile, llmKey } = settings;
  if (
    [settings.input, instructionsFile, ...(llmKey ?? [])].filter((each) => each === '-' || each?.endsWith('=-'))
      .length > 1
  )
    throw usageError('Only one option can read stdin.');
  if (settings.instructions !== undefined && instructionsFile !== undefined)
    throw usageError('--instructions and --instructions-file cannot both be given.');
  const body = settings.input === undefined ? {} : await readObject(run, settings.input);
  const instructions = instructionsFile === undefined ? settings.instructions : await readText(run, instructionsFile);
  const llmKeys: LlmKey[] | undefined = await readLlmKeys(run, llmKey);
  const hasLimit = dailyUsd !== undefined || monthlyUsd !== undefined;
  if (onLimit !== undefined && !hasLimit) throw usageError('--on-limit goes with --daily-usd or --monthly-usd.');
  const lifecycle = given({ keep_awake: keepAwake, idle_timeout_seconds: idleTimeout });
  return {
    ...body,
    ...given({
      model: settings.model,
      size: settings.size,
      description: settings.description,
      labels: settings.label,
      metadata: settings.metadata,
      models: settings.allowModel,
      peers: settings.peer,
      browser: settings.browser,
      instructions,
      llm_keys: llmKeys,
    }),
    ...(Object.keys(lifecycle).length > 0 && {
      lifecycle: { ...(body['lifecycle'] as object | undefined), ...lifecycle },
    }),
    ...(hasLimit && {
      spend_limit: given({ daily_usd: dailyUsd, monthly_usd: monthlyUsd, action: onLimit ?? 'block' }),
    }),
  };
}
