/** Reads `~/.openclaw`, as OpenClaw makes it: its configuration, an agent's workspace and its conversations. */
import { homedir } from 'node:os';
import { isAbsolute, join, resolve } from 'node:path';
import { readdir } from 'node:fs/promises';
import { parse } from 'yaml';
import { usageError } from '../failure.ts';
import { quoted } from '../terminal/safe.ts';
import { LeftOut, fileSize, filesBelow, smallText } from './folder.ts';
import { entriesOf, mapOf, modeOf, textOf } from './found.ts';
import type { Access, Found, FoundChannel } from './found.ts';

export interface OpenclawOptions {
  /** Where the workspace is, if the configuration does not say. */
  readonly workspace?: string;
  /** The agent of the folder, by its id. */
  readonly agent?: string;
}

const mainAgent = 'main';

export async function readOpenclaw(folder: string, options: OpenclawOptions): Promise<Found> {
  const text = await smallText(join(folder, 'openclaw.json'));
  if (text === null) throw usageError(`${quoted(folder)} is no folder of OpenClaw: it has no openclaw.json.`);
  const config = mapOf(parsed(text));
  const agents = mapOf(config['agents']);
  const agent = options.agent ?? mainAgent;
  if (!/^[a-z0-9][a-z0-9_-]{0,63}$/i.test(agent)) throw usageError(`${quoted(agent)} is no id of an agent.`);
  const own = mapOf(mapOf(agents['entries'])[agent]);
  const defaults = mapOf(agents['defaults']);
  const leftOut = new LeftOut();
  const configured = textOf(own['workspace']) ?? textOf(defaults['workspace']);
  const workspace = options.workspace ?? pathOf(configured) ?? join(folder, 'workspace');
  await noteOthers(folder, agent, leftOut);
  return {
    runtime: 'openclaw',
    folder,
    ...modelOf(own['model'] ?? defaults['model']),
    files: await filesBelow(resolve(workspace), leftOut),
    database: await databaseOf(join(folder, 'agents', agent, 'agent'), leftOut),
    channels: channelsOf(mapOf(config['channels'])),
    leftOut,
  };
}

/** The file is JSON with comments. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    const lines = text.split('\n').filter((line) => !line.trimStart().startsWith('//'));
    try {
      return parse(lines.join('\n'), { maxAliasCount: 0 });
    } catch {
      throw usageError('openclaw.json cannot be read: it is no JSON.');
    }
  }
}

function pathOf(path: string | null): string | undefined {
  if (path === null) return undefined;
  if (path.startsWith('~/')) return join(homedir(), path.slice(2));
  return isAbsolute(path) ? path : undefined;
}

function modelOf(value: unknown): Pick<Found, 'model' | 'provider'> {
  const model = textOf(value) ?? textOf(mapOf(value)['primary']);
  const provider = model?.includes('/') ? model.split('/')[0]! : null;
  return { model, provider };
}

async function databaseOf(folder: string, leftOut: LeftOut): Promise<Found['database']> {
  const file = join(folder, 'openclaw-agent.sqlite');
  const bytes = await fileSize(file);
  if (bytes === null) {
    leftOut.add(
      'sessions',
      'conversations of OpenClaw before 2026.9 are not read: start the newest OpenClaw on it once',
    );
    return null;
  }
  const log = `${file}-wal`;
  const logBytes = await fileSize(log);
  return { file, log: logBytes === null || logBytes === 0 ? null : log, bytes: bytes + (logBytes ?? 0) };
}

async function noteOthers(folder: string, agent: string, leftOut: LeftOut): Promise<void> {
  const ids = await readdir(join(folder, 'agents')).catch(() => []);
  for (const id of ids.slice(0, 100)) if (id !== agent) leftOut.add(id, 'it is another agent: import it with --agent');
  for (const name of await readdir(folder).catch(() => [])) {
    if (['credentials', '.env', 'auth-profiles.json'].includes(name)) leftOut.add(name, 'it may hold secrets');
    if (name === 'cron') leftOut.add(name, 'schedules are made with `lodge schedules`');
  }
}

const platforms = [
  ['telegram', ['botToken']],
  ['slack', ['appToken', 'botToken']],
  ['discord', ['botToken']],
  ['whatsapp', []],
] as const;

function channelsOf(channels: Readonly<Record<string, unknown>>): FoundChannel[] {
  return platforms.flatMap(([name, secrets]) => {
    const settings = mapOf(channels[name]);
    if (Object.keys(settings).length === 0) return [];
    return [{ name, secrets, settings: { enabled: settings['enabled'] !== false, access: accessOf(settings) } }];
  });
}

function accessOf(settings: Readonly<Record<string, unknown>>): Access {
  const groups = mapOf(settings['groups']);
  const policy = settings['groupPolicy'];
  const everyGroup = mapOf(groups['*']);
  return {
    mode: modeOf(settings['dmPolicy']),
    allow_from: entriesOf(settings['allowFrom']),
    groups: {
      mode: policy === 'open' || policy === 'disabled' ? policy : 'allowlist',
      allow: entriesOf(Object.keys(groups)),
      require_mention: everyGroup['requireMention'] !== false,
    },
  };
}
