/** `lodge import`: makes an agent of a folder that OpenClaw or Hermes made on another machine. */
import { stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import type { Agent, CreateAgent, Lodge } from '@lodge/sdk';
import { CommandError, exitCodes, usageError } from '../failure.ts';
import type { Run } from '../run.ts';
import { readSecret } from '../secrets.ts';
import { withProgress } from '../terminal/progress.ts';
import { canAsk, confirm } from '../terminal/prompt.ts';
import { quoted, safeLine } from '../terminal/safe.ts';
import { fill } from './fill.ts';
import type { Filled, Filling } from './fill.ts';
import type { FoundFile } from './folder.ts';
import type { Found } from './found.ts';
import { readHermes } from './hermes.ts';
import { readOpenclaw } from './openclaw.ts';

export interface ImportOptions {
  readonly name?: string;
  readonly model?: string;
  readonly provider?: string;
  readonly size?: string;
  readonly workspace?: string;
  readonly agent?: string;
  readonly secret?: Readonly<Record<string, string>>;
  readonly sessions: boolean;
  readonly channels: boolean;
  readonly plan?: true;
}

const waitMs = 30 * 60_000;

export async function importFolder(
  run: Run,
  kind: 'openclaw' | 'hermes',
  given: string | undefined,
  options: ImportOptions,
): Promise<void> {
  const folder = resolve(given ?? join(homedir(), `.${kind}`));
  const isFolder = await stat(folder).then(
    (found) => found.isDirectory(),
    () => false,
  );
  if (!isFolder) throw usageError(`There is no folder ${quoted(folder)}.`, 'Give the one that the runtime made.');
  const read = await withProgress(run.out, 'Reading the folder', () =>
    kind === 'openclaw' ? readOpenclaw(folder, options) : readHermes(folder, options),
  );
  const found = {
    ...read,
    ...(!options.channels && { channels: [] }),
    ...(!options.sessions && { database: null, older: [] }),
  };
  const lodge = await run.lodge();
  const chosen = await choices(run, lodge, found, options);
  if (options.plan) return run.out.result(planJson(found, chosen), () => planText(found, chosen));
  const planned = new Set(leftOutLines(found));
  if (!run.out.isJson) run.out.write(planText(found, chosen));
  if (!run.isYes) await confirm(run, 'Make this agent?');
  const secrets = await askSecrets(run, found, chosen, options);
  const agent = await withProgress(run.out, 'Making the agent', () => make(run, lodge, chosen, secrets));
  const result = await filled(run, lodge, agent, found, { secrets });
  report(run, agent, found, { ...result, planned });
}

async function filled(
  run: Run,
  lodge: Lodge,
  { id }: Agent,
  found: Found,
  filling: Omit<Filling, 'progress'>,
): Promise<Filled> {
  try {
    return await withProgress(run.out, `Waiting for the machine of ${safeLine(id)}`, async (progress) => {
      await lodge.agents.waitUntil(id, 'running', { ...run.call, timeoutMs: waitMs });
      progress.say('Putting its files');
      return fill(run, lodge, id, found, { ...filling, progress });
    });
  } catch (error) {
    const line = safeLine(id);
    run.out.note(
      `${line} is there, with a part of the folder. Delete it with \`lodge agents delete ${line}\`, then import again.`,
    );
    throw error;
  }
}

interface Chosen {
  readonly runtime: Found['runtime'];
  readonly name: string;
  readonly model: string | null;
  readonly provider: string | null;
  readonly size: string | undefined;
}

/** Takes the model over where its provider is one of this deployment's. */
async function choices(run: Run, lodge: Lodge, found: Found, options: ImportOptions): Promise<Chosen> {
  const { data } = await lodge.service.providers(run.call);
  const ids = new Set(data.map(({ id }) => id));
  const isKnown = (id: string | null): id is string => id !== null && ids.has(id);
  if (options.provider !== undefined && !isKnown(options.provider))
    throw usageError(`There is no provider ${quoted(options.provider)}.`, '`lodge providers` lists them.');
  const named = prefixOf(options.model);
  const ofFolder = found.provider ?? prefixOf(found.model);
  // A model of Hermes may have another's name before its own.
  const likely = named !== null && found.runtime === 'openclaw' ? [named] : [named, ofFolder];
  const provider = options.provider ?? likely.find(isKnown) ?? null;
  if (provider === null && options.model !== undefined && found.runtime === 'openclaw')
    throw usageError(`No provider here has the model ${quoted(options.model)}.`, '`lodge providers` lists them.');
  const model = options.model ?? (provider !== null && fits(found, provider) ? found.model : null);
  return {
    runtime: found.runtime,
    name: (options.name ?? basename(found.folder).replace(/^\./, '')).slice(0, 100),
    model: model === null || provider === null ? model : asNamed(found.runtime, model, provider),
    provider,
    size: options.size,
  };
}

const prefixOf = (model: string | null | undefined): string | null =>
  model?.includes('/') ? model.slice(0, model.indexOf('/')) : null;

/** A folder of Hermes may leave the provider to Hermes. */
const fits = ({ provider }: Found, chosen: string): boolean => provider === null || provider === chosen;

/** A model of OpenClaw is named with its provider, and one of Hermes without. */
function asNamed(runtime: Found['runtime'], model: string, provider: string): string {
  const prefix = `${provider}/`;
  const bare = model.startsWith(prefix) ? model.slice(prefix.length) : model;
  return runtime === 'openclaw' ? `${prefix}${bare}` : bare;
}

const bytesOf = (files: readonly FoundFile[]): number => files.reduce((sum, { size }) => sum + size, 0);
const conversationBytes = ({ database, older }: Found): number => (database?.bytes ?? 0) + bytesOf(older);

function planText(found: Found, chosen: Chosen): string {
  const lines = [
    `+ agent ${safeLine(chosen.name)}`,
    `    runtime: ${chosen.runtime}`,
    `    model: ${chosen.model === null ? `the deployment's (${found.model === null ? 'the folder names none' : `${safeLine(found.model, 100)} is of no provider here; give --model`})` : safeLine(chosen.model)}`,
    `    key: ${chosen.provider === null ? 'none; give --provider for one' : `${safeLine(chosen.provider)}, asked for`}`,
    `    workspace: ${found.files.length} files, ${sizeText(bytesOf(found.files))}, of ${safeLine(found.workspace)}`,
    `    conversations: ${conversationBytes(found) === 0 ? 'none' : sizeText(conversationBytes(found))}`,
    ...found.channels.map(
      ({ name, secrets, settings }) =>
        `    channel ${name}: ${settings.access?.mode ?? 'pairing'}${secrets.length > 0 ? `; ${secrets.join(' and ')} asked for` : '; paired afterwards'}`,
    ),
    ...leftOutLines(found),
  ];
  return lines.map((line) => `${line}\n`).join('');
}

const leftOutLines = ({ leftOut }: Found): string[] =>
  leftOut.all.map(({ reason, count, names }) => {
    const shown = names.map((name) => safeLine(name, 60)).join(', ');
    return `  left out, because ${reason}: ${shown}${count > names.length ? ` and ${count - names.length} more` : ''}`;
  });

const planJson = (found: Found, chosen: Chosen): object => ({
  object: 'import_plan',
  ...chosen,
  workspace: found.workspace,
  files: found.files.length,
  bytes: bytesOf(found.files),
  conversation_bytes: conversationBytes(found),
  channels: found.channels.map(({ name, settings }) => ({ name, ...settings })),
  left_out: found.leftOut.all,
});

function sizeText(bytes: number): string {
  if (bytes < 1024 * 1024) return `${Math.ceil(bytes / 1024)} KiB`;
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}

/** Secrets by name, such as `anthropic` and `telegram.botToken`. One that nobody gives is left out. */
async function askSecrets(
  run: Run,
  found: Found,
  { provider }: Chosen,
  { secret: sources = {} }: ImportOptions,
): Promise<Map<string, string>> {
  const wanted = [
    ...(provider === null ? [] : [[provider, `API key of ${provider}`] as const]),
    ...found.channels.flatMap(({ name, secrets }) =>
      secrets.map((field) => [`${name}.${field}`, `${field} of ${name}`] as const),
    ),
  ];
  for (const name of Object.keys(sources))
    if (!wanted.some(([each]) => each === name))
      throw usageError(
        `--secret ${quoted(name)}: nothing here needs it.`,
        `Names: ${wanted.map(([each]) => each).join(', ')}.`,
      );
  const secrets = new Map<string, string>();
  for (const [name, words] of wanted) {
    const source = Object.hasOwn(sources, name) ? sources[name] : undefined;
    const value = await oneSecret(run, name, words, source);
    if (value === null) found.leftOut.add(name, 'nobody gave this secret');
    else secrets.set(name, value);
  }
  return secrets;
}

async function oneSecret(run: Run, name: string, words: string, source: string | undefined): Promise<string | null> {
  if (source === undefined && !canAsk(run)) return null;
  try {
    return await readSecret(run, source, `${words} (nothing leaves it out):`, `--secret ${name}=`);
  } catch (error) {
    // Somebody who gives nothing goes on without it.
    if (source === undefined && error instanceof CommandError && error.exitCode === exitCodes.usage) return null;
    throw error;
  }
}

function make(run: Run, lodge: Lodge, chosen: Chosen, secrets: ReadonlyMap<string, string>): Promise<Agent> {
  const { name, runtime, model, provider, size } = chosen;
  const key = provider === null ? undefined : secrets.get(provider);
  const body = {
    name,
    runtime_kind: runtime,
    ...(model !== null && { model }),
    ...(size !== undefined && { size }),
    ...(key !== undefined && { llm_keys: [{ provider, api_key: key }] }),
  };
  return lodge.agents.create(body as CreateAgent, { ...run.call, query: { wait: false } });
}

interface Reported extends Filled {
  /** Lines that the plan has shown. */
  readonly planned: ReadonlySet<string>;
}

function report(run: Run, agent: Agent, found: Found, { files, conversations, planned }: Reported): void {
  const { id, name } = agent;
  const result = { object: 'import', id, name, files, conversations, left_out: found.leftOut.all };
  run.out.result(result, () => {
    const lines = [
      `Made ${safeLine(name, 100)} (${safeLine(id)}) with ${files} files.`,
      ...(conversations.length === 0
        ? []
        : [
            `Conversations: ${conversations
              .slice(0, 20)
              .map((each) => safeLine(each, 80))
              .join(', ')}`,
          ]),
      ...leftOutLines(found).filter((line) => !planned.has(line)),
    ];
    return lines.map((line) => `${line}\n`).join('');
  });
  if (run.out.isJson) return;
  const [first] = conversations;
  run.out.note(
    first === undefined
      ? `Talk to it: lodge chat ${safeLine(id)}`
      : `Go on: lodge chat ${safeLine(id)} -c ${safeLine(first, 80)}`,
  );
}
