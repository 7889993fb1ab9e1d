/** The agents that the files describe: read and checked as a whole, with the texts and secrets that they name in their places. */
import { resolve } from 'node:path';
import { usageError } from '../../failure.ts';
import type { Run } from '../../run.ts';
import { readText } from '../../values.ts';
import { Checker } from './check.ts';
import type { Path, Schema } from './check.ts';
import { pathText, readSources } from './document.ts';
import type { Problem, Source } from './document.ts';
import { Secret, SecretReader } from './secret.ts';
import { channelAliases } from '../../words.ts';
import type { RuntimeName } from '../../words.ts';

/** A map of the file. Secrets are in their places. */
export interface Values {
  readonly [field: string]: unknown;
}
export interface FilesEntry {
  readonly from?: string;
  readonly text?: string;
  readonly to: string;
  readonly prune?: boolean;
}

export interface WantedAgent extends Values {
  readonly name: string;
  readonly id?: string;
  readonly runtime?: RuntimeName;
  readonly state?: 'running' | 'stopped';
  readonly labels?: Readonly<Record<string, string>>;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly peers?: readonly string[] | null;
  readonly llm_keys?: Readonly<Record<string, Secret>>;
  readonly members?: readonly Values[];
  readonly skills?: readonly Values[];
  readonly files?: readonly FilesEntry[];
  readonly channels?: Readonly<Record<string, Values>>;
  readonly connections?: Readonly<Record<string, Values>>;
  readonly schedules?: readonly Values[];
  readonly hooks?: readonly Values[];
  readonly ports?: readonly Values[];
}

/** An agent, and where it stands. */
export interface Placed {
  readonly agent: WantedAgent;
  /** Paths of its files begin here. */
  readonly folder: string;
  /** Notes a problem of it that shows only beside what is there. */
  problem(path: Path, message: string): Problem;
}

export interface Wanted {
  readonly agents: readonly Placed[];
  /** Undefined: no file mentions webhooks. */
  readonly webhooks: readonly Values[] | undefined;
  /** The labels of each file that has some. */
  readonly labels: readonly Readonly<Record<string, string>>[];
  readonly secrets: readonly Secret[];
}

/** Returns the JSON Schema of the files. */
export async function agentsSchema(): Promise<Schema> {
  const { default: schema } = await import('../../../../../docs/reference/agents.schema.json', {
    with: { type: 'json' },
  });
  return schema;
}

/** The files are wrong. Each problem names its file and line. */
export class WrongFiles extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super('The files are wrong.');
    this.problems = problems;
  }
}

interface Document {
  readonly labels?: Readonly<Record<string, string>>;
  readonly agents?: readonly WantedAgent[];
  readonly webhooks?: readonly Values[];
}

export async function readWanted(run: Run, named: readonly string[] | undefined): Promise<Wanted> {
  const { sources, problems } = await readSources(run, named);
  if (problems.length > 0) throw new WrongFiles(problems);
  if (sources.length === 0)
    throw usageError('The files are empty.', '`lodge apply --schema` prints what they may have.');
  const { found, secrets } = await filled(run, sources, await agentsSchema());
  const agents: Placed[] = [];
  const webhooks: Values[] = [];
  for (const source of sources) {
    const document = source.value as Document;
    for (const [at, agent] of (document.agents ?? []).entries()) {
      const labels = (agent.labels ?? document.labels) ? { ...document.labels, ...agent.labels } : undefined;
      agents.push({
        agent: { ...agent, name: agent.name.trim(), ...(labels && { labels }) },
        folder: source.folder,
        problem: (path, message) => problemAt(source, ['agents', at, ...path], message),
      });
    }
    webhooks.push(...(document.webhooks ?? []));
  }
  found.push(...repeated(agents), ...repeatedWebhooks(sources));
  if (found.length > 0) throw new WrongFiles(found);
  const documents = sources.map(({ value }) => value as Document);
  return {
    agents,
    webhooks: documents.some((document) => document.webhooks !== undefined) ? webhooks : undefined,
    labels: documents.flatMap(({ labels }) => (labels && Object.keys(labels).length > 0 ? [labels] : [])),
    secrets,
  };
}

export const problemAt = (source: Source, path: Path, message: string, isKey = false): Problem => ({
  file: source.file,
  line: source.lineOf(path, isKey),
  path: pathText(path),
  message,
});

