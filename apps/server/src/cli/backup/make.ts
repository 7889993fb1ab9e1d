/**
 * One backup of everything, beside a Lodge that runs or not. The database comes first, at one moment; then each machine. An
 * agent's actions in between are on its disk and not in the database: as after a crash, they may be done again, and are
 * never lost.
 */
import { createWriteStream } from 'node:fs';
import { mkdir, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Progress, Repository } from '@lodge/backup';
import type { Log } from '@lodge/ports';
import { dumpDatabase } from '@lodge/store';
import { agentsHere, portableTemplate, savedIds, stageSaved, withAgentFiles } from '@lodge/vm/portable';
import type { AgentFiles } from '@lodge/vm/portable';
import { allSettings } from '../../config/config.ts';
import type { Config } from '../../config/config.ts';
import { version } from '../../version.ts';
import { CommandError } from '../command.ts';
import { listFile, stagingName, tableFile } from './list.ts';
import type { BackedUpAgent, BackedUpSaved, BackedUpTemplate, BackupList } from './list.ts';
import { Parts } from './parts.ts';

const notKept = new Set(['LODGE_MASTER_KEY', 'LODGE_MASTER_KEY_COMMAND', 'LODGE_MASTER_KEY_FILE', 'DATABASE_URL']);

export interface MakeOptions {
  readonly config: Config;
  readonly env: NodeJS.ProcessEnv;
  readonly repository: Repository;
  readonly databaseUrl: string;
  readonly name: string;
  readonly at: Date;
  readonly log: Log;
  readonly tell: (line: string) => void;
  readonly onProgress: (progress: Progress) => void;
}

export interface Made {
  readonly list: BackupList;
  readonly addedBytes: number;
}

/** The caller has the lock of backups. Running machines' disks are copied on the same file system, by reference where it can. */
export async function makeBackup(options: MakeOptions): Promise<Made> {
  const { config, repository, name, onProgress } = options;
  const { dataDir } = config;
  const staging = join(dataDir, stagingName);
  await rm(staging, { recursive: true, force: true });
  await mkdir(staging, { mode: 0o700 });
  const floorBytes = config.diskFloorMib * 2 ** 20;
  const parts = new Parts({ repository, backup: name, dataDir, floorBytes, onProgress });
  try {
    const database = await dumpTables(options);
    const work = new Work(options, parts, database.files);
    const agents = await work.storeAgents(staging);
    const saved = await work.storeSaved(staging);
    const list: BackupList = {
      version: 2,
      at: options.at.toISOString(),
      release: version,
      instance: config.instance,
      database: {
        part: work.databasePart,
        facts: database.facts as BackupList['database']['facts'],
        bytes: database.bytes,
      },
      agents,
      saved,
      templates: work.templates,
      settings: settingsOf(options.env),
    };
    await writeFile(join(dataDir, listFile), JSON.stringify(list), { mode: 0o600 });
    const files = [listFile];
    const parent = repository.parentOf(null);
    const { addedBytes } = await repository.store({
      backup: name,
      part: null,
      folder: dataDir,
      files,
      scratch: staging,
      parent,
      onProgress,
    });
    return { list, addedBytes: addedBytes + parts.addedBytes };
  } finally {
    parts.abandon();
    await rm(staging, { recursive: true, force: true });
  }
}

async function dumpTables({ config: { dataDir }, databaseUrl: connectionString }: MakeOptions) {
  const files: string[] = [];
  let bytes = 0;
  const facts = await dumpDatabase({ connectionString }, async (table, rows) => {
    const name = tableFile(table);
    await mkdir(dirname(join(dataDir, name)), { recursive: true, mode: 0o700 });
    await pipeline(Readable.from(rows), createWriteStream(join(dataDir, name), { mode: 0o600 }));
    bytes += (await stat(join(dataDir, name))).size;
    files.push(name);
  });
  return { facts, files, bytes };
}

class Work {
  databasePart = 1;
  readonly templates: BackedUpTemplate[] = [];
  private readonly options: MakeOptions;
  private readonly parts: Parts;
  private tables: readonly string[];

  constructor(options: MakeOptions, parts: Parts, tables: readonly string[]) {
    this.options = options;
    this.parts = parts;
    this.tables = tables;
  }

