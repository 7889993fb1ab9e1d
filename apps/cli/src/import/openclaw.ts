/** Reads `~/.openclaw`, as OpenClaw makes it: its configuration, an agent's workspace and its conversations. */
import { readdir, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { usageError } from '../failure.ts';
import { quoted } from '../terminal/safe.ts';
import { LeftOut, fileSize, filesBelow, silently, smallText } from './folder.ts';
import type { FoundFile } from './folder.ts';
import { mapOf, textOf } from './found.ts';
import type { Found } from './found.ts';
import { parseJson5 } from './json5.ts';
import { channelsOf } from './openclaw-channels.ts';

export interface OpenclawOptions {
  /** Where the workspace is, if the configuration does not say. */
  readonly workspace?: string;
  /** The agent of the folder, by its id. */
  readonly agent?: string;
}

const mainAgent = 'main';
type Map = Readonly<Record<string, unknown>>;

export async function readOpenclaw(folder: string, options: OpenclawOptions): Promise<Found> {
  const text = await smallText(join(folder, 'openclaw.json'));
  if (text === null) throw usageError(`${quoted(folder)} is no folder of OpenClaw: it has no openclaw.json.`);
  const config = mapOf(parsed(text));
  const agents = mapOf(config['agents']);
  const agent = options.agent ?? defaultAgent(agents);
  if (!/^[a-z0-9][a-z0-9_-]{0,63}$/i.test(agent)) throw usageError(`${quoted(agent)} is no id of an agent.`);
  const own = entryOf(agents, agent);
  if (options.agent !== undefined && own === null && !(await isFolder(join(folder, 'agents', agent))))
    throw usageError(`${quoted(folder)} has no agent ${quoted(agent)}.`, await agentsOf(folder));
  const leftOut = new LeftOut();
  const workspace = await workspaceOf(folder, agent, { options, agents, own: own ?? {} });
  await noteOthers(folder, agent, leftOut);
  return {
    runtime: 'openclaw',
    folder,
    agent,
    workspace,
    ...modelOf(own?.['model'] ?? mapOf(agents['defaults'])['model']),
    files: await filesBelow(workspace, leftOut),
    database: await databaseOf(join(folder, 'agents', agent, 'agent')),
    older: await olderOf(join(folder, 'agents', agent, 'sessions'), leftOut),
    channels: channelsOf(mapOf(config['channels']), leftOut),
    leftOut,
  };
}

function parsed(text: string): unknown {
  try {
    return parseJson5(text);
  } catch {
    throw usageError('openclaw.json cannot be read: it is no JSON.');
  }
}

/** Older releases have a list of agents, newer ones a map. */
const listOf = (agents: Map): readonly Map[] => (Array.isArray(agents['list']) ? agents['list'].map(mapOf) : []);

function entryOf(agents: Map, agent: string): Map | null {
  const entries = mapOf(agents['entries']);
  if (Object.hasOwn(entries, agent)) return mapOf(entries[agent]);
  return listOf(agents).find(({ id }) => id === agent) ?? null;
}

function defaultAgent(agents: Map): string {
  const marked = listOf(agents).find((each) => each['default'] === true);
  return textOf(marked?.['id']) ?? mainAgent;
}

interface Given {
  readonly options: OpenclawOptions;
  readonly agents: Map;
  readonly own: Map;
}

/** A copied folder names paths of its old machine, so what lies within the folder comes first. */
async function workspaceOf(folder: string, agent: string, { options, agents, own }: Given): Promise<string> {
  if (options.workspace !== undefined) {
    if (await isFolder(options.workspace)) return resolve(options.workspace);
    throw usageError(`--workspace ${quoted(options.workspace)} is no folder.`);
  }
  const shared = textOf(mapOf(agents['defaults'])['workspace']);
  const isMain = agent === defaultAgent(agents);
  const inherited = shared === null || isMain ? shared : join(shared, agent);
  const configured = textOf(own['workspace']) ?? inherited;
  const usual = isMain ? 'workspace' : `workspace-${agent}`;
  const places = [within(folder, configured), pathOf(configured), join(folder, usual)];
  for (const place of places) if (place !== null && (await isFolder(place))) return place;
  throw usageError(
    `There is no workspace of ${quoted(agent)} at ${quoted(pathOf(configured) ?? join(folder, usual))}.`,
    'Give its folder with --workspace.',
  );
}

const ownFolder = '/.openclaw/';

/** Returns the place of a path below `.openclaw` in this folder. */
function within(folder: string, path: string | null): string | null {
  const plain = path?.replaceAll('\\', '/') ?? '';
  const at = plain.lastIndexOf(ownFolder);
  const below = plain.slice(at + ownFolder.length);
  return at < 0 || below === '' || below.split('/').includes('..') ? null : join(folder, below);
}

function pathOf(path: string | null): string | null {
  if (path === null) return null;
  if (path.startsWith('~/')) return join(homedir(), path.slice(2));
  return isAbsolute(path) ? path : null;
}

const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  );

function modelOf(value: unknown): Pick<Found, 'model' | 'provider'> {
  const model = textOf(value) ?? textOf(mapOf(value)['primary']);
  const provider = model?.includes('/') ? model.split('/')[0]! : null;
  return { model, provider };
}

async function databaseOf(folder: string): Promise<Found['database']> {
  const file = join(folder, 'openclaw-agent.sqlite');
  const bytes = await fileSize(file);
  if (bytes === null) return null;
  const log = `${file}-wal`;
  const logBytes = await fileSize(log);
  return { file, log: logBytes === null || logBytes === 0 ? null : log, bytes: bytes + (logBytes ?? 0) };
}

const olderIndex = 'sessions.json';

/** OpenClaw before 2026.9 kept an index, and a file for each conversation. A newer one removes the index when it has read it. */
async function olderOf(folder: string, leftOut: LeftOut): Promise<readonly FoundFile[]> {
  const isThere = (await fileSize(join(folder, olderIndex))) !== null;
  if (!isThere) return [];
  return filesBelow(folder, leftOut, (name) => (name === olderIndex || name.endsWith('.jsonl') ? undefined : silently));
}

const idsOf = async (folder: string): Promise<string[]> =>
  (await readdir(join(folder, 'agents')).catch(() => [])).slice(0, 100);

async function agentsOf(folder: string): Promise<string> {
  const ids = await idsOf(folder);
  return ids.length === 0 ? 'It has none.' : `It has ${ids.map(quoted).join(', ')}.`;
}

async function noteOthers(folder: string, agent: string, leftOut: LeftOut): Promise<void> {
  for (const id of await idsOf(folder))
    if (id !== agent) leftOut.add(id, 'it is another agent: import it with --agent');
  for (const name of await readdir(folder).catch(() => [])) {
    if (['credentials', '.env', 'auth-profiles.json'].includes(name)) leftOut.add(name, 'it may hold secrets');
    if (name === 'cron') leftOut.add(name, 'schedules are made with `lodge schedules`');
  }
}
