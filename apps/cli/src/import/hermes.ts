/** Reads `~/.hermes`, as Hermes Agent makes it: identity, memories, skills, conversations, and the channels' settings. */
import { join } from 'node:path';
import { parse } from 'yaml';
import { usageError } from '../failure.ts';
import { quoted } from '../terminal/safe.ts';
import { LeftOut, fileSize, filesBelow, silently, smallText } from './folder.ts';
import { entriesOf, mapOf, textOf } from './found.ts';
import type { Access, Found, FoundChannel } from './found.ts';

/** Taken over, with all below them. The rest is Hermes's own: programs, logs, caches, and what Lodge configures. */
const taken = new Set(['SOUL.md', 'memories', 'skills', 'AGENTS.md', 'USER.md', 'workspace', 'notes']);
const reasons: Readonly<Record<string, string>> = {
  'config.yaml': 'Lodge configures the runtime itself',
  '.env': 'it may hold secrets',
  'auth.json': 'it may hold secrets',
  sessions: 'conversations are read from state.db',
  cron: 'schedules are made with `lodge schedules`',
  profiles: 'it has other agents: import each folder in it by itself',
};

export async function readHermes(folder: string, options: { readonly workspace?: string }): Promise<Found> {
  const [configText, envText] = [await smallText(join(folder, 'config.yaml')), await smallText(join(folder, '.env'))];
  const stateBytes = await fileSize(join(folder, 'state.db'));
  if (configText === null && stateBytes === null)
    throw usageError(`${quoted(folder)} is no folder of Hermes: it has neither config.yaml nor state.db.`);
  const leftOut = new LeftOut();
  const files = await filesBelow(folder, leftOut, (path) => skipped(path));
  if (options.workspace !== undefined) files.push(...(await filesBelow(options.workspace, leftOut)));
  const log = join(folder, 'state.db-wal');
  const logBytes = (await fileSize(log)) ?? 0;
  return {
    runtime: 'hermes',
    folder,
    agent: 'main',
    workspace: folder,
    ...modelOf(configText),
    files,
    database:
      stateBytes === null
        ? null
        : { file: join(folder, 'state.db'), log: logBytes > 0 ? log : null, bytes: stateBytes + logBytes },
    older: [],
    channels: channelsOf(variablesOf(envText ?? '')),
    leftOut,
  };
}

function skipped(path: string): string | undefined {
  const [top] = path.split('/');
  if (taken.has(top!)) return undefined;
  if (/^state\.db(?:-wal|-shm)?$/.test(path)) return silently;
  return reasons[top!] ?? "it is Hermes's own";
}

function modelOf(text: string | null): Pick<Found, 'model' | 'provider'> {
  let config: unknown;
  try {
    config = parse(text ?? '', { maxAliasCount: 100 });
  } catch {
    config = null;
  }
  const value = mapOf(config)['model'];
  const model = textOf(value) ?? textOf(mapOf(value)['default']) ?? textOf(mapOf(value)['model']);
  const provider = textOf(mapOf(value)['provider']);
  return { model, provider: provider === null || /^(?:custom|auto)(?::|$)/.test(provider) ? null : provider };
}

/** Returns the names of the variables that are set, and the values of those that are no secrets. */
function variablesOf(text: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  for (const line of text.split('\n').slice(0, 10_000)) {
    const at = line.indexOf('=');
    const name = line
      .slice(0, Math.max(0, at))
      .trim()
      .replace(/^export /, '');
    const value = line.slice(at + 1).replaceAll(/["'\s]/g, '');
    if (!/^[A-Z][A-Z0-9_]{0,63}$/.test(name) || value === '') continue;
    found.set(name, /TOKEN|KEY|SECRET|PASSWORD/.test(name) ? '' : value);
  }
  return found;
}

const platforms = [
  ['telegram', 'TELEGRAM_BOT_TOKEN', ['botToken']],
  ['slack', 'SLACK_BOT_TOKEN', ['appToken', 'botToken']],
  ['discord', 'DISCORD_BOT_TOKEN', ['botToken']],
  ['whatsapp', 'WHATSAPP_ENABLED', []],
] as const;

function channelsOf(variables: ReadonlyMap<string, string>): FoundChannel[] {
  return platforms.flatMap(([name, sign, secrets]) => {
    if (!variables.has(sign)) return [];
    const prefix = name.toUpperCase();
    const allowed = (variables.get(`${prefix}_ALLOWED_USERS`) ?? '').split(',').map((each) => each.trim());
    const isOpen = variables.get(`${prefix}_ALLOW_ALL_USERS`) === 'true' || allowed.includes('*');
    const names = entriesOf(allowed);
    const access: Access = { mode: isOpen ? 'open' : names.length > 0 ? 'allowlist' : 'pairing', allow_from: names };
    return [{ name, secrets, settings: { enabled: true, access } }];
  });
}