  async storeAgents(staging: string): Promise<BackedUpAgent[]> {
    const { dataDir } = this.options.config;
    const { parts } = this;
    const under: Promise<BackedUpAgent | null>[] = [];
    const needed = new Set<string>();
    for (const agentId of await agentsHere(dataDir)) {
      parts.listen();
      const agent = withAgentFiles({ dataDir, staging }, agentId, (found) => {
        needed.add(found.templateId);
        return this.take(found);
      }).catch((error: unknown) => {
        throw withoutRoom(error, agentId);
      });
      under.push(agent);
      await Promise.race([parts.nextJoin(), agent]);
      if (await parts.isFull()) await this.storePart(needed);
    }
    const all = Promise.all(under);
    all.catch(() => undefined);
    for (let isOver = false; !isOver;) {
      parts.listen();
      await this.storePart(needed);
      isOver = await Promise.race([all.then(() => true), parts.nextJoin().then(() => false)]);
    }
    return (await all).filter((agent) => agent !== null);
  }

  /**
   * Stores saved machines, which are as they are however long that takes. One that was freed meanwhile is left out: its row
   * says after a restore that it is damaged.
   */
  async storeSaved(staging: string): Promise<BackedUpSaved[]> {
    const { dataDir } = this.options.config;
    const staged: Omit<BackedUpSaved, 'part'>[] = [];
    const beside: string[] = [];
    const needed = new Set<string>();
    for (const id of await savedIds(dataDir)) {
      const found = await stageSaved(dataDir, staging, id);
      if (found === null) continue;
      const files: Record<string, number> = {};
      for (const { name, path } of found.files) {
        files[name] = (await stat(path)).size;
        beside.push(path.slice(dataDir.length + 1));
      }
      needed.add(found.templateId);
      staged.push({ id, files });
      this.options.tell(`  snapshot ${id} of agent ${found.agentId}`);
    }
    if (staged.length === 0) return [];
    const part = await this.storePart(needed, beside);
    return staged.map((each) => ({ ...each, part }));
  }

  private async take(found: AgentFiles): Promise<BackedUpAgent> {
    const { config, log, tell } = this.options;
    const { agentId, templateId, record, frozenMs, unsynced } = found;
    const files: Record<string, { bytes: number; from: string }> = {};
    for (const { name, path } of found.files) {
      files[name] = { bytes: (await stat(path)).size, from: path.slice(config.dataDir.length + 1) };
    }
    const part = await this.parts.join(found);
    if (unsynced !== null) log.warn({ agent_id: agentId, why: unsynced }, 'the guest did not write out its cache');
    tell(`  agent ${agentId}: ${frozenMs === null ? 'as it lies' : `ran, stood still for ${frozenMs} ms`}`);
    return { agentId, templateId, ran: frozenMs !== null, part, files, record };
  }

  /** Stores the waiting agents, with the database if it is not stored yet, and the agents' templates that are not. */
  private async storePart(needed: ReadonlySet<string>, more: readonly string[] = []): Promise<number> {
    const { dataDir } = this.options.config;
    const beside = [...this.tables, ...more];
    const fresh: Omit<BackedUpTemplate, 'part'>[] = [];
    for (const id of needed) {
      if (this.templates.some((template) => template.id === id)) continue;
      const template = await templateOf(dataDir, id);
      beside.push(...Object.keys(template.files).map((name) => `templates/${id}/${name}`));
      fresh.push(template);
    }
    const part = await this.parts.store(beside);
    if (this.tables.length > 0) this.databasePart = part;
    this.tables = [];
    this.templates.push(...fresh.map((template) => ({ ...template, part })));
    return part;
  }
}

async function templateOf(dataDir: string, id: string): Promise<Omit<BackedUpTemplate, 'part'>> {
  const found = await portableTemplate(dataDir, id);
  if (found === null) {
    throw new CommandError(
      `The template ${id}, which agents' disks lie over, is not in ${dataDir}: no backup was made. A start of this release takes it from the cache.`,
    );
  }
  const files: Record<string, number> = {};
  for (const { name, path } of found.files) files[name] = (await stat(path)).size;
  return { id, folder: found.folder, files };
}

function withoutRoom(error: unknown, folder: string): unknown {
  const said = `${(error as { readonly stderr?: string }).stderr ?? ''}${(error as NodeJS.ErrnoException).code ?? ''}`;
  if (!/No space left on device|ENOSPC/.test(said)) return error;
  const message = `The data folder has no room for a copy of the disk of agent ${folder}: no backup was made.`;
  return new CommandError(message, { cause: error });
}

function settingsOf(env: NodeJS.ProcessEnv): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const { name } of allSettings) {
    const value = env[name];
    if (value && !notKept.has(name)) kept[name] = value;
  }
  return kept;
}