/** Checks each document, then puts texts and secrets in the places of their sources. */
async function filled(
  run: Run,
  sources: readonly Source[],
  schema: Schema,
): Promise<{ found: Problem[]; secrets: Secret[] }> {
  const found: Problem[] = [];
  const secrets: Secret[] = [];
  const reader = new SecretReader(run);
  let stdins = 0;
  for (const source of sources) {
    const texts = await readTexts(run, source, found);
    const checker = new Checker(schema);
    checker.check(schema, source.value, []);
    for (const { path, message, isKey } of checker.findings)
      found.push(problemAt(source, texts.get(pathText(path)) ?? path, message, isKey));
    if (checker.findings.length > 0) continue;
    for (const place of checker.secrets) {
      if (place.source.stdin === true && (stdins += 1) > 1) {
        found.push(problemAt(source, place.path, 'a second secret cannot be read from stdin'));
        continue;
      }
      const secret = await reader.read(place, source.folder);
      if (typeof secret === 'string') found.push(problemAt(source, place.path, secret));
      else {
        put(source.value, place.path, secret);
        secrets.push(secret);
      }
    }
  }
  return { found, secrets };
}

/** Reads `{file: …}` of instructions, so that their texts are checked like those in the file. */
async function readTexts(run: Run, { value, folder, ...source }: Source, found: Problem[]): Promise<Map<string, Path>> {
  const read = new Map<string, Path>();
  const agents = listOf((value as Values | null)?.['agents']);
  for (const [at, agent] of agents.entries()) {
    const owners: (readonly [Path, Values])[] = [[['agents', at], agent]];
    for (const [index, member] of listOf(agent['members']).entries())
      owners.push([['agents', at, 'members', index], member]);
    for (const [path, owner] of owners) {
      const name = (owner['instructions'] as Values | null | undefined)?.['file'];
      if (typeof name !== 'string') continue;
      const place = [...path, 'instructions'];
      try {
        put(value, place, await readText(run, resolve(folder, name)));
        read.set(pathText(place), place);
      } catch (error) {
        found.push(
          problemAt({ value, folder, ...source }, place, error instanceof Error ? error.message : 'unreadable'),
        );
      }
    }
  }
  return read;
}

const listOf = (value: unknown): readonly Values[] =>
  Array.isArray(value) ? value.filter((each): each is Values => typeof each === 'object' && each !== null) : [];

function put(root: unknown, path: Path, value: unknown): void {
  let owner = root as Record<string | number, unknown>;
  for (const step of path.slice(0, -1)) owner = owner[step] as Record<string | number, unknown>;
  owner[path.at(-1)!] = value;
}

/** Names that must be there once. */
function repeated(agents: readonly Placed[]): Problem[] {
  const problems: Problem[] = [];
  const names = new Set<string>();
  const ids = new Set<string>();
  for (const placed of agents) {
    const { agent } = placed;
    const note = (path: Path, message: string): void => void problems.push(placed.problem(path, message));
    if (names.has(agent.name)) note(['name'], `another agent of the files has the name ${JSON.stringify(agent.name)}`);
    names.add(agent.name);
    if (agent.id !== undefined && ids.has(agent.id)) note(['id'], 'another agent of the files has this id');
    if (agent.id !== undefined) ids.add(agent.id);
    for (const [section, key] of namedLists) {
      const seen = new Set<unknown>();
      for (const [at, item] of listOf(agent[section]).entries()) {
        if (seen.has(item[key]))
          note([section, at, key], `is there twice; each of ${section} needs a ${key} of its own`);
        seen.add(item[key]);
      }
    }
    for (const [alias, name] of Object.entries(channelAliases))
      if (agent.channels?.[name] && agent.channels[alias]) note(['channels', alias], `is another name of ${name}`);
    for (const [at, { to }] of (agent.files ?? []).entries())
      if (to.split('/').some((part) => part === '..' || part === '.'))
        note(['files', at, 'to'], 'may not have . or ..');
  }
  return problems;
}

const namedLists = [
  ['members', 'name'],
  ['skills', 'name'],
  ['schedules', 'name'],
  ['hooks', 'name'],
  ['ports', 'port'],
] as const;

function repeatedWebhooks(sources: readonly Source[]): Problem[] {
  const seen = new Set<unknown>();
  const problems: Problem[] = [];
  for (const source of sources) {
    for (const [at, { url }] of listOf((source.value as Values)['webhooks']).entries()) {
      if (seen.has(url)) problems.push(problemAt(source, ['webhooks', at, 'url'], 'another webhook has this URL'));
      seen.add(url);
    }
  }
  return problems;
}
